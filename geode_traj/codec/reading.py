"""JSON that other people wrote, read with exact integers and without surprises.

`loads` is strict: for files that claim to be ours. `tolerant` reads what a transcript line may hold (bad
bytes, lone surrogates, NaN, repeated keys), keeps everything and says what it met (record contract §1).
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, Final

import jiter

from geode_traj.errors import DataError

MAX_DEPTH: Final = 200
_LONE_ESCAPE: Final = re.compile(r"[\ud800-\udfff]")


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
    stack = [value]
    while stack:
        item = stack.pop()
        kind = type(item)  # exact types only, several times as fast as isinstance; this runs per line
        if kind is dict:
            stack.extend(item.values())
        elif kind is list:
            stack.extend(item)
        elif kind is float and not math.isfinite(item):
            return True
    return False


@dataclass(slots=True)
class Tolerated:
    """What a tolerant read met: JSON pointers, and for repeated keys the earlier values."""

    value: Any
    escaped: list[str] = field(default_factory=list)
    nonfinite: list[str] = field(default_factory=list)
    duplicates: dict[str, list[Any]] = field(default_factory=dict)


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
        return _Mender(data).read()
    if _nonfinite(value):
        return _Mender(data).read()
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


class _Mender:
    """The slow, forgiving reader: the standard library parses, one walk mends and notes."""

    def __init__(self, data: bytes) -> None:
        text = data.decode("utf-8", "surrogateescape")
        # Bad bytes travel as marked code points that the text itself does not use, so that the walk can
        # tell them from lone surrogates, which the source wrote as escapes.
        self._mark = next(c for c in map(chr, range(0xF0000, 0xFFFFE)) if c not in text)
        self._bad = re.compile(re.escape(self._mark) + "(..)", re.DOTALL)
        if _LONE_ESCAPE.search(text):
            text = re.sub("[\udc80-\udcff]", lambda m: f"{self._mark}{ord(m[0]) - 0xDC00:02x}", text)
        self._text = text
        self._out = Tolerated(None)

    def read(self) -> Tolerated:
        value = json.loads(self._text, object_pairs_hook=_Pairs)
        self._out.value = self._mend(value, "", 0)
        return self._out

    def _string(self, text: str, pointer: str) -> str:
        mended = self._bad.sub(r"\\x\1", text) if self._mark in text else text
        mended = _LONE_ESCAPE.sub(lambda m: f"\\u{ord(m[0]):04x}", mended)
        if mended != text:
            self._out.escaped.append(pointer)
        return mended

    def _mend(self, value: Any, pointer: str, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise RecursionError
        if isinstance(value, str):
            return self._string(value, pointer)
        if isinstance(value, float) and not math.isfinite(value):
            self._out.nonfinite.append(pointer)
            return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
        if isinstance(value, list):
            return [self._mend(item, f"{pointer}/{i}", depth + 1) for i, item in enumerate(value)]
        if isinstance(value, _Pairs):
            mended: dict[str, Any] = {}
            for key, item in value.items():
                place = pointer_join(pointer, key)
                mended[self._string(key, place)] = self._mend(item, place, depth + 1)
            for key, item in value.earlier:
                place = pointer_join(pointer, key)
                self._out.duplicates.setdefault(self._string(place, place), []).append(
                    self._mend(item, place, depth + 1)
                )
            return mended
        return value


def pointer_join(pointer: str, key: str) -> str:
    """Return the JSON pointer of `key` below `pointer` (RFC 6901)."""
    return f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
