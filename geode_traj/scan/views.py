"""Decoded views of a text, and the way back from a place in a view to the characters it was decoded from.

A view is the text with its encoded parts replaced by what they say. `Trail` remembers the replacements, so
that a finding names characters of the text: exactly where one encoded character gives one decoded character
(JSON escapes, percent signs), the whole encoded blob where it does not (base64).
"""

from __future__ import annotations

import base64
import binascii
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

_JSON = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|(["\\/bfnrt]))')
_SHORT: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_PERCENT = re.compile(r"%[2-7][0-9A-Fa-f]|(?:%[89A-Fa-f][0-9A-Fa-f])+|%0[0-9A-Fa-f]|%1[0-9A-Fa-f]")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_BREAK = re.compile(r"(?<=[A-Za-z0-9_./+=-])\r?\n[ \t]*+(?=[A-Za-z0-9_./+=-])")
_HEAD: Final = 16


class Trail:
    """Where each replaced part of a view came from; everything between two parts is unchanged text.

    `start` and `end` take offsets of the view and give offsets of the text it was made from.
    """

    __slots__ = ("_at", "_from", "_to", "_until")

    def __init__(self) -> None:
        self._at, self._until = array("q"), array("q")
        self._from, self._to = array("q"), array("q")

    def add(self, at: int, length: int, start: int, end: int) -> None:
        """Note that `length` characters of the view, from `at`, stand for `start`..`end` of the text."""
        self._at.append(at)
        self._until.append(at + length)
        self._from.append(start)
        self._to.append(end)

    def __len__(self) -> int:
        return len(self._at)

    def start(self, offset: int) -> int:
        """Return where the character at `offset` begins in the text."""
        part = bisect_right(self._at, offset) - 1
        if part < 0:
            return offset
        if offset < self._until[part]:
            return self._from[part]
        return self._to[part] + offset - self._until[part]

    def end(self, offset: int) -> int:
        """Return where the character before `offset` ends in the text."""
        part = bisect_right(self._at, offset - 1) - 1
        if part < 0:
            return offset
        if offset - 1 < self._until[part]:
            return self._to[part]
        return self._to[part] + offset - self._until[part]

    def inside(self, start: int, end: int) -> Iterator[int]:
        """Yield the offsets of the view, within `start`..`end`, at which a part was replaced."""
        for part in range(bisect_right(self._at, start), len(self._at)):
            if self._at[part] >= end:
                return
            yield self._at[part]


class View(NamedTuple):
    """A decoded text, its name, the trails back (last applied first), and whether parts are opaque blobs."""

    name: str
    text: str
    trails: tuple[Trail, ...]
    blobs: bool = False

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original text that `start`..`end` of this view stands for."""
        for trail in self.trails:
            start, end = trail.start(start), trail.end(end)
        return start, end

    def torn(self, start: int, end: int) -> bool:
        """Tell whether a span of a joined view crosses a line break and goes on behind it like a token."""
        breaks = list(self.trails[0].inside(start, end))
        rest = self.text[breaks[-1] : end] if breaks else ""
        return any(c.isdigit() for c in rest) and any(c.isalpha() for c in rest)


def _replace(
    text: str, pattern: re.Pattern[str], decode: Callable[[re.Match[str]], str | None]
) -> tuple[str, Trail]:
    """Return `text` with every match decoded (those that decode to None stay), and the trail back."""
    out: list[str] = []
    trail = Trail()
    position = length = 0
    for match in pattern.finditer(text):
        new = decode(match)
        if new is None:
            continue
        start, end = match.span()
        out += (text[position:start], new)
        length += start - position
        trail.add(length, len(new), start, end)
        length += len(new)
        position = end
    out.append(text[position:])
    return "".join(out), trail


def _json_character(match: re.Match[str]) -> str:
    code = match.group(1)
    return chr(int(code, 16)) if code else _SHORT[match.group(2)]


def _percent_run(match: re.Match[str]) -> str:
    return unquote_to_bytes(match.group()).decode("utf-8", "replace")


def _readable(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    strange = sum(1 for c in text if c not in "\t\r\n" and not c.isprintable())
    return text if strange * 20 <= len(text) else None


def _base64_text(match: re.Match[str]) -> str | None:
    blob = match.group().rstrip("=").replace("-", "+").replace("_", "/")
    try:
        head = base64.b64decode(blob[:_HEAD])
        if sum(1 for byte in head if byte >= 32 or byte in b"\t\r\n") < len(head):
            return None
        return _readable(base64.b64decode(blob[: len(blob) - (len(blob) % 4 == 1)] + "=" * (-len(blob) % 4)))
    except (binascii.Error, ValueError):
        return None


def _join(match: re.Match[str]) -> str:
    del match
    return ""


def json_views(text: str, levels: int = 2) -> Iterator[View]:
    """Yield `text` with JSON escapes undone, once and, where that shows more of them, again."""
    trails: tuple[Trail, ...] = ()
    for level in range(1, levels + 1):
        if "\\" not in text:
            return
        text, trail = _replace(text, _JSON, _json_character)
        if not len(trail):
            return
        trails = (trail, *trails)
        yield View("json" if level == 1 else f"json*{level}", text, trails)


def percent_view(text: str) -> Iterator[View]:
    """Yield `text` with percent-encoding undone."""
    if "%" in text:
        decoded, trail = _replace(text, _PERCENT, _percent_run)
        if len(trail):
            yield View("percent", decoded, (trail,))


def base64_view(text: str) -> Iterator[View]:
    """Yield `text` with every base64 or base64url run replaced that decodes to readable text."""
    decoded, trail = _replace(text, _BASE64, _base64_text)
    if len(trail):
        yield View("base64", decoded, (trail,), blobs=True)


def joined_view(text: str) -> Iterator[View]:
    """Yield `text` with line breaks inside runs of token characters taken out."""
    if "\n" in text:
        joined, trail = _replace(text, _BREAK, _join)
        if len(trail):
            yield View("joined", joined, (trail,))


def views(text: str, *, deep: bool) -> Iterator[View]:
    """Yield the views of `text`: JSON escapes always; when `deep`, percent, base64 and joined lines too."""
    yield from json_views(text)
    if deep:
        yield from percent_view(text)
        yield from base64_view(text)
        yield from joined_view(text)
