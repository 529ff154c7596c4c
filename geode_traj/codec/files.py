"""Files: digests in bounded memory, and new files that appear whole or not at all, and replace nothing."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from geode_traj.errors import DataError, WorldError

CHUNK: Final = 1 << 20


def sha256_bytes(data: bytes) -> str:
    """Return the SHA-256 of `data` in hex."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> tuple[str, int]:
    """Return the SHA-256 (hex) and size in bytes of a file; raise `WorldError` TE201."""
    digest = hashlib.sha256()
    size = 0
    with reading(path) as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return digest.hexdigest(), size


@contextmanager
def reading(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file for reading bytes; raise `WorldError` TE201 where that fails."""
    try:
        # A FIFO or device would block or never end: only regular files are inputs.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise WorldError("TE201", path=path.name, why=error.strerror, place=str(path)) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise WorldError("TE201", path=path.name, why="not a regular file", place=str(path))
    with os.fdopen(descriptor, "rb") as stream:
        try:
            yield stream
        except OSError as error:
            raise WorldError("TE201", path=path.name, why=error.strerror, place=str(path)) from None


def walk(root: Path, whole: Callable[[Path], bool] = lambda _: False) -> Iterator[Path]:
    """Yield a file, or the files below a folder in a fixed order, so that none is passed over silently.

    A folder that cannot be read, and a link to a folder, are yielded themselves: reading them says why they
    are not. `whole` names folders that are one thing: they are yielded, not entered.
    """
    if not is_folder(root):
        yield root
        return
    failed: list[Path] = []
    for folder, folders, names in os.walk(root, onerror=lambda error: failed.append(Path(error.filename))):
        if whole(Path(folder)):
            folders.clear()
            yield Path(folder)
            continue
        folders.sort(key=os.fsencode)
        links = [name for name in folders if Path(folder, name).is_symlink()]
        yield from (Path(folder, name) for name in sorted([*names, *links], key=os.fsencode))
        yield from failed
        failed.clear()
    yield from failed


def is_folder(path: Path) -> bool:
    """Tell whether a path is a folder; one that no file system takes (too long a name) is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


def sha256_part(stream: BinaryIO, offset: int, length: int) -> str:
    """Return the SHA-256 (hex) of a part of a seekable stream, of what there is of it."""
    digest = hashlib.sha256()
    stream.seek(offset)
    while length and (chunk := stream.read(min(CHUNK, length))):
        digest.update(chunk)
        length -= len(chunk)
    return digest.hexdigest()


def read_bounded(path: Path, limit: int) -> bytes:
    """Return a file's bytes; raise `DataError` TE203 when it holds more than `limit` bytes."""
    with reading(path) as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise DataError("TE203", limit=limit, place=str(path))
    return data


def write_new(
    path: Path,
    chunks: Iterable[bytes],
    *,
    force: bool = False,
    mode: int = 0o644,
    check: Callable[[Path], None] | None = None,
) -> None:
    """Write `chunks` to a new file, atomically and durably.

    The file appears under its name only when every chunk is on disk and `check`, given its temporary path,
    has not raised. An existing one is kept and `WorldError` TE601 raised, unless `force`. TE602 when the disk
    refuses; whatever `chunks` or `check` raises passes through, and nothing is left behind in either case.
    """
    if not force and os.path.lexists(path):
        raise WorldError("TE601", path=path.name, place=str(path))
    # The name is its own: one made from `path`'s could be longer than a folder takes.
    temporary = path.parent / f".geode-traj-{os.urandom(8).hex()}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except OSError as error:
        raise WorldError("TE602", path=path.name, why=error.strerror, place=str(path)) from None
    try:
        with os.fdopen(descriptor, "wb", buffering=CHUNK) as stream:
            for chunk in chunks:
                stream.write(chunk)
            stream.flush()
            os.fsync(stream.fileno())
        if check is not None:
            check(temporary)
        if force:
            temporary.replace(path)
        else:
            os.link(temporary, path)  # fails where the name exists: no window between look and write
        sync_folder(path.parent)
    except FileExistsError:
        raise WorldError("TE601", path=path.name, place=str(path)) from None
    except OSError as error:
        raise WorldError("TE602", path=path.name, why=error.strerror, place=str(path)) from None
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
