"""Foreign SQLite files, read from a consistent copy: never written, never opened immutable.

The backup API sees what the write-ahead log holds; `immutable=1` would ignore it and lose the newest rows.
Even a reader leaves log files beside a database that nobody has open; one without a log is therefore copied
as the plain file that it is.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

from geode_traj.codec.files import CHUNK, reading
from geode_traj.errors import DataError, WorldError

MAGIC: Final = b"SQLite format 3\x00"
_LOGS: Final = ("-wal", "-journal")


@contextmanager
def snapshot(path: Path) -> Iterator[sqlite3.Connection]:
    """Copy a database into a private temporary file and open that; it is gone afterwards.

    Text that is not UTF-8 is read with its bad bytes as `\\xNN`. Raises `WorldError` TE501 while another
    process keeps it locked, `DataError` TE505 where it is damaged.
    """
    with _explained(path), closing(_copy(path)) as copy:
        yield copy


@contextmanager
def shared(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a snapshot that stays for the next call, as long as the database has not changed since.

    Its units are read one by one, and a copy for each would cost far too much. Only the database asked for
    last is held, so readers of two must not take turns. Raises as `snapshot`.
    """
    with _explained(path):
        yield _KEPT.open(path)


class _Kept:
    """The one snapshot that is kept, and the state of the files that it was made from."""

    def __init__(self) -> None:
        self._state: object = None
        self._copy: sqlite3.Connection | None = None

    def open(self, path: Path) -> sqlite3.Connection:
        state = (os.getpid(), path.absolute(), *(_state(path, end) for end in ("", *_LOGS)))
        if self._copy is None or state != self._state:
            self.close()
            self._copy = _copy(path)
            self._state = state
        return self._copy

    def close(self) -> None:
        if self._copy is not None:
            self._copy.close()
            self._copy = None


_KEPT: Final = _Kept()
atexit.register(_KEPT.close)


def _state(path: Path, end: str) -> tuple[int, int, int] | None:
    try:
        stat = path.with_name(path.name + end).stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


def _copy(path: Path) -> sqlite3.Connection:
    """Return an open copy whose file has no name any more: nothing is left behind, however this ends."""
    folder = tempfile.mkdtemp(prefix="geode-traj-")
    try:
        file = Path(folder, "copy.db")
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        if not _copy_file(path, file):
            with suppress(FileNotFoundError):
                file.unlink()
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            _back_up(path, file)
        copy = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        try:
            # A copy in WAL mode would need two more files; there is nobody to share it with.
            copy.execute("PRAGMA journal_mode = MEMORY")
            copy.execute("PRAGMA query_only = ON")
        except sqlite3.Error:
            copy.close()
            raise
        copy.text_factory = lambda raw: raw.decode("utf-8", "backslashreplace")
        return copy
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy_file(path: Path, target: Path) -> bool:
    """Copy a database that has no log as a file; tell whether it stayed alone and as it was meanwhile."""
    before = [_state(path, end) for end in ("", *_LOGS)]
    if any(before[1:]):
        return False
    with reading(path) as stream, target.open("wb") as out:
        shutil.copyfileobj(stream, out, CHUNK)
    return before == [_state(path, end) for end in ("", *_LOGS)]


def _back_up(path: Path, target: Path) -> None:
    source = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True, timeout=10)
    with closing(source), closing(sqlite3.connect(target)) as into:
        source.backup(into, pages=4096)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise WorldError("TE501", path=path.name, place=str(path)) from None
        raise DataError("TE505", why=str(error), place=str(path)) from None
    except sqlite3.DatabaseError as error:
        raise DataError("TE505", why=str(error), place=str(path)) from None
    except UnicodeDecodeError:  # SQLite's own message, or a column's name, quotes damaged bytes
        raise DataError("TE505", why="its schema is no text", place=str(path)) from None


def tables(connection: sqlite3.Connection) -> dict[str, frozenset[str]]:
    """Return {table: its column names}; versions of a program differ in both."""
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: _columns(connection, name) for name in names}


def _columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    try:
        rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
        return frozenset(row[0] for row in rows)
    except sqlite3.OperationalError:  # a virtual table of a module that is not here
        return frozenset()
