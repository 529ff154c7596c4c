"""Foreign SQLite files, read from a consistent copy: never written, never opened immutable.

The backup API sees what the write-ahead log holds; `immutable=1` would ignore it and lose the newest rows.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from geode_traj.errors import DataError, WorldError

MAGIC: Final = b"SQLite format 3\x00"


@contextmanager
def snapshot(path: Path) -> Iterator[sqlite3.Connection]:
    """Copy a database into a private temporary file and open that; it is gone afterwards.

    Text that is not UTF-8 is read with its bad bytes as `\\xNN`. Raises `WorldError` TE501 while another
    process keeps it locked, `DataError` TE505 where it is damaged.
    """
    with tempfile.TemporaryDirectory(prefix="geode-traj-") as folder:
        copy = Path(folder, "copy.db")
        os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            source = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True, timeout=10)
            with closing(source), closing(sqlite3.connect(copy, isolation_level=None)) as target:
                source.backup(target, pages=4096)
                target.execute("PRAGMA query_only = ON")
                target.text_factory = lambda raw: raw.decode("utf-8", "backslashreplace")
                yield target
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise WorldError("TE501", path=path.name, place=str(path)) from None
            raise DataError("TE505", why=str(error), place=str(path)) from None
        except sqlite3.DatabaseError as error:
            raise DataError("TE505", why=str(error), place=str(path)) from None


def tables(connection: sqlite3.Connection) -> dict[str, frozenset[str]]:
    """Return {table: its column names}; versions of a program differ in both."""
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {
        name: frozenset(
            row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (name,))
        )
        for name in names
    }
