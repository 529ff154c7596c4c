"""Which events a unit of a mutable source gave, so that its next state can take their place (J5)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from geode_traj.store.schema import has_table


def state(connection: sqlite3.Connection, format_name: str, unit: str) -> tuple[str, str] | None:
    """Return the digest of a unit's stored state and the path it came from; None for an unknown unit."""
    if not has_table(connection, "traj_units"):
        return None
    found: tuple[str, str] | None = connection.execute(
        "SELECT sha256, source_path FROM traj_units JOIN session_event_imports ON sha256 = source_digest"
        " WHERE format = ? AND unit = ? LIMIT 1",
        (format_name, unit),
    ).fetchone()
    return found


def event_ids(connection: sqlite3.Connection, format_name: str, unit: str) -> list[str]:
    """Return the event ids that the latest state of a unit gave, in order."""
    rows = connection.execute(
        "SELECT event_id FROM traj_units WHERE format = ? AND unit = ? ORDER BY n", (format_name, unit)
    )
    return [event_id for (event_id,) in rows]


def latest(connection: sqlite3.Connection, ids: Iterable[str]) -> float | None:
    """Return the latest time of some events in Unix seconds."""
    query = "SELECT occurred_at FROM session_events WHERE event_id = ?"
    times = [row[0] for event_id in ids for row in connection.execute(query, (event_id,))]
    return max((time for time in times if isinstance(time, float)), default=None)


def places(connection: sqlite3.Connection, ids: Iterable[str]) -> list[int]:
    """Return the places (row ids) of events in database order."""
    found = []
    for event_id in ids:
        found += connection.execute(
            "SELECT id FROM session_events WHERE event_id = ?", (event_id,)
        ).fetchall()
    return sorted(row_id for (row_id,) in found)


def keep_places(connection: sqlite3.Connection, free: Sequence[int], ids: Sequence[str]) -> None:
    """Move a unit's events, in order, to where its earlier state stood; those that are more stay at the end.

    Else a part of a session that was rewritten would come after all that followed it.
    """
    connection.executemany(
        "UPDATE session_events SET id = ? WHERE event_id = ?", zip(free, ids, strict=False)
    )


def take_out(connection: sqlite3.Connection, ids: Iterable[str]) -> None:
    """Delete events and what hangs on them, inside the caller's transaction."""
    listed = [(event_id,) for event_id in ids]
    for table in ("session_events", "traj_blob_refs", "traj_content", "traj_units"):
        connection.executemany(f"DELETE FROM {table} WHERE event_id = ?", listed)  # noqa: S608 - fixed names
    connection.execute("DELETE FROM traj_blobs WHERE sha256 NOT IN (SELECT sha256 FROM traj_blob_refs)")


def remember(
    connection: sqlite3.Connection, format_name: str, unit: str, sha256: str, ids: Sequence[str]
) -> None:
    """Record a unit's events in order, and the digest of the state that gave them."""
    connection.execute("DELETE FROM traj_units WHERE format = ? AND unit = ?", (format_name, unit))
    connection.executemany(
        "INSERT INTO traj_units (format, unit, sha256, n, event_id) VALUES (?, ?, ?, ?, ?)",
        [(format_name, unit, sha256, n, event_id) for n, event_id in enumerate(ids)],
    )
