"""Where a payload came from: the `_legacy` member that keeps what no other word of a payload does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from geode_traj.codec.pointer import below, split
from geode_traj.codec.reading import Tolerated
from geode_traj.contract.kinds import OUR_MARKERS, OVERLAID
from geode_traj.sources.base import Input


def legacy(given: Input, event: str, line: int, fields: dict[str, Any], read: Tolerated) -> dict[str, Any]:
    """Return `_legacy`: the native kind, the record's place, its unplaced fields, its repeated keys."""
    out: dict[str, Any] = {
        "event": event,
        "line_number": line,
        "source_digest": given.sha256,
        "source_path": given.name,
    }
    if fields:
        out["fields"] = fields
    if read.duplicates:
        out["duplicates"] = dict(read.duplicates)
    return out


def whole(row: dict[str, Any], **columns: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a row as payload, and its keys that only an export or an import may write, for `_legacy.fields`.

    `columns` are the event's own, so that a key that says the same as its column may stay where it is.
    """
    taken = {
        key for key in row if key in OUR_MARKERS or (key in OVERLAID and row[key] != columns.get(key, ""))
    }
    return (
        {key: value for key, value in row.items() if key not in taken},
        {key: value for key, value in row.items() if key in taken},
    )


def marks(payload: dict[str, Any], read: Tolerated) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the payload's pointers of mended strings and of numbers that are none.

    Values move on their way into a payload, so they are found again by what they are: a mended string stands
    where it is, or is part of, a payload's string (its key counts too); a number where its name stands.
    """
    if not read.escaped and not read.nonfinite:
        return (), ()
    mended = {text for pointer in read.escaped for text in _at(read.value, pointer) if text}
    numbers = {text for pointer in read.nonfinite for text in _at(read.value, pointer)}
    escaped, nonfinite = [], []
    for pointer, key, text in _strings(payload, ""):
        if any(one == key or one in text for one in mended):
            escaped.append(pointer)
        if text in numbers:
            nonfinite.append(pointer)
    return tuple(escaped), tuple(nonfinite)


def _at(value: Any, pointer: str) -> Iterator[str]:
    """Yield the string at a pointer, and the key that leads to it."""
    key = ""
    for step in split(pointer):
        key = step
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
            key = ""
        else:
            return
    if isinstance(value, str):
        yield value
    if "\\" in key:
        yield key


def _strings(value: Any, pointer: str, key: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield (pointer, key, text) of every string, and (pointer, key, "") of every other member."""
    if isinstance(value, str):
        yield pointer, key, value
        return
    if key:
        yield pointer, key, ""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _strings(item, below(pointer, name), name)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, f"{pointer}/{index}")
