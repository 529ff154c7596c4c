"""Opening a store: read-only without creating anything, or for writing with one writer at a time.

SQLite's own write lock is the writer lock: every write transaction begins with BEGIN IMMEDIATE and waits up
to the busy time-out; past it the caller gets `WorldError` TE501.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

from geode_traj.errors import DataError, WorldError
from geode_traj.store import schema

BUSY_SECONDS: Final = 10.0


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours: busy or locked TE501, damaged TE505, anything else TE503."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if _is_busy(error):
            raise WorldError("TE501", path=path.name, place=str(path)) from None
        if _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise DataError("TE505", why=str(error), place=str(path)) from None
        raise WorldError("TE503", path=path.name, why=str(error), place=str(path)) from None


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF  # without the extended part


def _is_busy(error: sqlite3.Error) -> bool:
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


@contextmanager
def open_reader(path: Path) -> Iterator[sqlite3.Connection]:
    """Open an existing store read-only, in one consistent snapshot (SQLite's -wal and -shm files apart)."""
    if not path.is_file():
        why = "it is a folder" if path.is_dir() else "no such file"
        raise WorldError("TE503", path=path.name, why=why, place=str(path))
    with translated(path):
        uri = f"file:{quote(os.fsencode(path.absolute()))}?mode=ro"
        if not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists():
            uri += "&immutable=1"  # nobody can write there, and SQLite could not make its -shm file
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")
            schema.check_versions(connection)
            yield connection
        finally:
            connection.close()


@contextmanager
def open_writer(path: Path, *, busy_seconds: float = BUSY_SECONDS) -> Iterator[sqlite3.Connection]:
    """Open a store for writing and create it, its folder and its tables where missing.

    A new store is its owner's alone to read: what it holds is private until it was reviewed.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise WorldError("TE503", path=path.name, why=error.strerror, place=str(path)) from None
    with translated(path):
        # Statements begin and end transactions themselves: the module's implicit ones would hide them.
        connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None)
        connection.text_factory = schema.text_or_bytes
        try:
            schema.check_versions(connection)  # before the first write, so that a newer store stays as it is
            _use_wal(connection, busy_seconds)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA temp_store = MEMORY")
            with transaction(connection):
                schema.create(connection)
            yield connection
        finally:
            connection.close()


@contextmanager
def open_scratch() -> Iterator[sqlite3.Connection]:
    """Open an empty store of its own that has no name and is gone when it is closed.

    SQLite keeps it in memory up to a few MB, the rest in a temporary file that nobody else can open.
    """
    nowhere = Path("(temporary store)")
    with translated(nowhere):
        connection = sqlite3.connect("", isolation_level=None)
        connection.text_factory = schema.text_or_bytes
        try:
            connection.execute("PRAGMA synchronous = OFF")
            with transaction(connection):
                schema.create(connection)
            yield connection
        finally:
            connection.close()


def _use_wal(connection: sqlite3.Connection, seconds: float) -> None:
    # Switching to WAL needs a moment alone and does not call the busy handler: several first users race here.
    deadline = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() >= deadline:
                raise
            time.sleep(0.02)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Hold the write lock for a block: commit at its end, roll back on any exception."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.OperationalError):  # SQLite may have rolled back by itself (disk full)
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def savepoint(connection: sqlite3.Connection) -> Iterator[None]:
    """Keep or undo a part of the open transaction (one source of an import)."""
    connection.execute("SAVEPOINT source")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.OperationalError):
            connection.execute("ROLLBACK TO source")
            connection.execute("RELEASE source")
        raise
    connection.execute("RELEASE source")
