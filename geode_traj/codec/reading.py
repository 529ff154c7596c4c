"""JSON that other people wrote, read with exact integers and without surprises.

`loads` is strict: for files that claim to be ours. `tolerant` reads what a transcript line may hold (bad
bytes, lone surrogates, NaN, repeated keys), keeps everything and says what it met (record contract §1).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import jiter

from geode_traj.codec import pointer
from geode_traj.codec.pointer import Trail
from geode_traj.errors import DataError

MAX_DEPTH: Final = 200
# What a string may hold that UTF-8 cannot: bytes that were none (here surrogates), and lone surrogates that
# the source wrote as escapes. Both are rewritten inside the written string, before it is parsed; then no
# string holds a surrogate any more, and one put at its front can say that it was rewritten.
_FLAG: Final = "\ud800"
_ODD: Final = re.compile(r"[\udc80-\udcff]|\\u[dD][89a-fA-F]")
_STRING: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_LONE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_PART: Final = re.compile(
    r"[\udc80-\udcff]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\(?:u[0-9a-fA-F]{4}|.)",
    re.DOTALL,
)


def loads(data: bytes, *, place: str = "") -> Any:
    """Read strict JSON: repeated keys, NaN, infinities, lone surrogates, bad UTF-8, deep nesting are refused.

    Raises `DataError` TE202 (not JSON), TE204 (too deep), TE209 (not UTF-8).
    """
    try:
        value = jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        raise _explain(data, str(error), place) from None
    if _nonfinite(value):
        raise DataError("TE202", place=place, why="a number is too large for a float")
    return value


def _explain(data: bytes, message: str, place: str) -> DataError:
    if "recursion limit" in message:
        return DataError("TE204", place=place, limit=MAX_DEPTH)
    try:
        data.decode()
    except UnicodeDecodeError:
        return DataError("TE209", place=place)
    if message.startswith("Detected duplicate key"):  # the key itself is payload text: leave it out
        message = "a key is repeated" + message[message.rindex(" at line") :]
    return DataError("TE202", place=place, why=message)


def _nonfinite(value: Any) -> bool:
    """Tell whether a number was too large for a float (1e999 reads as infinity)."""
    containers: list[Any] = [[value]]
    for container in containers:  # it grows while it is walked
        for item in container.values() if type(container) is dict else container:
            kind = type(item)  # exact types only, several times as fast as isinstance; this runs per line
            if kind is str:
                continue
            if kind is dict or kind is list:
                containers.append(item)
            elif kind is float and not math.isfinite(item):
                return True
    return False


_NONE: Final[Mapping[str, list[Any]]] = MappingProxyType({})


class Tolerated(NamedTuple):
    """What a tolerant read met: JSON pointers, and for repeated keys the earlier values."""

    value: Any
    escaped: Sequence[str] = ()
    nonfinite: Sequence[str] = ()
    duplicates: Mapping[str, list[Any]] = _NONE


def tolerant(data: bytes) -> Tolerated:
    r"""Read one JSON value from a transcript; raise `ValueError` or `RecursionError` when it is none.

    Bad UTF-8 bytes become `\xNN`, lone surrogates their escape, NaN and infinities the strings nan, inf and
    -inf; of a repeated key the last value counts and the earlier ones are returned beside it.
    """
    try:
        value = jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        if "recursion limit" in str(error):
            raise RecursionError from None
        return _mended(data)
    if _nonfinite(value):
        return _mended(data)
    return Tolerated(value)


class _Pairs(dict[str, Any]):
    """An object whose repeated keys are remembered until the walk knows its pointer."""

    __slots__ = ("earlier",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.earlier: list[tuple[str, Any]] = []
        if len(self) < len(pairs):
            last = {key: index for index, (key, _) in enumerate(pairs)}
            self.earlier = [pair for index, pair in enumerate(pairs) if last[pair[0]] != index]


@dataclass(slots=True)
class _Notes:
    """What the walk met so far."""

    escaped: list[str] = field(default_factory=list)
    nonfinite: list[str] = field(default_factory=list)
    duplicates: dict[str, list[Any]] = field(default_factory=dict)


def _mended(data: bytes) -> Tolerated:
    """Read the slow, forgiving way: the standard library parses, one walk mends and notes."""
    text = data.decode("utf-8", "surrogateescape")
    if _ODD.search(text):
        text = _STRING.sub(_flagged, text)
    notes = _Notes()
    value = _walk(json.loads(text, object_pairs_hook=_Pairs), None, 0, notes)
    return Tolerated(value, notes.escaped, notes.nonfinite, notes.duplicates)


def _flagged(found: re.Match[str]) -> str:
    mended = _PART.sub(_storable, found[0])
    return found[0] if mended == found[0] else f'"\\u{ord(_FLAG):04x}{mended[1:]}'


def _storable(found: re.Match[str]) -> str:
    part = found[0]
    if part[0] != "\\":
        return f"\\\\x{ord(part) - 0xDC00:02x}"
    return "\\" + part.lower() if _LONE_ESCAPE.fullmatch(part) else part


def _unflagged(text: str, trail: Trail, notes: _Notes) -> str:
    if not text.startswith(_FLAG):
        return text
    notes.escaped.append(pointer.of(trail))
    return text[1:]


def _walk(value: Any, trail: Trail, depth: int, notes: _Notes) -> Any:
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(value, str):
        return _unflagged(value, trail, notes)
    if isinstance(value, float) and not math.isfinite(value):
        notes.nonfinite.append(pointer.of(trail))
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, list):
        return [_walk(item, (trail, i), depth + 1, notes) for i, item in enumerate(value)]
    if isinstance(value, _Pairs):
        return _walk_object(value, trail, depth, notes)
    return value


def _walk_object(value: _Pairs, trail: Trail, depth: int, notes: _Notes) -> dict[str, Any]:
    mended: dict[str, Any] = {}
    for key, item in value.items():
        place = (trail, key.removeprefix(_FLAG))
        name = _unflagged(key, place, notes)
        if name in mended:  # two keys that only mending made equal
            notes.duplicates.setdefault(pointer.of(place), []).append(mended[name])
        mended[name] = _walk(item, place, depth + 1, notes)
    for key, item in value.earlier:
        place = (trail, key.removeprefix(_FLAG))
        notes.duplicates.setdefault(pointer.of(place), []).append(_walk(item, place, depth + 1, notes))
    return mended
