"""Stimm's lines inside the log of any host: what stands behind the marker, escaped or not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.pointer import below
from geode_traj.codec.reading import Tolerated, tolerant

MARKER: Final = b"OBS_JSON "
COMPONENT: Final = "conversation_supervisor"
_COLOUR_ENDS: Final = (b"\x1b[0m", b"\x1b[m")
_BEGINNING: Final = b'{"component":"conversation_supervisor"'
_ENOUGH: Final = 256
_MENDED: Final = re.compile(r"\\x[0-9a-f]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
# A log of JSON objects may itself be wrapped into one (a container's log), hardly ever more.
_WRAPPED: Final = 3
# A host's message stands in the object of its line, or in one inside it; deeper down it is somebody's text.
_HOST_DEPTH: Final = 2


def observed(data: bytes, level: int = 0) -> Tolerated | None:
    """Return the supervisor's object behind the first marker of a line, None where there is none.

    All text after the marker must be that object, but for white space and the end of a colour.
    """
    at = data.find(MARKER)
    if at < 0:
        return None
    rest = data[at + len(MARKER) :].strip()
    for end in _COLOUR_ENDS:
        rest = rest.removesuffix(end).rstrip()
    read = _read(rest)
    if read is None:
        return _hosted(data, at, level) if level < _WRAPPED else None
    return read if isinstance(read.value, dict) and read.value.get("component") == COMPONENT else None


def is_broken(data: bytes, *, torn: bool) -> bool:
    """Tell whether a line that gave nothing was to be one of the supervisor's, and is damaged.

    What stands whole behind the marker and is only followed by more, or whole in a host's text, is somebody's
    quotation. Of a line that is `torn` (the file's last, without its end) little need be there.
    """
    at = data.find(MARKER)
    if at < 0:
        return False
    rest = data[at + len(MARKER) :]
    begun = rest[:_ENOUGH].translate(None, b"\\ \t")
    if not begun.startswith(_BEGINNING) and not (torn and _BEGINNING.startswith(begun)):
        return False
    start = data.find(b"{", 0, at)
    if start >= 0 and _read(data[start:].strip()) is not None:
        return False
    try:
        json.JSONDecoder().raw_decode(rest.decode("utf-8", "replace").lstrip())
    except (ValueError, RecursionError):
        return True
    return False


def _read(data: bytes) -> Tolerated | None:
    if data[:1] != b"{":
        return None
    try:
        return tolerant(data)
    except (ValueError, RecursionError):
        return None


def _hosted(data: bytes, at: int, level: int) -> Tolerated | None:
    """Return the object that stands escaped in a text of the host's own JSON object."""
    start = data.find(b"{", 0, at)
    host = _read(data[start:].strip()) if start >= 0 else None
    if host is None:
        return None
    for text in _texts(host.value, _HOST_DEPTH):
        found = observed(text.encode(), level + 1)
        if found is not None:
            return _with_mends(found) if host.escaped else found
    return None


def _texts(value: Any, depth: int) -> Iterator[str]:
    """Yield the host's one-line texts that hold the marker."""
    if isinstance(value, str):
        text = value.strip()
        if "\n" not in text and MARKER.decode() in text:
            yield text
    elif isinstance(value, dict) and depth:
        for item in value.values():
            yield from _texts(item, depth - 1)


def _with_mends(read: Tolerated) -> Tolerated:
    """Return the object with the places of strings that were mended while they were still escaped."""
    escaped = [
        below("", key) for key, item in read.value.items() if isinstance(item, str) and _MENDED.search(item)
    ]
    return read._replace(escaped=[*read.escaped, *escaped])
