"""Verifying a GEODE store, `sessions.db`: every session as it would be exported, and its hook events.

The database is read from a private copy; nothing is written, no log file is left beside it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from geode_traj.codec import sqlite_in
from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes, sha256_file
from geode_traj.codec.framed import Document, EventText
from geode_traj.export.trajectory import Export
from geode_traj.jobs import plans
from geode_traj.jobs.found import Found, Watch
from geode_traj.jobs.verify_records import HOOK_EVENTS, Judge
from geode_traj.model.finding import Place
from geode_traj.sources.base import Probe
from geode_traj.store import events, opening, schema
from geode_traj.verify import Verified, verify_document

_EVENTS: Final = frozenset({"event_id", "session_id", "payload_json", "payload_hash"})
_HOOKS: Final = frozenset({"payload_json", "payload_hash", "dispatch_mode"})
_CORRUPT: Final = {"_corrupt_payload": True}
_MISMATCH: Final = {**_CORRUPT, "_corrupt_reason": "payload_hash_mismatch"}


def is_store(probe: Probe) -> bool:
    """Tell whether a file is a database with GEODE's tables; raise as `sqlite_in.shared`."""
    tables = probe.tables()
    none = frozenset[str]()
    return tables.get("session_events", none) >= _EVENTS or tables.get("hook_events", none) >= _HOOKS


def verify_store(path: Path, watch: Watch | None) -> Iterator[Verified]:
    """Yield a result for each session, by id, then one for the hook events.

    Raises `DataError` TE502 for a store of a newer version, TE505 for a damaged one.
    """
    sha256, size = sha256_file(path)
    with opening.translated(path), sqlite_in.shared(path) as connection:
        schema.check_versions(connection)
        sessions = [summary.session_id for summary in events.summaries(connection)]
        for session_id in sessions:
            own = Found(str(path), sha256, size)
            document = _hashed(Export(connection, [session_id]).document(), own)
            document = watch(document) if watch else document
            result = verify_document(document, name=own.file, sha256=sha256, size=size, plan=plans.of(watch))
            verdict = "invalid" if own.verdict == "invalid" else result.verdict
            findings = (*own.findings, *result.findings)
            yield replace(result, name=f"{path}#{session_id}", verdict=verdict, findings=findings)
        hooks = Found(str(path), sha256, size, HOOK_EVENTS.schema_id)
        count = _hook_events(connection, hooks)
        if count:
            yield hooks.result(f"{path}#hook_events", count)
        if not sessions and not count:
            yield hooks.unreadable(str(path), "it holds no session")


def _hashed(document: Document, found: Found) -> Document:
    """Tell of each event whose stored payload is not what its hash says."""
    inner = document.events

    def watched() -> Iterator[EventText]:
        for text in inner:
            payload = text.value["payload"]
            if payload.get("_corrupt_payload") is True:
                marker = _MISMATCH if "_corrupt_reason" in payload else _CORRUPT
                if payload.get("source_payload_hash") != sha256_bytes(dumps(marker)):  # else stored as such
                    what = "does not match its hash" if marker is _MISMATCH else "is not JSON"
                    place = Place(found.file, ordinal=text.ordinal)
                    found.add("GT550", f"the stored payload {what}", place)
            yield text

    document.events = watched()
    return document


def _hook_events(connection: sqlite3.Connection, found: Found) -> int:
    if not schema.has_table(connection, "hook_events"):
        return 0
    cursor = connection.execute("SELECT * FROM hook_events ORDER BY rowid")
    names = [column[0] for column in cursor.description]
    judge = Judge(HOOK_EVENTS, found)
    for number, values in enumerate(cursor, start=1):
        row = dict(zip(names, map(_text, values), strict=True))
        judge.record(row, Place(found.file, ordinal=row["id"] if type(row.get("id")) is int else number))
    return judge.records


def _text(value: object) -> object:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value
