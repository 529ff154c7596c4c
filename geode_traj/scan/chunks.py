"""Secrets that a stream has cut: the chunks of one block, in the order of their events, are one text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from geode_traj.scan.engine import Scanner
from geode_traj.scan.matching import Span

MAX_JOINED: Final = 1 << 20
"""Characters that are joined at a time; of a longer block the end of one stretch begins the next."""

_OVERLAP: Final = 1 << 12


def find_across(chunks: Sequence[str], scanner: Scanner) -> list[list[Span]]:
    """Return, for each chunk, its part of every finding that stands in more than one of them.

    What stands in one chunk alone is not among them: whoever scans that chunk finds it. Each part carries the
    whole secret as its value, so that all of them have one number.
    """
    found: list[list[Span]] = [[] for _ in chunks]
    starts = [0, *accumulate(map(len, chunks))]
    whole = "".join(chunks)
    last = -1
    for offset in range(0, max(1, len(whole) - _OVERLAP), MAX_JOINED - _OVERLAP):
        for span in scanner.find(whole[offset : offset + MAX_JOINED]):
            start, end = span.start + offset, span.end + offset
            if start <= last:
                continue  # met already, in the stretch before
            last = start
            parts = [i for i in range(len(chunks)) if starts[i] < end and start < starts[i + 1]]
            for i in parts if len(parts) > 1 else ():
                low, high = max(start, starts[i]) - starts[i], min(end, starts[i + 1]) - starts[i]
                found[i].append(span._replace(start=low, end=high, view="chunks", blob=True))
    return found
