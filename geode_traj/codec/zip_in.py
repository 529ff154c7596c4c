"""Foreign zip archives as streams of members, deflate and Zstandard alike (zip methods 0, 8 and 93).

Nothing is unpacked to a path, so a name can lead nowhere; nothing inflates without bound. What is wrong with
one member leaves the others readable; an archive that only an attack or damage explains is refused whole.
"""

from __future__ import annotations

import atexit
import os
import struct
import sys
import unicodedata
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, Final

from geode_traj.codec.files import CHUNK, reading, sha256_part
from geode_traj.errors import DataError

if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

MAGIC: Final = b"PK\x03\x04"
MAX_MEMBERS: Final = 100_000
MAX_DIRECTORY: Final = 16 << 20
"""Bytes of the table of contents, which is read whole."""
MAX_MEMBER: Final = 16 << 30
FREE: Final = 512 << 20
"""Bytes that a member may unpack to however small it is packed; four times that, a whole archive."""
MAX_RATIO: Final = 250
_METHODS: Final = frozenset({0, 8, 93})
_ENCRYPTED: Final = 0x1 | 0x40 | 0x2000
_DIRECTORY_END: Final = struct.Struct("<4s4H2LH")
_LOCATOR: Final = struct.Struct("<4sLQL")
_DIRECTORY_END_64: Final = struct.Struct("<4sQ2H2L4Q")
_FAILURES: Final = (
    zipfile.BadZipFile, zlib.error, ZstdError, EOFError, OSError, NotImplementedError, RuntimeError,
    ValueError, OverflowError, struct.error,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Member:
    """One member: its place in the table of contents from 0, its name, offset, packed and unpacked bytes.

    `problem` says why it is not read: encrypted, method (none that is known), name (it leads elsewhere),
    outside (of the file) or too_large (what it claims to unpack to); "" where nothing is known against it.
    """

    index: int
    name: str
    offset: int
    packed: int
    size: int
    problem: str = ""


class Archive:
    """An open archive: its members in the order of the table of contents, folders left out."""

    def __init__(self, stream: BinaryIO, place: str) -> None:
        self._stream = stream
        self._place = place
        _check_directory(stream, place)
        try:
            self._zip = zipfile.ZipFile(stream)
            self._infos: list[Any] = self._zip.infolist()
        except _FAILURES as error:
            raise self._refused(_told(error)) from None
        if len(self._infos) > MAX_MEMBERS:
            raise self._refused(f"more than {MAX_MEMBERS} members")
        end = stream.seek(0, os.SEEK_END)
        self.members = [
            _member(index, info, end) for index, info in enumerate(self._infos) if not _is_folder(info)
        ]
        self._check_extents()
        unpacked = sum(member.size for member in self.members if not member.problem)
        packed = sum(member.packed for member in self.members)
        if unpacked > max(4 * FREE, packed * MAX_RATIO):
            raise DataError("TE203", limit=max(4 * FREE, packed * MAX_RATIO), place=place)

    def chunks(self, member: Member) -> Iterator[bytes]:
        """Yield a member's content; raise `DataError` TE201 where it is not what the archive says it is."""
        if member.problem:
            raise self._refused(f"member {member.index + 1}: {member.problem}")
        taken = 0
        try:
            with self._zip.open(self._infos[member.index]) as stream:
                while chunk := stream.read(CHUNK):
                    taken += len(chunk)
                    if taken > member.size:
                        break
                    yield chunk
        except _FAILURES as error:
            raise self._refused(f"member {member.index + 1}: {_told(error)}") from None
        if taken != member.size:
            raise self._refused(f"member {member.index + 1} has not the size that it claims")

    def packed_sha256(self, member: Member) -> str:
        """Return the digest of a member's packed bytes as far as they are there, for one that is not read."""
        return sha256_part(self._stream, max(0, member.offset), _LOCAL_HEADER + member.packed)

    def _check_extents(self) -> None:
        """Refuse members that share bytes: a few could otherwise stand for any amount."""
        ordered = sorted(
            (one for one in self.members if one.problem != "outside"), key=lambda one: one.offset
        )
        for one, following in pairwise(ordered):
            if one.offset + _LOCAL_HEADER + one.packed > following.offset:
                raise self._refused("members overlap")

    def _refused(self, why: str) -> DataError:
        return DataError("TE201", path="the archive", why=why, place=self._place)


_LOCAL_HEADER: Final = 30


def _member(index: int, info: Any, end: int) -> Member:
    size, packed, offset = int(info.file_size), int(info.compress_size), int(info.header_offset)
    problem = ""
    if not _is_plain_name(info.orig_filename):
        problem = "name"
    elif offset < 0 or offset + _LOCAL_HEADER + packed > end:
        problem = "outside"
    elif info.flag_bits & _ENCRYPTED:
        problem = "encrypted"
    elif info.compress_type not in _METHODS:
        problem = "method"
    elif size > MAX_MEMBER or size > max(FREE, packed * MAX_RATIO):
        problem = "too_large"
    return Member(index, info.filename, offset, packed, size, problem)


def _is_folder(info: Any) -> bool:
    return bool(info.filename.endswith("/")) and not info.file_size


def _is_plain_name(name: str) -> bool:
    steps = name.split("/")
    return (
        not any(unicodedata.category(char) == "Cc" for char in name)
        and "\\" not in name
        and ":" not in steps[0][1:2]
        and not {"", ".", ".."} & set(steps)
    )


def _check_directory(stream: BinaryIO, place: str) -> None:
    """Refuse a table of contents that is too large before anything is made of it."""
    size = stream.seek(0, os.SEEK_END)
    tail_at = max(0, size - (1 << 16) - _DIRECTORY_END.size - _LOCATOR.size)
    stream.seek(tail_at)
    tail = stream.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or at + _DIRECTORY_END.size > len(tail):
        raise DataError("TE201", path="the archive", why="it has no table of contents", place=place)
    count, length = _DIRECTORY_END.unpack_from(tail, at)[4:6]
    if at >= _LOCATOR.size and tail[at - _LOCATOR.size :].startswith(b"PK\x06\x07"):
        offset = _LOCATOR.unpack_from(tail, at - _LOCATOR.size)[2]
        stream.seek(min(offset, size))
        wide = stream.read(_DIRECTORY_END_64.size)
        if len(wide) == _DIRECTORY_END_64.size and wide.startswith(b"PK\x06\x06"):
            count, length = _DIRECTORY_END_64.unpack(wide)[7:9]
    if count > MAX_MEMBERS:
        raise DataError("TE201", path="the archive", why=f"more than {MAX_MEMBERS} members", place=place)
    if length > MAX_DIRECTORY:
        raise DataError("TE203", limit=MAX_DIRECTORY, place=place)


def _told(error: Exception) -> str:
    """Return what went wrong without what the error quotes: a name in it is the file's text."""
    if isinstance(error, RuntimeError) and not isinstance(error, NotImplementedError):
        return "encrypted"
    return {"BadZipFile": "damaged, or not what its table of contents says", "EOFError": "cut short"}.get(
        type(error).__name__, "damaged"
    )


@contextmanager
def shared(path: Path) -> Iterator[Archive]:
    """Open an archive that stays open for the next call, as long as the file has not changed since.

    Its table of contents would else be read for every member that is asked for. Only the one asked for last
    is held. Raises `DataError` TE201 or TE203 where an archive is refused, `WorldError` TE201 as `reading`.
    """
    yield _KEPT.open(path)


class _Kept:
    """The one archive that is kept open, and the state of the file that it was opened in."""

    def __init__(self) -> None:
        self._state: object = None
        self._archive: Archive | None = None
        self._stack = ExitStack()

    def open(self, path: Path) -> Archive:
        try:
            stat = path.stat()
        except OSError as error:
            why = error.strerror or "unreadable"
            raise DataError("TE201", path=path.name, why=why, place=str(path)) from None
        state = (os.getpid(), path.absolute(), stat.st_ino, stat.st_mtime_ns, stat.st_size)
        if self._archive is None or state != self._state:
            self.close()
            stream = self._stack.enter_context(reading(path))
            self._archive = Archive(stream, str(path))
            self._state = state
        return self._archive

    def close(self) -> None:
        self._archive = None
        self._stack.close()


_KEPT: Final = _Kept()
atexit.register(_KEPT.close)
