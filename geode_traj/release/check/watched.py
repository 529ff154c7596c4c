"""A file read once: the bytes that are parsed are the bytes that are hashed and looked at for gate hits."""

from __future__ import annotations

import hashlib
import io
import os
from typing import Final

from geode_traj.contract.gates import GateCounter
from geode_traj.errors import DataError
from geode_traj.release.check import limits

_CHUNK: Final = 1 << 20


class Watched(io.RawIOBase):
    """A raw stream over an open descriptor, which stays the caller's.

    Whoever goes elsewhere only peeks: what is read there is not hashed or counted, and the stream has to go
    back to its start. Going there forgets what was seen: `digest`, `size` and `hits` speak of the bytes since
    then.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._begin()

    def _begin(self) -> None:
        self._hash = hashlib.sha256()
        self._gates: GateCounter | None = GateCounter()
        self._line = 0
        self._aside: int | None = None
        self.size = 0

    def readable(self) -> bool:
        """Tell that bytes can be read."""
        return True

    def seekable(self) -> bool:
        """Tell that the stream can go back to its start."""
        return True

    def tell(self) -> int:
        """Return the offset of the next byte."""
        return self.size if self._aside is None else self._aside

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go back to the start, stay, or go elsewhere to peek; `io.UnsupportedOperation` from the end."""
        if whence == os.SEEK_END:
            raise io.UnsupportedOperation("seek")
        target = offset if whence == os.SEEK_SET else self.tell() + offset
        if target != self.tell():
            os.lseek(self._descriptor, target, os.SEEK_SET)
            if target:
                self._aside = target
            else:
                self._begin()
        return target

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read the next bytes into `buffer`; return their number, 0 at the end."""
        count = os.readv(self._descriptor, [buffer])
        if self._aside is not None:
            self._aside += count
            return count
        piece = bytes(memoryview(buffer)[:count])
        self._hash.update(piece)
        self.size += count
        self._count(piece)
        return count

    def _count(self, piece: bytes) -> None:
        if self._gates is None:
            return
        end = piece.rfind(b"\n") + 1
        self._line = len(piece) - end if end else self._line + len(piece)
        if self._line > limits.MAX_LINE:
            self._gates = None
            return
        try:
            self._gates.feed(piece)
        except DataError:
            self._gates = None

    def drain(self) -> None:
        """Read what is left, all of it where a peek came last."""
        if self._aside is not None:
            self.seek(0)
        while self.read(_CHUNK):
            pass

    @property
    def digest(self) -> str:
        """The SHA-256 (hex) of what was read."""
        return self._hash.hexdigest()

    @property
    def hits(self) -> dict[str, int] | None:
        """The gate hits by class in what was read; None where that is no UTF-8 text or a line is too long."""
        if self._gates is None:
            return None
        try:
            return self._gates.result()
        except DataError:
            return None
