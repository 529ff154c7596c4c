"""Erasing sessions: say what would go, then let it go without trace (record contract §2, Ours)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from geode_traj.errors import WorldError
from geode_traj.jobs.prune import scrubbed
from geode_traj.store import blobs, events, imports, opening, retention
from geode_traj.store.schema import has_table

# What else a GEODE installation keeps of a session in the same database; it is GEODE's to delete.
_OTHERS = ("sessions", "messages", "hook_events")


@dataclass(frozen=True, slots=True)
class Found:
    """What the store holds of a session: events, damaged lines, blobs; other tables naming it."""

    session_id: str
    events: int
    damaged: int
    blobs: int
    elsewhere: tuple[str, ...] = ()

    @property
    def error(self) -> WorldError | None:
        """`WorldError` TE504 where the store holds nothing of it."""
        known = self.events or self.damaged
        return None if known else WorldError("TE504", session=self.session_id)


def look(store: Path, session_ids: Iterable[str]) -> list[Found]:
    """Return what the store holds of each session, each once; raise `WorldError` TE503 without a store."""
    with opening.open_reader(store) as connection:
        counts = {one.session_id: one.events for one in events.summaries(connection)}
        return [
            _found(connection, session_id, counts.get(session_id, 0))
            for session_id in dict.fromkeys(session_ids)
        ]


def _found(connection: sqlite3.Connection, session_id: str, count: int) -> Found:
    return Found(
        session_id,
        count,
        imports.count_damaged(connection, session_id),
        sum(map(len, blobs.references(connection, [session_id]).values())),
        tuple(table for table in _OTHERS if _names(connection, table, session_id)),
    )


def _names(connection: sqlite3.Connection, table: str, session_id: str) -> bool:
    if not has_table(connection, table):
        return False
    columns = {row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}
    query = f"SELECT 1 FROM {table} WHERE session_id = ? LIMIT 1"  # noqa: S608 - fixed names
    return "session_id" in columns and connection.execute(query, (session_id,)).fetchone() is not None


def erase(store: Path, found: Iterable[Found]) -> WorldError | None:
    """Delete sessions with their receipts, blobs and damaged lines, and rewrite the database files.

    Returns `WorldError` TE501 where they are deleted but a reader keeps their text in SQLite's log.
    """
    ids = [one.session_id for one in found if one.error is None]
    if not ids:
        return None
    with opening.open_writer(store) as connection:
        with opening.transaction(connection):
            retention.delete(connection, ids)
        return scrubbed(store, connection)
