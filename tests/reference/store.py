"""A GEODE `sessions.db`: made, written by an import, and read (record contract §1, §2, §10, §15)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from .legacy import import_legacy
from .text import Refused, compact, sha256

SCHEMA = """
CREATE TABLE IF NOT EXISTS storage_schema(
    component TEXT PRIMARY KEY, version INTEGER NOT NULL, updated_at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS session_events(
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
    source TEXT NOT NULL DEFAULT 'runtime');
CREATE INDEX IF NOT EXISTS idx_session_events_session ON session_events(session_id, id);
CREATE INDEX IF NOT EXISTS idx_session_events_turn ON session_events(session_id, turn_id, id);
CREATE INDEX IF NOT EXISTS idx_session_events_call
    ON session_events(session_id, call_id, id) WHERE call_id <> '';
CREATE INDEX IF NOT EXISTS idx_session_events_kind ON session_events(kind, occurred_at DESC);
CREATE TABLE IF NOT EXISTS session_event_imports(
    source_digest TEXT PRIMARY KEY, source_path TEXT NOT NULL, session_id TEXT NOT NULL,
    row_count INTEGER NOT NULL, imported_at REAL NOT NULL);
"""
# What else an installation's database holds: never touched by an import.
OTHER_TABLES = """
CREATE TABLE sessions(
    session_id TEXT PRIMARY KEY, status TEXT, updated_at REAL, round_count INTEGER,
    message_count INTEGER, model TEXT, user_input TEXT);
CREATE TABLE messages(
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
    content TEXT NOT NULL);
CREATE TABLE collaboration_rooms(room_id TEXT PRIMARY KEY, title TEXT NOT NULL);
CREATE TABLE hook_events(
    id INTEGER PRIMARY KEY AUTOINCREMENT, schema_version INTEGER NOT NULL DEFAULT 3,
    occurred_at REAL NOT NULL, session_key TEXT NOT NULL DEFAULT '', run_id TEXT NOT NULL DEFAULT '',
    session_id TEXT NOT NULL DEFAULT '', turn_id TEXT NOT NULL DEFAULT '',
    tool_call_id TEXT NOT NULL DEFAULT '', llm_call_id TEXT NOT NULL DEFAULT '',
    llm_attempt_id TEXT NOT NULL DEFAULT '', event TEXT NOT NULL,
    dispatch_mode TEXT NOT NULL DEFAULT '', status TEXT NOT NULL DEFAULT 'ok',
    retention_class TEXT NOT NULL DEFAULT 'standard', handler_count INTEGER NOT NULL DEFAULT 0,
    handler_error_count INTEGER NOT NULL DEFAULT 0, blocked INTEGER NOT NULL DEFAULT 0,
    block_reason TEXT NOT NULL DEFAULT '', actor_type TEXT NOT NULL DEFAULT '',
    actor_id TEXT NOT NULL DEFAULT '', action TEXT NOT NULL DEFAULT '',
    entity_type TEXT NOT NULL DEFAULT '', entity_id TEXT NOT NULL DEFAULT '',
    task_id TEXT NOT NULL DEFAULT '', level TEXT NOT NULL DEFAULT 'info',
    payload_json TEXT NOT NULL, payload_hash TEXT NOT NULL);
"""
FINISHED, ACTIVE = "demo-finished", "demo-active"
_START = 1_750_000_000.0
_USER, _ASSISTANT = {"role": "user"}, {"role": "assistant"}
_CALL = {"call_id": "call-a"}
_DEMO: list[tuple[str, str, dict, dict]] = [
    (FINISHED, "session.started", {"status": "active", "model": "demo-model", "provider": "demo"}, {}),
    (FINISHED, "message.user", {**_USER, "turn_id": "turn-a"}, {"content": "List the files."}),
    (
        FINISHED,
        "tool.called",
        {**_CALL, "turn_id": "turn-a"},
        {"tool": "list_files", "arguments": {"path": "."}},
    ),
    (
        FINISHED,
        "tool.completed",
        {**_CALL, "turn_id": "turn-a", "status": "ok"},
        {"tool": "list_files", "summary": "2 files", "result": ["a.txt", "b.txt"]},
    ),
    (FINISHED, "message.assistant", {**_ASSISTANT, "turn_id": "turn-a"}, {"content": "There are two."}),
    (ACTIVE, "session.started", {"status": "active"}, {}),
    (ACTIVE, "message.user", {**_USER, "turn_id": "turn-b"}, {"content": "And now?"}),
    (FINISHED, "session.ended", {"status": "completed"}, {"duration_s": 5.5, "rounds": 1}),
]


def _demo_rows() -> list[dict]:
    rows = []
    for number, (session, kind, columns, payload) in enumerate(_DEMO):
        text = compact(payload)
        rows.append(
            {
                "event_id": sha256(f"{session}:{number}")[:32],
                "occurred_at": _START + number + 0.25,
                "session_id": session,
                "kind": kind,
                "payload_json": text,
                "payload_hash": sha256(text),
                **columns,
            }
        )
    return rows


def insert_rows(db: sqlite3.Connection, rows: Iterable[dict]) -> int:
    """Insert rows of `session_events`, passing over event ids that are known; return how many were new."""
    new = 0
    for row in rows:
        names = ", ".join(row)
        marks = ", ".join("?" * len(row))
        sql = f"INSERT OR IGNORE INTO session_events({names}) VALUES ({marks})"
        new += db.execute(sql, list(row.values())).rowcount
    return new


def _insert_others(db: sqlite3.Connection) -> None:
    for session, status, count in ((FINISHED, "completed", 2), (ACTIVE, "active", 1)):
        values = (session, status, _START + count, 1, count, "demo-model", "List the files.")
        db.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        db.execute("INSERT INTO messages(session_id, role, content) VALUES (?, 'user', 'hello')", (session,))
    db.execute("INSERT INTO collaboration_rooms VALUES ('room-1', 'Demo room')")
    for number, event in enumerate(("tool_exec_started", "tool_exec_ended")):
        text = compact({"_dispatch_duration_ms": 1.5, "n": number})
        db.execute(
            "INSERT INTO hook_events(occurred_at, session_id, turn_id, tool_call_id, event, payload_json,"
            " payload_hash) VALUES (?, ?, 'turn-a', 'call-a', ?, ?, ?)",
            (_START + number, FINISHED, event, text, sha256(text)),
        )


def create_store(db_path: str | Path, *, demo: bool = True) -> Path:
    """Make the database of a GEODE installation: one finished and one active session, and its other tables.

    `demo=False` leaves all tables empty.
    """
    with closing(sqlite3.connect(db_path)) as db, db:
        db.execute("PRAGMA journal_mode=WAL")
        db.executescript(SCHEMA + OTHER_TABLES)
        db.execute("INSERT INTO storage_schema VALUES ('session_events', 1, ?)", (_START,))
        if demo:
            insert_rows(db, _demo_rows())
            _insert_others(db)
    return Path(db_path)


def import_into(
    db_path: str | Path, source: str | Path, *, session_id: str | None = None, now: float = _START
) -> int:
    """Import one transcript as GEODE does, with its receipt; return the receipt's row count.

    The same bytes again change nothing; under another session id they are refused.
    """
    path = Path(source)
    receipt = session_id or path.stem
    digest = sha256(path.read_bytes())
    with closing(sqlite3.connect(db_path)) as db, db:
        db.executescript(SCHEMA)
        known = db.execute(
            "SELECT session_id, row_count FROM session_event_imports WHERE source_digest = ?", (digest,)
        ).fetchone()
        if known:
            if known[0] != receipt:
                raise Refused(f"the digest is recorded under {known[0]}, not {receipt}")
            return int(known[1])
        rows = import_legacy(source, session_id=session_id)
        insert_rows(db, rows)
        values = (digest, str(source), receipt, len(rows), now)
        db.execute("INSERT INTO session_event_imports VALUES (?, ?, ?, ?, ?)", values)
    return len(rows)


def read_payload(text: object, digest: object) -> tuple[dict, bool]:
    """Return a stored payload and whether it is corrupt; what cannot be trusted becomes its marker."""
    if not isinstance(text, str):
        return {"_corrupt_payload": True}, True
    try:
        value, actual = json.loads(text), sha256(text)
    except (ValueError, RecursionError):  # no JSON, or bytes that are no UTF-8
        return {"_corrupt_payload": True}, True
    if actual != digest:
        return {"_corrupt_payload": True, "_corrupt_reason": "payload_hash_mismatch"}, True
    return (value if isinstance(value, dict) else {"value": value}), False


def read_store(db_path: str | Path) -> list[dict]:
    """Return all rows of `session_events` in database order, each with `payload` and `corrupt_payload` added.

    A bad row hides none of the rest; a newer schema version is refused.
    """
    with closing(sqlite3.connect(f"file:{Path(db_path).resolve()}?mode=ro", uri=True)) as db:
        db.row_factory = sqlite3.Row
        db.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        version = db.execute(
            "SELECT version FROM storage_schema WHERE component = 'session_events'"
        ).fetchone()
        if version and version[0] > 1:
            raise Refused(f"session_events has the newer version {version[0]}")
        rows = [dict(row) for row in db.execute("SELECT * FROM session_events ORDER BY id")]
    for row in rows:
        row["payload"], row["corrupt_payload"] = read_payload(row["payload_json"], row["payload_hash"])
    return rows


def read_hook_events(db_path: str | Path, session_id: str) -> list[dict]:
    """Return the hook events of one session in id order, or none where the table is absent."""
    with closing(sqlite3.connect(f"file:{Path(db_path).resolve()}?mode=ro", uri=True)) as db:
        db.row_factory = sqlite3.Row
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'hook_events'").fetchone():
            return []
        sql = "SELECT * FROM hook_events WHERE session_id = ? ORDER BY id"
        return [dict(row) for row in db.execute(sql, (session_id,))]
