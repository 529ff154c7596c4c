"""How sessions hang together, and which records were brought by another file already."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from geode_traj.store.events import MAX_VARIABLES
from geode_traj.store.schema import has_table


def write(connection: sqlite3.Connection, digest: str, found: Iterable[tuple[str, str, str]]) -> None:
    """Keep links (session_id, kind, target) of a source."""
    connection.executemany(
        "INSERT OR IGNORE INTO traj_links (session_id, kind, target, source_digest) VALUES (?, ?, ?, ?)",
        [(*link, digest) for link in found],
    )


def of_session(connection: sqlite3.Connection, session_id: str) -> list[tuple[str, str]]:
    """Return (kind, target) of a session's links, in the order they were met."""
    if not has_table(connection, "traj_links"):
        return []
    rows = connection.execute(
        "SELECT kind, target FROM traj_links WHERE session_id = ? ORDER BY id", (session_id,)
    )
    return list(rows)


def known_content(connection: sqlite3.Connection, keys: Iterable[str]) -> dict[str, str]:
    """Return {content key: session that holds it} of the keys that are stored."""
    found: dict[str, str] = {}
    listed = list(keys)
    for start in range(0, len(listed), MAX_VARIABLES):
        part = listed[start : start + MAX_VARIABLES]
        query = (
            "SELECT content_key, session_id FROM traj_content"  # noqa: S608 - only placeholders are built
            f" WHERE content_key IN ({','.join('?' * len(part))})"
        )
        found.update(connection.execute(query, part))
    return found


def remember_content(connection: sqlite3.Connection, rows: Iterable[tuple[str, str, str]]) -> None:
    """Keep (content key, event_id, session_id) of new events."""
    connection.executemany(
        "INSERT OR IGNORE INTO traj_content (content_key, event_id, session_id) VALUES (?, ?, ?)", rows
    )
