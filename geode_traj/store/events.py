"""Reading and writing `session_events` (record contract §2)."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jiter

from geode_traj.model.event import Row
from geode_traj.store.schema import has_table

_COLUMNS: Final = ", ".join(Row._fields)
_INSERT: Final = (
    f"INSERT OR IGNORE INTO session_events ({', '.join(Row._fields[1:])})"  # noqa: S608 - fixed names
    f" VALUES ({', '.join('?' * (len(Row._fields) - 1))})"
)
MAX_VARIABLES: Final = 500


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One line of `list`: a session's span, size and how it stands.

    `status` is ended, attested or open; times are Unix seconds; `sources` the distinct source names, sorted.
    """

    session_id: str
    status: str
    first: float
    last: float
    events: int
    generations: int
    sources: tuple[str, ...]


def insert(connection: sqlite3.Connection, rows: Sequence[Sequence[object]]) -> int:
    """Insert rows (columns of `Row` after `id`) and return how many were new; known event ids are skipped."""
    before = connection.total_changes
    connection.executemany(_INSERT, rows)
    return connection.total_changes - before


def known(connection: sqlite3.Connection, event_ids: Iterable[str]) -> dict[str, tuple[str, int, str]]:
    """Return {event_id: (session_id, generation, payload_json)} of the given ids that are stored."""
    found: dict[str, tuple[str, int, str]] = {}
    ids = list(event_ids)
    for start in range(0, len(ids), MAX_VARIABLES):
        part = ids[start : start + MAX_VARIABLES]
        marks = ",".join("?" * len(part))
        query = (
            "SELECT event_id, session_id, session_generation, payload_json FROM session_events"  # noqa: S608
            f" WHERE event_id IN ({marks})"
        )
        found.update((row[0], (row[1], row[2], row[3])) for row in connection.execute(query, part))
    return found


def max_generation(connection: sqlite3.Connection, session_id: str) -> int:
    """Return a session's highest generation, 0 when it has no events."""
    (highest,) = connection.execute(
        "SELECT max(session_generation) FROM session_events WHERE session_id = ?", (session_id,)
    ).fetchone()
    return highest or 0


def read(connection: sqlite3.Connection, session_ids: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of the sessions in database order.

    A row whose text is not UTF-8 is read with its bad bytes as surrogates, so that it hides no other row.
    """
    last = 0
    while True:
        try:
            for values in _select(connection, _COLUMNS, session_ids, f"AND id > {last} ORDER BY id"):
                last = values[0]
                yield Row._make(values)
            return
        except sqlite3.OperationalError as error:
            if connection.text_factory is not str or "decode" not in str(error):
                raise
            connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")


def _select(
    connection: sqlite3.Connection, columns: str, session_ids: Sequence[str], tail: str
) -> sqlite3.Cursor:
    where, parameter = "session_id = ?", session_ids[0] if session_ids else ""
    if len(session_ids) != 1:
        # One JSON parameter, since a batch may name more sessions than SQLite takes variables; the + keeps
        # the scan in rowid order, so that no sorter has to hold the payloads.
        where, parameter = "+session_id IN (SELECT value FROM json_each(?))", json.dumps(list(session_ids))
    query = f"SELECT {columns} FROM session_events WHERE {where} {tail}"  # noqa: S608 - fixed texts
    return connection.execute(query, (parameter,))


def last(connection: sqlite3.Connection, session_id: str) -> Row | None:
    """Return a session's latest event in database order, None without events."""
    values = _select(connection, _COLUMNS, [session_id], "ORDER BY id DESC LIMIT 1").fetchone()
    return Row._make(values) if values else None


def latest_time(connection: sqlite3.Connection, session_ids: Sequence[str]) -> float | None:
    """Return the greatest event time of the sessions in Unix seconds, None without events."""
    (latest,) = _select(connection, "max(occurred_at)", session_ids, "").fetchone()
    return float(latest) if latest is not None else None


def payload(row: Row) -> dict[str, Any]:
    """Decode a stored payload; a damaged one reads as the contract's corrupt marker, never as an error."""
    try:
        encoded = row.payload_json.encode()
        value = _parse(row.payload_json, encoded)
    except (ValueError, RecursionError, AttributeError):
        return {"_corrupt_payload": True}
    if hashlib.sha256(encoded).hexdigest() != row.payload_hash:
        return {"_corrupt_payload": True, "_corrupt_reason": "payload_hash_mismatch"}
    return value if isinstance(value, dict) else {"value": value}


def _parse(text: str, encoded: bytes) -> Any:
    try:
        return jiter.from_json(encoded, allow_inf_nan=False)
    except ValueError:
        return json.loads(text)  # lone surrogates, which GEODE's reader takes too


def summaries(connection: sqlite3.Connection) -> Iterator[SessionSummary]:
    """Yield every session of the store, by id."""
    if not has_table(connection, "session_events"):
        return
    rows = connection.execute(
        """SELECT e.session_id, min(e.occurred_at), max(e.occurred_at), count(*),
                  count(DISTINCT e.session_generation), json_group_array(DISTINCT e.source),
                  (SELECT l.kind || '/' || l.source FROM session_events AS l
                    WHERE l.session_id = e.session_id ORDER BY l.id DESC LIMIT 1)
             FROM session_events AS e GROUP BY e.session_id ORDER BY e.session_id"""
    )
    for session_id, first, last, count, generations, sources, tail in rows:
        status = "open"
        if tail.startswith("session.ended/"):
            status = "attested" if tail.endswith("/attestation") else "ended"
        yield SessionSummary(
            session_id, status, first, last, count, generations, tuple(sorted(json.loads(sources)))
        )
