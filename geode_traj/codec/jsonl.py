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
_PIECE: Final = 1 << 20
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
    most = limit + 5  # a byte order mark and a line end may stand beside `limit` bytes
    number = offset = 0
    left = size
    while raw := stream.readline(most if left is None else min(most, left)):
        number += 1
        skip = 3 if number == 1 and raw.startswith(_BOM) else 0
        consumed = len(raw)
        if raw.endswith(b"\n"):
            data = raw[skip:-2] if raw.endswith(b"\r\n") else raw[skip:-1]
            if consumed <= limit:  # nearly every line: spared a call
                line = Line(number, offset + skip, len(data), data, True)
            else:
                line = _line(number, offset + skip, data, True, limit)
        elif consumed < most:
            line = _line(number, offset + skip, raw[skip:].removesuffix(b"\r"), False, limit)
        else:
            line, more = _long(stream, Line(number, offset + skip, 0, raw[skip:], False), left, consumed)
            consumed += more
        yield line
        offset += consumed
        if left is not None:
            left -= consumed


def _line(number: int, offset: int, data: bytes, ended: bool, limit: int) -> Line:
    if len(data) <= limit:
        return Line(number, offset, len(data), data, ended)
    return Line(number, offset, len(data), None, ended, hashlib.sha256(data).hexdigest())


def _long(stream: BinaryIO, line: Line, left: int | None, consumed: int) -> tuple[Line, int]:
    """Read a line on to its end, keeping nothing but its digest; return it and the bytes read."""
    digest = hashlib.sha256()
    length = more = 0
    ended = False
    piece, held = line.data or b"", b""
    while piece:
        piece = held + piece  # a CR is held back until it is known whether it belongs to a line end
        ended = piece.endswith(b"\n")
        held = b"\r" if piece.endswith(b"\r") else b""
        body = piece[: -2 if piece.endswith(b"\r\n") else -1] if ended or held else piece
        digest.update(body)
        length += len(body)
        if ended:
            break
        piece = stream.readline(_PIECE if left is None else min(_PIECE, left - consumed - more))
        more += len(piece)
    return Line(line.number, line.offset, length, None, ended, digest.hexdigest()), more
