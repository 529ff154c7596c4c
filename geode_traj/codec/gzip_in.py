"""Gzipped files as seekable streams of what is packed in them, in bounded memory.

A writer may append a member for every record. What is cut short or damaged ends the stream where it can no
longer be unpacked, and `Unpacked.problem` says so; what only a bomb unpacks to is refused.
"""

from __future__ import annotations

import io
import zlib
from typing import TYPE_CHECKING, BinaryIO, Final

from geode_traj.codec.files import CHUNK
from geode_traj.codec.zip_in import FREE, MAX_MEMBER, MAX_RATIO
from geode_traj.errors import DataError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAGIC: Final = b"\x1f\x8b\x08"
SUFFIX: Final = ".gz"
_WITH_HEADER: Final = zlib.MAX_WBITS | 16
# What precedes damage in the step that meets it is lost with it. Steps do not depend on how much is asked
# for, so that every reading of a file gives the same.
_STEP: Final = 1 << 16


class Unpacked(io.BufferedReader):
    """What the first `packed` bytes of a gzipped stream unpack to.

    Reading raises `DataError` TE203 past the bounds that hold for a member of an archive. Going back begins
    again at the start.
    """

    raw: _Members

    def __init__(self, stream: BinaryIO, packed: int, place: str) -> None:
        super().__init__(_Members(stream, packed, place), CHUNK)

    def problem(self) -> str:
        """Return why the stream ends early where it is at its end: gzip_cut_short, gzip_damaged, else ""."""
        self.peek(1)  # whoever took all bytes that there are has not met the end yet
        return self.raw.problem


class _Members(io.RawIOBase):
    """The members of a gzipped file, one after the other."""

    def __init__(self, stream: BinaryIO, packed: int, place: str) -> None:
        self._stream = stream
        self._size = packed
        self._place = place
        self._limit = min(MAX_MEMBER, max(FREE, packed * MAX_RATIO))
        self._restart()

    def _restart(self) -> None:
        self._stream.seek(0)
        self._left = self._size
        self._packed = self._ready = b""
        self._inflater = zlib.decompressobj(_WITH_HEADER)
        self._position = self._unpacked = 0
        self._ended = False
        self.problem = ""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_CUR:
            offset += self._position
        elif whence == io.SEEK_END:
            raise io.UnsupportedOperation("the end is known only when it is reached")
        if offset < self._position:
            self._restart()
        while self._position < offset and self._take(offset - self._position):
            pass
        return self._position

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        data = self._take(len(view))
        view[: len(data)] = data
        return len(data)

    def _take(self, size: int) -> bytes:
        """Return at most `size` further bytes, none where the stream ends."""
        while not self._ready and not self._ended:
            self._step()
        data, self._ready = self._ready[:size], self._ready[size:]
        self._position += len(data)
        return data

    def _step(self) -> None:
        if not self._packed:
            self._packed = self._stream.read(min(CHUNK, self._left))
            self._left -= len(self._packed)
        if self._inflater.eof and not self._begin():
            return
        drained = not self._packed
        try:
            self._ready = self._inflater.decompress(self._packed, _STEP)
        except zlib.error:
            self._end("gzip_damaged")
            return
        self._packed = self._inflater.unconsumed_tail or self._inflater.unused_data
        self._unpacked += len(self._ready)
        if self._unpacked > self._limit:
            raise DataError("TE203", limit=self._limit, place=self._place)
        if drained and not self._ready:
            self._end("gzip_cut_short")

    def _begin(self) -> bool:
        """Begin the next member; False where there is none, or only padding so far."""
        ended = not self._packed
        self._packed = self._packed.lstrip(b"\0")
        if self._packed:
            self._inflater = zlib.decompressobj(_WITH_HEADER)
        elif ended:
            self._end("")
        return bool(self._packed)

    def _end(self, problem: str) -> None:
        self._ended, self.problem = True, problem
