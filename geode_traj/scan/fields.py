"""Sensitive fields: names whose value is redacted whatever it is, as keys and inside text that quotes JSON.

Tool arguments often travel as JSON inside a JSON string, and a damaged line is JSON that nobody can parse.
There the name and its value stand in one text, quoted, at some level of escaping; `FieldFinder.find` finds
them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from geode_traj.contract.kinds import SENSITIVE_KEYS
from geode_traj.scan import plausible

SENSITIVE: Final = SENSITIVE_KEYS
"""The seven names of the record contract §4: whole name, any case."""

MARKER: Final = "<REDACTED>"
"""What stands for the value of a sensitive field."""

_KEPT: Final = (MARKER, "[REDACTED]")
_FIELD = re.compile(
    r"""(?<!\\)(\\*+)(["'])([^"'\\]{1,256})(\\*+)(["'])(?:[ \t\r\n]|\\++[nrt])*+:(?:[ \t\r\n]|\\++[nrt])*+"""
)
_OPEN = re.compile(r"""(\\*+)(["'])""")
_LEVELS: Final = (0, 1, 3, 7, 15)
"""How many backslashes stand before a quote of JSON that stands in that many strings, each in the next."""

_SCALAR = re.compile(r"[^\s,}\]\"'\\]+")
_QUOTE_OR_BRACKET = re.compile(r"[\"'{}\[\]]")


class Field(NamedTuple):
    """A value's span in a text; `quote` is what must enclose the marker where the value was no string."""

    start: int
    end: int
    quote: str


def is_sensitive(name: str, names: frozenset[str]) -> bool:
    """Tell whether `name`, as a key, is one of the lower-case `names`."""
    return name.lower() in names


def already(value: object) -> bool:
    """Tell whether a sensitive key's value is redacted already."""
    return isinstance(value, str) and value in _KEPT


def trigger(names: frozenset[str]) -> bytes:
    """Return the filter pattern for any of `names` as a key, in any JSON, at any level of escaping."""
    joined = b"|".join(_any_case(name) for name in sorted(names))
    return rb"""["'](?:""" + joined + rb""")\\*["'](?:[ \t\r\n]|\\+[nrt])*:"""


def _any_case(name: str) -> bytes:
    """Return a pattern for every text whose lower-case form is `name`, as JSON writes it."""
    out = bytearray()
    for char in json.dumps(name, ensure_ascii=False)[1:-1]:
        if not char.isascii():
            out += rb"[\x80-\xff]*"
        elif char == "k":
            out += rb"(?:[kK]|\xe2\x84\xaa)"  # the Kelvin sign's lower case is k
        elif char == "i":
            out += rb"(?:[iI]|\xc4\xb0)"  # I with a dot gives i and a combining dot
        elif char.isalpha():
            out += f"[{char.lower()}{char.upper()}]".encode()
        else:
            out += re.escape(char).encode()
    return bytes(out)


class FieldFinder:
    """Finds sensitive fields inside text."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def find(self, text: str, *, every: bool) -> Iterator[Field]:
        """Yield the values of sensitive fields in `text`, left to right, without overlap.

        Without `every`, only string values that do not look like placeholders: text may be source code. With
        it (a damaged line), any value, to its end or the text's. NULs stand for placeholders.
        """
        position = 0
        while (match := _FIELD.search(text, position)) is not None:
            position = match.start(5) + 1
            opening, quote, name, closing, quote_too = match.groups()
            if opening != closing or quote != quote_too or not is_sensitive(name, self._names):
                # The second quote may open the next name.
                position = match.start(4)
                continue
            field = self._value(text, match.end(), opening + quote, every)
            if field is not None:
                yield field
                position = max(position, field.end)

    def _value(self, text: str, start: int, quote: str, every: bool) -> Field | None:
        opened = _OPEN.match(text, start)
        if opened is not None:
            if len(opened.group(1)) not in _LEVELS:
                return None
            end = _string_end(text, opened.end(), opened.group(1), opened.group(2))
            value = text[opened.end() : end]
            if value in _KEPT or set(value) == {"\0"} or not (every or plausible.field(value)):
                return None
            return Field(opened.end(), end, "")
        if not every:
            return None
        if text[start : start + 1] in ("{", "["):
            return Field(start, _container_end(text, start), quote)
        scalar = _SCALAR.match(text, start)
        return Field(start, scalar.end(), quote) if scalar else None


def _string_end(text: str, start: int, escape: str, quote: str) -> int:
    """Return where the string ends whose quotes are written `escape` + `quote`, or the text's end."""
    level = len(escape)
    position = start
    while (found := text.find(quote, position)) >= 0:
        slashes = found
        while slashes > start and text[slashes - 1] == "\\":
            slashes -= 1
        if (found - slashes) % (2 * level + 2) == level:
            return found - level
        position = found + 1
    return len(text)


def _container_end(text: str, start: int) -> int:
    """Return where the object or array that opens at `start` closes; the text's end if it never does."""
    depth = 0
    position = start
    while (match := _QUOTE_OR_BRACKET.search(text, position)) is not None:
        position = match.end()
        char = match.group()
        if char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return position
        else:
            slashes = match.start()
            while slashes > start and text[slashes - 1] == "\\":
                slashes -= 1
            escape = text[slashes : match.start()]
            position = min(len(text), _string_end(text, position, escape, char) + len(escape) + 1)
    return len(text)
