"""Stored events of which a source that has grown says more (a branch was abandoned, usage was partial)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable


def revise(connection: sqlite3.Connection, revised: Iterable[tuple[str, str, str]]) -> None:
    """Give stored events (payload JSON, payload hash, event_id) another payload; bodies of the old one go."""
    for payload_json, payload_hash, event_id in revised:
        connection.execute(
            "UPDATE session_events SET payload_json = ?, payload_hash = ? WHERE event_id = ?",
            (payload_json, payload_hash, event_id),
        )
        connection.execute("DELETE FROM traj_blob_refs WHERE event_id = ?", (event_id,))
    connection.execute("DELETE FROM traj_blobs WHERE sha256 NOT IN (SELECT sha256 FROM traj_blob_refs)")
