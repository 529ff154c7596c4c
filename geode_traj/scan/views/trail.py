"""A view, and the way back from a place in it.

A view is the text with its encoded parts replaced by what they say. `Trail` remembers the replacements, so
that a finding names characters of the text: exactly where so many encoded characters give one decoded
character (JSON escapes, percent signs), the whole encoded blob where they do not (base64).
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import Final, Literal, NamedTuple

Part = tuple[str, int]
"""What a match decodes to, and how many of its characters give one of those; 0 where only the whole does."""

Decode = Callable[[re.Match[str]], Part | None]
Way = Literal["plain", "blob", "joined", "concatenated"]
"""How a view was made: the rules that may be believed in it depend on that."""


class Trail:
    """Where each replaced part of a view came from; everything between two parts is unchanged text.

    `start` and `end` take offsets of the view and give offsets of the text it was made from.
    """

    __slots__ = ("_at", "_from", "_step", "_to", "_until")

    def __init__(self) -> None:
        self._at, self._until = array("q"), array("q")
        self._from, self._to = array("q"), array("q")
        self._step = array("q")

    def add(self, at: int, length: int, start: int, end: int, step: int = 0) -> None:
        """Note that `length` characters of the view, from `at`, stand for `start`..`end` of the text.

        `step`: each of them for so many characters, in order.
        """
        self._at.append(at)
        self._until.append(at + length)
        self._from.append(start)
        self._to.append(end)
        self._step.append(step)

    def __len__(self) -> int:
        return len(self._at)

    def start(self, offset: int) -> int:
        """Return where the character at `offset` begins in the text."""
        part = bisect_right(self._at, offset) - 1
        if part < 0:
            return offset
        if offset < self._until[part]:
            return self._from[part] + self._step[part] * (offset - self._at[part])
        return self._to[part] + offset - self._until[part]

    def end(self, offset: int) -> int:
        """Return where the character before `offset` ends in the text."""
        part = bisect_right(self._at, offset - 1) - 1
        if part < 0:
            return offset
        if offset - 1 < self._until[part]:
            step = self._step[part]
            return self._from[part] + step * (offset - self._at[part]) if step else self._to[part]
        return self._to[part] + offset - self._until[part]

    def last_inside(self, start: int, end: int) -> int | None:
        """Return the last offset of the view, behind `start` and before `end`, where a part was replaced."""
        part = bisect_left(self._at, end) - 1
        return self._at[part] if part >= 0 and self._at[part] > start else None


_NOWHERE: Final = Trail()
"""The trail of what was left as it is; nobody adds to it."""


class View(NamedTuple):
    """A decoded text, its name, the trails back (last applied first), whether parts of it are whole blobs.

    `data` is the text's UTF-8, surrogates passed.
    """

    name: str
    text: str
    data: bytes
    trails: tuple[Trail, ...]
    blobs: bool = False
    way: Way = "plain"

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original text that `start`..`end` of this view stands for."""
        for trail in self.trails:
            start, end = trail.start(start), trail.end(end)
        return start, end

    def torn(self, start: int, end: int) -> bool:
        """Tell whether a span crosses what the last step took out; over lines, it must go on like a token."""
        cut = self.trails[0].last_inside(start, end)
        if cut is None:
            return False
        rest = self.text[cut:end]
        return self.way != "joined" or (any(map(str.isdigit, rest)) and any(map(str.isalpha, rest)))


def replaced(text: str, pattern: re.Pattern[str], decode: Decode) -> tuple[str, Trail]:
    """Return `text` with every match decoded (those that decode to None stay), and the trail back."""
    return spliced(text, ((*match.span(), decode(match)) for match in pattern.finditer(text)))


def spliced(text: str, parts: Iterable[tuple[int, int, Part | None]]) -> tuple[str, Trail]:
    """Return `text` with its parts (ascending, apart) replaced, those that are None kept, and the trail."""
    changed = [(start, end, part) for start, end, part in parts if part is not None]
    if not changed:  # as most often
        return text, _NOWHERE
    out: list[str] = []
    trail = Trail()
    position = length = 0
    for start, end, (new, step) in changed:
        out += (text[position:start], new)
        length += start - position
        trail.add(length, len(new), start, end, step)
        length += len(new)
        position = end
    out.append(text[position:])
    return "".join(out), trail
