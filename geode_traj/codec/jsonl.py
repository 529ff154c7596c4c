r"""Lines of a file with number, offset and bytes, in bounded memory.

Lines end at `\n` (a `\r` before it, or at the very end of the file, where the `\n` may not have been written
yet, belongs to the line end); no other character splits. A line over the
limit is reported by its extent and digest only, so that one endless line cannot exhaust memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

MAX_LINE: Final = 64 << 20
_BLOCK: Final = 1 << 18
_BOM: Final = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """One physical line: 1-based number, byte offset and length (without line end), its bytes.

    `data` is None for a line over the limit, whose digest is then in `sha256`; `ended` tells a line end was
    there. A byte order mark before the first line is not part of it.
    """

    number: int
    offset: int
    length: int
    data: bytes | None
    ended: bool
    sha256: str = ""


def lines(stream: BinaryIO, *, limit: int = MAX_LINE, size: int | None = None) -> Iterator[Line]:
    """Yield the lines of `stream`, of its first `size` bytes if given (a file may grow while it is read)."""
    number, offset = 1, 0
    begun: _Begun | None = None
    for block in _blocks(stream, size):
        *parts, rest = block.split(b"\n")
        for part in parts:
            taken = len(part)
            if begun is None and number > 1 and taken <= limit:  # as almost every line is
                data = part.removesuffix(b"\r")
                yield Line(number, offset, len(data), data, True)
            else:
                begun = begun or _Begun(number, offset, limit)
                begun.add(part)
                yield begun.line(ended=True)
                taken, begun = begun.taken, None
            number += 1
            offset += taken + 1
        if rest:
            begun = begun or _Begun(number, offset, limit)
            begun.add(rest)
    if begun is not None:
        yield begun.line(ended=False)


def _blocks(stream: BinaryIO, size: int | None) -> Iterator[bytes]:
    while block := stream.read(_BLOCK if size is None else min(_BLOCK, size)):
        yield block
        if size is not None:
            size -= len(block)


class _Begun:
    """A line that may come in parts: its bytes, and of what is past the limit only the digest."""

    def __init__(self, number: int, offset: int, limit: int) -> None:
        self.taken = 0
        self._number, self._offset, self._limit = number, offset, limit
        self._data = bytearray()
        self._digested = 0
        self._digest = hashlib.sha256()

    def add(self, part: bytes) -> None:
        self.taken += len(part)
        self._data += part
        if len(self._data) > self._limit + len(_BOM) + 1:
            self._drop_mark()
            body = self._data[:-1]  # a CR is held back until it is known whether it ends the line
            self._digest.update(body)
            self._digested += len(body)
            del self._data[:-1]

    def line(self, *, ended: bool) -> Line:
        self._drop_mark()
        data = bytes(self._data).removesuffix(b"\r")
        length = self._digested + len(data)
        if length <= self._limit:
            return Line(self._number, self._offset, length, data, ended)
        self._digest.update(data)
        return Line(self._number, self._offset, length, None, ended, self._digest.hexdigest())

    def _drop_mark(self) -> None:
        if self._number == 1 and not self._digested and self._data.startswith(_BOM):
            del self._data[: len(_BOM)]
            self._offset += len(_BOM)
