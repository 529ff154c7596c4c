"""Bodies over the payload bounds, kept whole: content-addressed, zstd, after redaction (design decision 5).

A payload's `_blobs` list is text that any transcript may imitate; only the references in `traj_blob_refs`,
which the import wrote, lead to a body.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import Any

import jiter
from backports import zstd

from geode_traj.codec.files import sha256_bytes
from geode_traj.contract.bounds import MEDIA_TYPE, Bodies
from geode_traj.errors import DataError
from geode_traj.store.schema import has_table


def write(connection: sqlite3.Connection, event_id: str, session_id: str, bodies: Bodies) -> None:
    """Keep the bodies of one event."""
    for pointer, data in bodies:
        digest = sha256_bytes(data)
        connection.execute(
            "INSERT OR IGNORE INTO traj_blobs (sha256, bytes, media_type, zstd) VALUES (?, ?, ?, ?)",
            (digest, len(data), MEDIA_TYPE, zstd.compress(data)),
        )
        connection.execute(
            "INSERT OR IGNORE INTO traj_blob_refs (event_id, session_id, pointer, sha256)"
            " VALUES (?, ?, ?, ?)",
            (event_id, session_id, pointer, digest),
        )


def read(connection: sqlite3.Connection, sha256: str) -> Any:
    """Return a body as a JSON value; raise `DataError` TE505 when its bytes are not what was stored."""
    row = connection.execute("SELECT zstd, bytes FROM traj_blobs WHERE sha256 = ?", (sha256,)).fetchone()
    data = b""
    if row is not None:
        with suppress(zstd.ZstdError, TypeError):  # no more is unpacked than was stored
            data = zstd.ZstdDecompressor().decompress(row[0], max_length=row[1])
    if sha256_bytes(data) != sha256:
        raise DataError("TE505", why=f"blob {sha256[:12]} is missing or damaged")
    return jiter.from_json(data, allow_inf_nan=False)


def references(connection: sqlite3.Connection, session_ids: list[str]) -> dict[str, list[tuple[str, str]]]:
    """Return {event_id: [(pointer, sha256)]} of the sessions' events that have blobs."""
    found: dict[str, list[tuple[str, str]]] = {}
    if not has_table(connection, "traj_blob_refs"):
        return found
    for session_id in session_ids:
        rows = connection.execute(
            "SELECT event_id, pointer, sha256 FROM traj_blob_refs WHERE session_id = ? ORDER BY id",
            (session_id,),
        )
        for event_id, pointer, sha256 in rows:
            found.setdefault(event_id, []).append((pointer, sha256))
    return found
