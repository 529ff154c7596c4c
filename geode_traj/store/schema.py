"""Tables of the store: GEODE's exactly (record contract §2), and ours named `traj_*`."""

from __future__ import annotations

import sqlite3
import time
from typing import Final

from geode_traj.errors import DataError

GEODE_COMPONENT: Final = "session_events"
OUR_COMPONENT: Final = "geode_traj"
VERSIONS: Final = {GEODE_COMPONENT: 1, OUR_COMPONENT: 1}

_GEODE: Final = (
    """CREATE TABLE IF NOT EXISTS storage_schema (
        component TEXT PRIMARY KEY, version INTEGER NOT NULL, updated_at REAL NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS session_events (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        schema_version INTEGER NOT NULL DEFAULT 1,
        event_id TEXT NOT NULL UNIQUE,
        occurred_at REAL NOT NULL,
        session_id TEXT NOT NULL,
        session_generation INTEGER NOT NULL DEFAULT 1,
        turn_id TEXT NOT NULL DEFAULT '',
        call_id TEXT NOT NULL DEFAULT '',
        parent_event_id TEXT,
        kind TEXT NOT NULL,
        role TEXT NOT NULL DEFAULT '',
        status TEXT NOT NULL DEFAULT '',
        model TEXT NOT NULL DEFAULT '',
        provider TEXT NOT NULL DEFAULT '',
        payload_json TEXT NOT NULL,
        payload_hash TEXT NOT NULL,
        source TEXT NOT NULL DEFAULT 'runtime')""",
    """CREATE TABLE IF NOT EXISTS session_event_imports (
        source_digest TEXT PRIMARY KEY, source_path TEXT NOT NULL, session_id TEXT NOT NULL,
        row_count INTEGER NOT NULL, imported_at REAL NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS idx_session_events_session ON session_events (session_id, id)",
    "CREATE INDEX IF NOT EXISTS idx_session_events_turn ON session_events (session_id, turn_id, id)",
    "CREATE INDEX IF NOT EXISTS idx_session_events_call ON session_events (session_id, call_id, id)"
    " WHERE call_id != ''",
    "CREATE INDEX IF NOT EXISTS idx_session_events_kind ON session_events (kind, occurred_at DESC)",
)

# Our tables are rowid tables that only grow at their end, so that their pages are never split and copied
# (a copy could outlive a deletion). Blobs belong to (event, pointer); a body shared by two events is one row.
_OURS: Final = (
    """CREATE TABLE IF NOT EXISTS traj_import_sessions (
        id INTEGER PRIMARY KEY, source_digest TEXT NOT NULL, session_id TEXT NOT NULL,
        format TEXT NOT NULL, events INTEGER NOT NULL, declared_json TEXT NOT NULL,
        UNIQUE (source_digest, session_id))""",
    "CREATE INDEX IF NOT EXISTS idx_traj_import_sessions ON traj_import_sessions (session_id)",
    "CREATE INDEX IF NOT EXISTS idx_traj_imports_path ON session_event_imports (source_path)",
    """CREATE TABLE IF NOT EXISTS traj_damaged (
        id INTEGER PRIMARY KEY, source_digest TEXT NOT NULL, source_path TEXT NOT NULL,
        session_id TEXT NOT NULL, line INTEGER NOT NULL, byte_offset INTEGER NOT NULL,
        length INTEGER NOT NULL, sha256 TEXT NOT NULL, reason TEXT NOT NULL, redacted BLOB,
        UNIQUE (source_path, session_id, line, sha256))""",
    "CREATE INDEX IF NOT EXISTS idx_traj_damaged_session ON traj_damaged (session_id)",
    """CREATE TABLE IF NOT EXISTS traj_blobs (
        id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, bytes INTEGER NOT NULL,
        media_type TEXT NOT NULL, zstd BLOB NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS traj_blob_refs (
        id INTEGER PRIMARY KEY, event_id TEXT NOT NULL, session_id TEXT NOT NULL,
        pointer TEXT NOT NULL, sha256 TEXT NOT NULL, UNIQUE (event_id, pointer))""",
    "CREATE INDEX IF NOT EXISTS idx_traj_blob_refs_session ON traj_blob_refs (session_id)",
    "CREATE INDEX IF NOT EXISTS idx_traj_blob_refs_sha256 ON traj_blob_refs (sha256)",
    """CREATE TABLE IF NOT EXISTS traj_redactions (
        id INTEGER PRIMARY KEY, class TEXT NOT NULL, mac TEXT NOT NULL, n INTEGER NOT NULL,
        UNIQUE (class, mac))""",
    """CREATE TABLE IF NOT EXISTS traj_links (
        id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL,
        source_digest TEXT NOT NULL, UNIQUE (session_id, kind, target))""",
    """CREATE TABLE IF NOT EXISTS traj_content (
        id INTEGER PRIMARY KEY, content_key TEXT NOT NULL UNIQUE, event_id TEXT NOT NULL,
        session_id TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS idx_traj_content_session ON traj_content (session_id)",
    """CREATE TABLE IF NOT EXISTS traj_units (
        id INTEGER PRIMARY KEY, format TEXT NOT NULL, unit TEXT NOT NULL, sha256 TEXT NOT NULL,
        n INTEGER NOT NULL, event_id TEXT NOT NULL, UNIQUE (format, unit, n))""",
    "CREATE INDEX IF NOT EXISTS idx_traj_units_event ON traj_units (event_id)",
    "CREATE TABLE IF NOT EXISTS traj_secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL)",
)


def check_versions(connection: sqlite3.Connection) -> None:
    """Refuse a store that a newer program wrote (`DataError` TE502); one without tables passes."""
    if not has_table(connection, "storage_schema"):
        return
    for component, version in connection.execute("SELECT component, version FROM storage_schema"):
        known = VERSIONS.get(component)
        if known is not None and not (isinstance(version, int) and version <= known):
            raise DataError("TE502", component=component, version=version)


def create(connection: sqlite3.Connection) -> None:
    """Create what is missing, inside the caller's transaction; other tables are left alone."""
    check_versions(connection)
    for statement in (*_GEODE, *_OURS):
        connection.execute(statement)
    connection.executemany(
        "INSERT OR IGNORE INTO storage_schema (component, version, updated_at) VALUES (?, ?, ?)",
        [(component, version, time.time()) for component, version in VERSIONS.items()],
    )


def has_table(connection: sqlite3.Connection, name: str) -> bool:
    """Tell whether the database has a table of that name."""
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,))
    return found.fetchone() is not None


def text_or_bytes(raw: bytes) -> str | bytes:
    """Read a text column as a connection's `text_factory`: bytes that are no UTF-8 stay bytes, no error."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def as_text(value: object) -> str:
    r"""Return a column's value as text: bytes that are no UTF-8 as `\xNN`, null as nothing."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return "" if value is None else str(value)
