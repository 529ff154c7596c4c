"""Reading and writing `session_events` (record contract §2)."""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jiter

from geode_traj.codec.reading import tolerant
from geode_traj.contract.times import END, FIRST
from geode_traj.model.event import Row
from geode_traj.store.schema import as_text, has_table, text_or_bytes

_COLUMNS: Final = ", ".join(Row._fields)
_INSERT: Final = (
    f"INSERT OR IGNORE INTO session_events ({', '.join(Row._fields[1:])})"  # noqa: S608 - fixed names
    f" VALUES ({', '.join('?' * (len(Row._fields) - 1))})"
)
_CALENDAR: Final = f"typeof(occurred_at) = 'real' AND occurred_at >= {FIRST} AND occurred_at < {END}"
MAX_VARIABLES: Final = 500
_SOUND: Final = frozenset(
    (int, str, float, str, int, str, str, parent, *(str,) * 8) for parent in (str, type(None))
)


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


def lowest_generations(connection: sqlite3.Connection, event_ids: Iterable[str]) -> dict[str, int]:
    """Return {session_id: lowest generation} of stored events."""
    lowest: dict[str, int] = {}
    for session_id, generation, _ in known(connection, event_ids).values():
        lowest[session_id] = min(generation, lowest.get(session_id, generation))
    return lowest


def max_generation(connection: sqlite3.Connection, session_id: str) -> int:
    """Return a session's highest generation, 0 when it has no events."""
    (highest,) = connection.execute(
        "SELECT max(session_generation) FROM session_events WHERE session_id = ?", (session_id,)
    ).fetchone()
    return highest or 0


def read(connection: sqlite3.Connection, session_ids: Sequence[str]) -> Iterator[Row]:
    r"""Yield the rows of the sessions in database order; a bad one hides none of the rest.

    SQLite keeps what it is given: bytes that are no UTF-8 are written `\xNN`, values of another type as text
    (a time as NaN, a generation as 1). Only `payload_json` stays as it is, for `payload` to judge.
    """
    lenient, connection.text_factory = connection.text_factory, str  # sound text costs no call a column
    try:
        last = 0
        while True:
            try:
                for values in _select(connection, _COLUMNS, session_ids, f"AND id > {last} ORDER BY id"):
                    last = values[0]
                    yield Row._make(values) if tuple(map(type, values)) in _SOUND else _mended(values)
                return
            except sqlite3.OperationalError as error:
                if connection.text_factory is not str or "decode" not in str(error):
                    raise
                connection.text_factory = text_or_bytes
    finally:
        connection.text_factory = lenient


def _mended(values: Sequence[Any]) -> Row:
    mended = {name: as_text(value) for name, value in zip(Row._fields, values, strict=True)}
    row = Row._make(values)
    return Row._make(mended.values())._replace(
        id=row.id,
        occurred_at=row.occurred_at if isinstance(row.occurred_at, float) else math.nan,
        session_generation=row.session_generation if isinstance(row.session_generation, int) else 1,
        parent_event_id=None if row.parent_event_id is None else mended["parent_event_id"],
        payload_json=row.payload_json,
    )


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
    if values is None:
        return None
    return Row._make(values) if tuple(map(type, values)) in _SOUND else _mended(values)


def latest_time(connection: sqlite3.Connection, session_ids: Sequence[str]) -> float | None:
    """Return the greatest calendar time of the sessions in Unix seconds, None without events.

    0 where no event has one.
    """
    columns = f"count(*), max(CASE WHEN {_CALENDAR} THEN occurred_at END)"
    count, latest = _select(connection, columns, session_ids, "").fetchone()
    return (latest or 0.0) if count else None


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
        return json.loads(text)  # lone surrogates and NaN, which GEODE's reader takes too


def storable(payload: dict[str, Any]) -> dict[str, Any]:
    """Return a payload as an import would have stored it: what JSON cannot hold as words, told by pointer."""
    read = tolerant(json.dumps(payload).encode())
    marks = {"_escaped": read.escaped, "_nonfinite": read.nonfinite}
    return {**read.value, **{key: pointers for key, pointers in marks.items() if pointers}}


def summaries(connection: sqlite3.Connection) -> Iterator[SessionSummary]:
    """Yield every session of the store, by id."""
    if not has_table(connection, "session_events"):
        return
    connection.text_factory = text_or_bytes
    rows = connection.execute(
        f"""SELECT e.session_id, coalesce(min(e.calendar), 0.0), coalesce(max(e.calendar), 0.0), count(*),
                  count(DISTINCT e.session_generation), json_group_array(DISTINCT CAST(e.source AS TEXT)),
                  (SELECT l.kind || '/' || l.source FROM session_events AS l
                    WHERE l.session_id = e.session_id ORDER BY l.id DESC LIMIT 1)
             FROM (SELECT *, CASE WHEN {_CALENDAR} THEN occurred_at END AS calendar FROM session_events) AS e
            GROUP BY e.session_id ORDER BY e.session_id"""  # noqa: S608 - fixed texts
    )
    for session_id, first, last, count, generations, sources, tail in rows:
        status = "open"
        if as_text(tail).startswith("session.ended/"):
            status = "attested" if as_text(tail).endswith("/attestation") else "ended"
        names = tolerant(sources if isinstance(sources, bytes) else sources.encode()).value
        yield SessionSummary(
            as_text(session_id), status, first, last, count, generations, tuple(sorted(names))
        )
