"""Deleting sessions so that no trace of their text stays in the database files (record contract §2)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from geode_traj.contract.times import FIRST
from geode_traj.errors import WorldError
from geode_traj.store.opening import transaction
from geode_traj.store.schema import has_table

RETENTION_DAYS: Final = 180
_INDEX: Final = "traj_vacuum_"


@dataclass(frozen=True, slots=True)
class Expired:
    """A session that may be pruned: explicitly ended before the cutoff; `ended` in Unix seconds."""

    session_id: str
    ended: float
    events: int


def expired(connection: sqlite3.Connection, cutoff: float) -> list[Expired]:
    """Return the sessions whose latest event is `session.ended` before `cutoff`, by id."""
    if not has_table(connection, "session_events"):
        return []
    rows = connection.execute(
        """SELECT last.session_id, last.occurred_at,
                  (SELECT count(*) FROM session_events AS e WHERE e.session_id = last.session_id)
             FROM session_events AS last
            WHERE last.kind = 'session.ended' AND last.occurred_at < ? AND last.occurred_at >= ?
              AND last.id = (SELECT max(id) FROM session_events AS e WHERE e.session_id = last.session_id)
            ORDER BY last.session_id""",
        (cutoff, FIRST),  # a time outside the calendar is unknown, not old
    )
    return [Expired(*row) for row in rows]


def delete(connection: sqlite3.Connection, session_ids: list[str]) -> int:
    """Delete sessions with their receipts, blobs and damaged lines, inside the caller's transaction.

    Returns the number of event rows deleted. A receipt goes when it is filed under a deleted session or when
    one of its sessions is: otherwise its source could never be imported again.
    """
    deleted = 0
    for session_id in session_ids:
        one = (session_id,)
        deleted += connection.execute("DELETE FROM session_events WHERE session_id = ?", one).rowcount
        connection.execute(
            """DELETE FROM session_event_imports WHERE session_id = ?1 OR source_digest IN
               (SELECT source_digest FROM traj_import_sessions WHERE session_id = ?1)""",
            one,
        )
        for table in ("traj_import_sessions", "traj_damaged", "traj_blob_refs", "traj_links", "traj_content"):
            connection.execute(f"DELETE FROM {table} WHERE session_id = ?", one)  # noqa: S608 - fixed names
    connection.execute("DELETE FROM traj_units WHERE event_id NOT IN (SELECT event_id FROM session_events)")
    connection.execute("DELETE FROM traj_blobs WHERE sha256 NOT IN (SELECT sha256 FROM traj_blob_refs)")
    return deleted


def scrub(connection: sqlite3.Connection) -> None:
    """Rewrite the database file and empty its log, so that deleted text is in neither.

    `secure_delete` blanks what a deletion frees; pages that were split or merged earlier may still hold
    copies, which only a rewrite removes. VACUUM does it under one lock, so that nobody's writing is lost
    meanwhile. Raises `WorldError` TE501 when a reader keeps the log from being emptied.
    """
    connection.execute("PRAGMA temp_store = FILE")  # the copy may be larger than memory
    with _numbered(connection):
        connection.execute("VACUUM")
    connection.execute("PRAGMA temp_store = MEMORY")
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise WorldError("TE501", path="the write-ahead log still holds what was deleted")


@contextmanager
def _numbered(connection: sqlite3.Connection) -> Iterator[None]:
    """Let VACUUM keep the row numbers of foreign tables: it renumbers those without integer key and index."""
    bare = _bare_tables(connection)
    with transaction(connection):
        for number, (table, column) in enumerate(bare):
            connection.execute(f'CREATE INDEX "{_INDEX}{number}" ON {_quoted(table)} ({_quoted(column)})')
    try:
        yield
    finally:
        if bare:
            with transaction(connection):
                for number in range(len(bare)):
                    connection.execute(f'DROP INDEX IF EXISTS "{_INDEX}{number}"')


def _bare_tables(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return (table, a column of it) of the tables that have neither an integer key nor an index."""
    tables = connection.execute(
        """SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
            AND sql NOT LIKE 'CREATE VIRTUAL%'"""  # those keep their rows in tables with keys
    ).fetchall()
    bare = []
    for (name,) in tables:
        columns = connection.execute("SELECT name, type, pk FROM pragma_table_info(?)", (name,)).fetchall()
        keyed = any(kind.upper() == "INTEGER" and position for _, kind, position in columns)
        if not keyed and not connection.execute("SELECT 1 FROM pragma_index_list(?)", (name,)).fetchone():
            bare.append((name, columns[0][0]))
    return bare


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def erase(connection: sqlite3.Connection, session_ids: list[str]) -> int:
    """Delete sessions in one transaction and scrub the files; return the number of event rows deleted."""
    with transaction(connection):
        deleted = delete(connection, session_ids)
    scrub(connection)
    return deleted
