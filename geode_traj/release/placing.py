"""Folders that appear whole or not at all, and replace nothing."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final

from geode_traj.codec.files import sync_folder
from geode_traj.errors import WorldError

_STAGING: Final = ".staging-"
_AT_FDCWD: Final = -100
_NOREPLACE: Final = 1  # renameat2(2)
_EXCL: Final = 4  # renamex_np(2) of macOS
_MISSING: Final = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}
_TAKEN: Final = {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}


@contextmanager
def staging(parent: Path) -> Iterator[Path]:
    """Make a hidden folder in `parent`, itself made where missing; both go again, what was placed apart.

    Its lock is held as long as it is in use: a folder that nobody locks is what a killed process left, and
    goes. Raises `WorldError` TE602 where the disk refuses, for whatever the caller does inside too.
    """
    made = [folder for folder in (parent, *parent.parents) if not folder.exists()]
    folder = parent / f"{_STAGING}{secrets.token_hex(8)}"
    with disk(parent), ExitStack() as held:
        try:
            with locked(parent):  # nobody looks for stale folders while this one has no lock yet
                _discard_stale(parent)
                folder.mkdir()
                held.enter_context(_held(folder))
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            for empty in made:
                with suppress(OSError):
                    empty.rmdir()


def _discard_stale(parent: Path) -> None:
    for path in parent.glob(f"{_STAGING}*"):
        with suppress(OSError), _held(path):
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder that is there; `OSError` where another process holds it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def disk(path: Path) -> Iterator[None]:
    """Turn what the operating system refuses into `WorldError` TE602."""
    try:
        yield
    except OSError as error:
        raise WorldError("TE602", path=path.name, why=error.strerror, place=str(path)) from None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, made where missing; wait for it. The kernel frees it when the process dies.

    The folder may be removed by its holder: whoever waited for the old one then locks a new one.
    """
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_still(folder, descriptor):
                yield
                return
        finally:
            os.close(descriptor)


def _is_still(folder: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(folder.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def sync_tree(root: Path) -> None:
    """Make every folder below `root`, the deepest first, and `root` itself durable."""
    for folder, _, _ in os.walk(root, topdown=False):
        sync_folder(Path(folder))


def place(source: Path, target: Path) -> None:
    """Rename a folder to a name that must be free, and make both names durable.

    Raises `WorldError` TE601 where anything stands at `target`, an empty folder too.
    """
    code = _rename_exclusive(source, target)
    if code in _MISSING:
        code = _rename_under_lock(source, target)
    if code in _TAKEN:
        raise WorldError("TE601", path=target.name, place=str(target))
    if code:
        raise OSError(code, os.strerror(code))
    sync_folder(target.parent)
    if source.parent != target.parent:
        sync_folder(source.parent)


def place_verified(source: Path, target: Path, verify: Callable[[Path], object]) -> None:
    """Place a folder that `verify` passes, and verify it again there; it goes back where that fails."""
    sync_tree(source)
    verify(source)
    place(source, target)
    try:
        verify(target)
    except BaseException:
        target.rename(source)
        raise


def _rename_exclusive(source: Path, target: Path) -> int:
    """Rename so that nothing is replaced; return the error number, 0 for done."""
    rename = _exclusive()
    if rename is None:
        return errno.ENOSYS
    return 0 if rename(os.fsencode(source), os.fsencode(target)) == 0 else ctypes.get_errno()


@cache
def _exclusive() -> Callable[[bytes, bytes], int] | None:
    """Return the system's rename that replaces nothing, None where it has none."""
    library = ctypes.CDLL(None, use_errno=True)
    linux = getattr(library, "renameat2", None)
    if linux is not None:
        linux.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
        return lambda source, target: int(linux(_AT_FDCWD, source, _AT_FDCWD, target, _NOREPLACE))
    macos = getattr(library, "renamex_np", None)
    if macos is not None:
        macos.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint)
        return lambda source, target: int(macos(source, target, _EXCL))
    return None


def _rename_under_lock(source: Path, target: Path) -> int:
    """Rename after a look, under the lock of the target's folder: plain rename replaces an empty folder."""
    with locked(target.parent):
        if os.path.lexists(target):
            return errno.EEXIST
        try:
            source.rename(target)
        except OSError as error:
            return error.errno or errno.EIO
    return 0
