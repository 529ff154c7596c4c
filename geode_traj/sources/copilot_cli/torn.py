"""A line that holds a torn event and, without a line end between them, a whole one.

A resumed session may go on writing right behind an event that was cut off.
"""

from __future__ import annotations

import re
from typing import Final

import jiter

from geode_traj.codec.reading import Tolerated, tolerant
from geode_traj.sources.copilot_cli.known import is_row

_BEGIN: Final = re.compile(
    rb'\{"(?:type":"[a-z][a-z_.]{1,64}","(?:data|id)"|id":"[^"]{1,64}","(?:type|timestamp|parentId|data)"):'
)
_TRIES: Final = 8


def whole_in(data: bytes) -> tuple[int, Tolerated] | None:
    """Return where in a damaged line a whole event begins that reaches to its end, and the event."""
    for tries, begin in enumerate(_BEGIN.finditer(data, 1)):
        if tries == _TRIES:  # what a torn event holds may look like beginnings, too
            return None
        rest = data[begin.start() :]
        try:
            jiter.from_json(rest, catch_duplicate_keys=False)  # tells soon where it is not whole
            read = tolerant(rest)
        except (ValueError, RecursionError):
            continue
        if is_row(read.value):
            return begin.start(), read
    return None
