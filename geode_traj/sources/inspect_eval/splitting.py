r"""JSON of any size taken apart where it stands: where each member is, not what it says.

A log's sample may hold hundreds of megabytes in one value, so that no parser of whole documents can read it;
and streaming parsers refuse NaN, infinities and bytes that are no UTF-8, all of which logs hold. Here only
strings and brackets are looked at: what stands between them is parsed piece by piece by `codec.reading`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final, NamedTuple

from geode_traj.codec.pointer import below
from geode_traj.codec.reading import MAX_DEPTH, Tolerated, tolerant

WHOLE: Final = 8 << 20
"""Bytes of a record that is parsed whole; of a larger one, the members that are small."""
PIECE: Final = 1 << 20
"""Bytes of a piece of what is too large to be parsed whole."""
SMALL: Final = 1 << 16
MAX_STRING: Final = 32 << 20
"""Bytes of a string that is read at all."""
_BLOCK: Final = 1 << 20
_SPACE: Final = re.compile(rb"[ \t\r\n]*+")
_INSIDE: Final = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_FLAT: Final = rb'[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"'
# What holds no bracket, and containers that hold none, are passed in one step.
_OUTSIDE: Final = re.compile(rb"(?:" + _FLAT + rb"|[\[{](?:" + _FLAT + rb")*+[\]}])*+", re.DOTALL)
_SCALAR: Final = re.compile(rb"[^\s,\[\]{}\":]*+")
_OPEN: Final = b"[{"


class Span(NamedTuple):
    """Where a value stands in a stream: offset and length in bytes."""

    offset: int
    length: int


class Entry(NamedTuple):
    """A member of an object: its key, where that begins, where its value stands."""

    key: str
    offset: int
    value: Span


class Broken(ValueError):
    """The text is no JSON from `offset` on; `torn` where it only ends too early."""

    def __init__(self, offset: int, *, torn: bool) -> None:
        super().__init__("torn" if torn else "malformed")
        self.offset = offset
        self.torn = torn


class _Cursor:
    """A place in a part of a stream, that goes forward only and holds one block of it."""

    def __init__(self, stream: BinaryIO, span: Span) -> None:
        self._stream = stream
        self._base = self._next = span.offset
        self._end = span.offset + span.length
        self._block = b""
        self._at = 0

    @property
    def offset(self) -> int:
        return self._base + self._at

    def peek(self) -> bytes:
        """Return the next byte, b"" at the end."""
        if self._at >= len(self._block):
            self._fill()
        return self._block[self._at : self._at + 1]

    def space(self) -> bytes:
        """Pass white space and return the byte that follows it."""
        while self.peek() and self._pass(_SPACE) == len(self._block):
            pass
        return self.peek()

    def take(self, wanted: bytes) -> None:
        """Pass a byte that must come next."""
        if self.peek() != wanted:
            raise self.broken()
        self._at += 1

    def value(self) -> Span:
        """Pass the value that begins here and return where it stands."""
        start = self.offset
        first = self.peek()
        if first == b'"':
            self._string()
        elif first and first in _OPEN:
            self._container()
        else:
            while self.peek() and self._pass(_SCALAR) == len(self._block):
                pass
            if self.offset == start:
                raise self.broken()
        return Span(start, self.offset - start)

    def broken(self) -> Broken:
        return Broken(self.offset, torn=not self.peek())

    def _container(self) -> None:
        depth = 0
        while True:
            following = self.peek()
            if not following:
                raise self.broken()
            if following == b'"':
                self._string()
            else:
                depth += 1 if following in _OPEN else -1
                self._at += 1
                if not depth:
                    return
            while self.peek() and self._pass(_OUTSIDE) == len(self._block):
                pass

    def _string(self) -> None:
        self._at += 1
        while True:
            if self._pass(_INSIDE) < len(self._block) and self._block[self._at] == 0x22:
                self._at += 1
                return
            if not self._fill():  # a backslash may be the last byte of its block
                raise Broken(self.offset, torn=True)

    def _pass(self, pattern: re.Pattern[bytes]) -> int:
        found = pattern.match(self._block, self._at)
        self._at = found.end() if found else self._at
        return self._at

    def _fill(self) -> bool:
        """Read the next block behind what is left of this one; tell whether there was any."""
        wanted = min(_BLOCK, self._end - self._next)
        self._stream.seek(self._next)
        more = self._stream.read(wanted) if wanted > 0 else b""
        self._base, self._block, self._at = self._base + self._at, self._block[self._at :] + more, 0
        self._next += len(more)
        return bool(more)


def members(stream: BinaryIO, span: Span) -> Iterator[Entry]:
    """Yield the members of the object at `span`; raise `Broken`."""
    cursor = _Cursor(stream, span)
    cursor.space()
    cursor.take(b"{")
    if cursor.space() == b"}":
        return
    while True:
        if cursor.space() != b'"':
            raise cursor.broken()
        key = cursor.value()
        cursor.space()
        cursor.take(b":")
        cursor.space()
        yield Entry(_key(stream, key), key.offset, cursor.value())
        if cursor.space() == b"}":
            return
        cursor.take(b",")


def items(stream: BinaryIO, span: Span) -> Iterator[Span]:
    """Yield where each item of the list at `span` stands; raise `Broken`."""
    cursor = _Cursor(stream, span)
    cursor.space()
    cursor.take(b"[")
    if cursor.space() == b"]":
        return
    while True:
        cursor.space()
        yield cursor.value()
        if cursor.space() == b"]":
            return
        cursor.take(b",")


def value_at(stream: BinaryIO, offset: int, end: int) -> Span:
    """Return where the value stands that begins after `offset` and white space; raise `Broken`."""
    cursor = _Cursor(stream, Span(offset, end - offset))
    cursor.space()
    return cursor.value()


def first_byte(stream: BinaryIO, span: Span) -> bytes:
    """Return the byte that tells what the value at `span` is."""
    return read(stream, Span(span.offset, min(1, span.length)))


def read(stream: BinaryIO, span: Span) -> bytes:
    """Return the bytes of a span."""
    stream.seek(span.offset)
    return stream.read(span.length)


def _key(stream: BinaryIO, span: Span) -> str:
    if span.length > SMALL:
        raise Broken(span.offset, torn=False)
    try:
        return str(tolerant(read(stream, span)).value)
    except ValueError:
        raise Broken(span.offset, torn=False) from None


@dataclass(slots=True)
class Part:
    """A piece of a large value: its pointer, for items of a list the index of the first, what it holds.

    `members` tells that the piece holds some members or items of the container at the pointer, not all of
    the value there. `omitted` is where a string stands that is too long to be read at all.
    """

    pointer: str
    read: Tolerated
    members: bool = False
    first: int | None = None
    omitted: Span | None = None


def parts(stream: BinaryIO, span: Span, pointer: str, depth: int = 0) -> Iterator[Part]:
    """Yield a value in pieces of bounded size, in order; raise `ValueError` or `RecursionError`.

    A value that is no larger than a piece is one; of a larger container as many members as fit come
    together, and each that does not fit is itself taken apart.
    """
    if depth > MAX_DEPTH:
        raise RecursionError
    first = first_byte(stream, span)
    if span.length <= PIECE or first not in _OPEN:
        if span.length > MAX_STRING:
            yield Part(pointer, Tolerated(None), omitted=span)
        else:
            yield Part(pointer, tolerant(read(stream, span)))
        return
    yield from _pieces(stream, span, pointer, depth, is_list=first == b"[")


def _pieces(stream: BinaryIO, span: Span, pointer: str, depth: int, *, is_list: bool) -> Iterator[Part]:
    """Yield the pieces of a container that is larger than one."""
    begun: tuple[int, int] | None = None  # index and offset of the first member of the batch
    end = 0
    for index, (name, start, value) in enumerate(_entries(stream, span, is_list=is_list)):
        large = value.length > PIECE
        if begun is not None and (large or value.offset + value.length - begun[1] > PIECE):
            yield _batch(stream, Span(begun[1], end - begun[1]), pointer, begun[0], is_list=is_list)
            begun = None
        if large:
            yield from parts(stream, value, below(pointer, name), depth + 1)
            continue
        begun = begun or (index, start)
        end = value.offset + value.length
    if begun is not None:
        yield _batch(stream, Span(begun[1], end - begun[1]), pointer, begun[0], is_list=is_list)


def _entries(stream: BinaryIO, span: Span, *, is_list: bool) -> Iterator[tuple[str, int, Span]]:
    """Yield (name, offset of the entry, where its value stands)."""
    if is_list:
        return ((str(index), one.offset, one) for index, one in enumerate(items(stream, span)))
    return ((one.key, one.offset, one.value) for one in members(stream, span))


def _batch(stream: BinaryIO, span: Span, pointer: str, first: int, *, is_list: bool) -> Part:
    opening, closing = (b"[", b"]") if is_list else (b"{", b"}")
    found = tolerant(opening + read(stream, span) + closing)
    return Part(pointer, found, members=True, first=first if is_list else None)
