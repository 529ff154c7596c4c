"""Receipts of imports, the sessions each source gave, and the lines that could not be read."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from typing import Any, Final

from geode_traj.errors import DataError
from geode_traj.store.schema import has_table

_DAMAGED: Final = (
    "source_digest, source_path, session_id, line, byte_offset, length, sha256, reason, redacted"
)


@dataclass(frozen=True, slots=True)
class Receipt:
    """One row of `session_event_imports`: which session GEODE's rule files these bytes under."""

    source_digest: str
    source_path: str
    session_id: str
    row_count: int


@dataclass(frozen=True, slots=True)
class DamagedLine:
    """A line kept beside the events: where it stood, its digest, why, and its redacted bytes if they fit."""

    source_digest: str
    source_path: str
    session_id: str
    line: int
    offset: int
    length: int
    sha256: str
    reason: str
    redacted: bytes | None


def receipt(connection: sqlite3.Connection, digest: str) -> Receipt | None:
    """Return the receipt of a source digest, None when these bytes were never imported."""
    if not has_table(connection, "session_event_imports"):
        return None
    row = connection.execute(
        "SELECT source_digest, source_path, session_id, row_count FROM session_event_imports"
        " WHERE source_digest = ?",
        (digest,),
    ).fetchone()
    return Receipt(*row) if row else None


def path_known(connection: sqlite3.Connection, path: str) -> bool:
    """Tell whether any bytes were imported from that path before (then this source may have grown)."""
    found = connection.execute("SELECT 1 FROM session_event_imports WHERE source_path = ? LIMIT 1", (path,))
    return found.fetchone() is not None


def write_receipt(connection: sqlite3.Connection, given: Receipt) -> None:
    """Record an import in the caller's transaction."""
    connection.execute(
        "INSERT OR REPLACE INTO session_event_imports"
        " (source_digest, source_path, session_id, row_count, imported_at) VALUES (?, ?, ?, ?, ?)",
        (given.source_digest, given.source_path, given.session_id, given.row_count, time.time()),
    )


def write_sessions(
    connection: sqlite3.Connection,
    digest: str,
    format_name: str,
    sessions: dict[str, tuple[int, dict[str, Any]]],
) -> None:
    """Tie a source to its sessions: {session_id: (events, what the source declared)}."""
    connection.executemany(
        "INSERT OR REPLACE INTO traj_import_sessions"
        " (source_digest, session_id, format, events, declared_json) VALUES (?, ?, ?, ?, ?)",
        [
            (digest, session_id, format_name, events, json.dumps(declared, sort_keys=True))
            for session_id, (events, declared) in sessions.items()
        ],
    )


def forget_declared(connection: sqlite3.Connection, path: str, session_ids: Iterable[str]) -> None:
    """Drop what earlier states of a path declared of sessions: the state that comes now speaks for it."""
    connection.executemany(
        "UPDATE traj_import_sessions SET declared_json = '{}' WHERE session_id = ? AND source_digest IN"
        " (SELECT source_digest FROM session_event_imports WHERE source_path = ?)",
        [(session_id, path) for session_id in session_ids],
    )


def declared(connection: sqlite3.Connection, session_ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return what the sources of some sessions declared, each source once, in import order."""
    if not has_table(connection, "traj_import_sessions"):
        return []
    found: dict[tuple[int, str], dict[str, Any]] = {}
    sources: set[str] = set()
    for session_id in session_ids:
        rows = connection.execute(
            "SELECT id, source_digest, declared_json FROM traj_import_sessions"
            " WHERE session_id = ? AND declared_json != '{}'",
            (session_id,),
        )
        for row_id, digest, text in rows:
            if digest not in sources:
                sources.add(digest)
                found[row_id, digest] = _checked(text)
    return [found[key] for key in sorted(found)]


def _checked(text: object) -> dict[str, Any]:
    """Read what a source declared; raise `DataError` TE505 where the store holds something else."""
    kinds = {
        "scope": list,
        "replay": list,
        "redactions": list,
        "sessions": list,
        "head": dict,
        "damaged_lines": int,
    }
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        value = None
    if isinstance(value, dict) and all(
        isinstance(value.get(key, kind()), kind) for key, kind in kinds.items()
    ):
        reasons = [*value.get("scope", []), *value.get("replay", [])]
        if all(isinstance(reason, str) for reason in reasons):
            return value
    raise DataError("TE505", why="what an import declared cannot be read")


def write_damaged(connection: sqlite3.Connection, lines: list[DamagedLine]) -> None:
    """Keep damaged lines; one already kept from an earlier state of the same file stays as it is."""
    connection.executemany(
        f"INSERT OR IGNORE INTO traj_damaged ({_DAMAGED}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        [astuple(line) for line in lines],
    )


def damaged_of(connection: sqlite3.Connection, path: str) -> list[tuple[int, DamagedLine]]:
    """Return (row id, line) of a path's damaged lines: one that was torn may have grown whole since."""
    rows = connection.execute(
        f"SELECT id, {_DAMAGED} FROM traj_damaged WHERE source_path = ? ORDER BY id",  # noqa: S608
        (path,),
    )
    return [(row[0], DamagedLine(*row[1:])) for row in rows]


def forget_damaged(connection: sqlite3.Connection, row_ids: list[int]) -> None:
    """Drop damaged lines that are now whole events."""
    connection.executemany("DELETE FROM traj_damaged WHERE id = ?", [(row_id,) for row_id in row_ids])


def damaged(connection: sqlite3.Connection, session_id: str) -> Iterator[DamagedLine]:
    """Yield the damaged lines of a session in the order they were met."""
    if not has_table(connection, "traj_damaged"):
        return
    rows = connection.execute(
        f"SELECT {_DAMAGED} FROM traj_damaged WHERE session_id = ? ORDER BY id",  # noqa: S608
        (session_id,),
    )
    for row in rows:
        yield DamagedLine(*row)


def count_damaged(connection: sqlite3.Connection, session_id: str) -> int:
    """Return how many damaged lines a session's sources hold."""
    if not has_table(connection, "traj_damaged"):
        return 0
    (count,) = connection.execute(
        "SELECT count(*) FROM traj_damaged WHERE session_id = ?", (session_id,)
    ).fetchone()
    return int(count)
