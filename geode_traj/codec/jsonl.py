r"""Lines of a file with number, offset and bytes, in bounded memory.

Lines end at `\n` (a `\r` before it belongs to the line end); no other character splits. A line over the
limit is reported by its extent and digest only, so that one endless line cannot exhaust memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

MAX_LINE: Final = 64 << 20
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
    number = offset = 0
    remaining = size
    while True:
        raw = stream.readline(limit + 3 if remaining is None else min(limit + 3, remaining))
        if not raw:
            return
        number += 1
        line, consumed = _line(stream, raw, number, offset, limit, remaining)
        yield line
        offset += consumed
        if remaining is not None:
            remaining -= consumed
            if remaining <= 0:
                return


def _line(
    stream: BinaryIO, raw: bytes, number: int, offset: int, limit: int, remaining: int | None
) -> tuple[Line, int]:
    consumed = len(raw)
    ended = raw.endswith(b"\n")
    if ended or consumed < limit + 3:
        if ended:
            raw = raw[:-2] if raw.endswith(b"\r\n") else raw[:-1]
        if number == 1 and raw.startswith(_BOM):
            raw, offset = raw[3:], offset + 3
        return Line(number, offset, len(raw), raw, ended), consumed
    digest = hashlib.sha256(raw)
    while not ended and (remaining is None or consumed < remaining):
        more = stream.readline(1 << 20 if remaining is None else min(1 << 20, remaining - consumed))
        if not more:
            break
        ended = more.endswith(b"\n")
        consumed += len(more)
        digest.update(more[:-1] if ended else more)
    return Line(number, offset, consumed - ended, None, ended, digest.hexdigest()), consumed
