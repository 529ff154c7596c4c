"""Rewriting what a store holds already, text by text: ids of events, their places and their times stay.

Whoever knows better what a text should have been (a rule for secrets that an import did not know yet) reads
the texts of a session here and puts others in their place, in a transaction of its own.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.pointer import put
from geode_traj.codec.reading import tolerant
from geode_traj.contract import bounds
from geode_traj.errors import DataError
from geode_traj.model.event import Row
from geode_traj.store import blobs
from geode_traj.store.schema import as_text, has_table

COLUMNS: Final = (
    "turn_id", "call_id", "parent_event_id", "kind", "role", "status", "model", "provider", "source",
)  # fmt: skip
"""The columns of an event that hold text of its source, beside its session."""

_SESSIONS: Final = (
    "session_events", "session_event_imports", "traj_import_sessions", "traj_damaged", "traj_links",
    "traj_content", "traj_blob_refs",
)  # fmt: skip
# Table, its columns that hold text of a source, and whose rows they are.
_BESIDE: Final = (
    ("traj_import_sessions", ("declared_json",), "session_id = ?1"),
    ("traj_damaged", ("source_path", "redacted"), "session_id = ?1"),
    ("traj_links", ("target",), "session_id = ?1"),
    ("traj_content", ("content_key",), "session_id = ?1"),
    (
        "session_event_imports",
        ("source_path",),
        "session_id = ?1 OR source_digest IN"
        " (SELECT source_digest FROM traj_import_sessions WHERE session_id = ?1)",
    ),
    (
        "traj_units",
        ("unit",),
        "event_id IN (SELECT event_id FROM session_events WHERE session_id = ?1)",
    ),
)
_PENDING: Final = "unscrubbed"


class Text(NamedTuple):
    """A text beside the events of a session: where it stands, and what it says."""

    table: str
    column: str
    value: str | bytes
    row: int
    line: int | None = None


class Body(NamedTuple):
    """What an event says: its payload with all bodies in their places, or `raw` where that is no JSON.

    `missing`: a body cannot be read.
    """

    whole: dict[str, Any]
    raw: str | None
    missing: bool


def session_ids(connection: sqlite3.Connection) -> list[Any]:
    """Return the ids of all sessions that any table names, sorted, as they are stored; "" is nobody's."""
    found: set[Any] = set()
    for table in _SESSIONS:
        if has_table(connection, table):
            rows = connection.execute(f"SELECT DISTINCT session_id FROM {table}")  # noqa: S608 - fixed names
            found.update(session_id for (session_id,) in rows)
    return sorted(found, key=as_text)


def beside(connection: sqlite3.Connection, session_id: str) -> Iterator[Text]:
    """Yield the texts that hang on a session beside its events: declared data, damage, links, paths, keys."""
    ours = has_table(connection, "traj_import_sessions")
    for table, columns, where in _BESIDE:
        if not has_table(connection, table):
            continue
        own = where if ours else where.partition(" OR ")[0]
        line = "line" if table == "traj_damaged" else "NULL"
        query = f"SELECT rowid, {line}, {', '.join(columns)} FROM {table} WHERE {own} ORDER BY 1"  # noqa: S608
        for row, number, *values in connection.execute(query, (session_id,)):
            for column, value in zip(columns, values, strict=True):
                if isinstance(value, str | bytes):
                    yield Text(table, column, value, row, number)


def foreign(connection: sqlite3.Connection) -> Iterator[Text]:
    """Yield the texts of the tables in the database that are another program's, rows counted from 1."""
    ours = {"sqlite_sequence", "storage_schema", "traj_blobs", "traj_redactions", "traj_secrets", *_SESSIONS}
    ours |= {table for table, _, _ in _BESIDE}
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY 1"
    ).fetchall()  # a virtual table keeps its rows in tables of its own
    for (name,) in tables:
        if name in ours or not isinstance(name, str):
            continue
        quoted = name.replace('"', '""')
        rows = connection.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 - quoted
        columns = [column[0] for column in rows.description]
        for number, values in enumerate(rows, start=1):
            for column, value in zip(columns, values, strict=True):
                if isinstance(value, str | bytes) and value:
                    yield Text(name, column, value, number)


def replace(connection: sqlite3.Connection, text: Text, value: str | bytes) -> None:
    """Put another value wherever a column of a table holds the text: a path or a unit is named in many rows.

    Where a later import has brought a row that is the same now, that one stays.
    """
    table, column = text.table, text.column
    connection.execute(
        f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {column} = ?",  # noqa: S608 - fixed names
        (value, text.value),
    )
    connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (text.value,))  # noqa: S608 - fixed names


def parsed(text: str) -> Any:
    """Return a text that is JSON as a value, None where it is none or where a repeated key hides values."""
    try:
        read = tolerant(text.encode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return None if read.duplicates else read.value


def declared_text(declared: dict[str, Any]) -> str:
    """Return what a source declared as the store keeps it."""
    return json.dumps(declared, sort_keys=True)


def key_digest(key: str) -> str:
    """Return what the store keeps of a content key (`traj_content`)."""
    return sha256_bytes(key.encode("utf-8", "surrogatepass"))


def rename_session(connection: sqlite3.Connection, old: str, new: str) -> None:
    """Give a session another id wherever it is named."""
    for table in _SESSIONS:
        connection.execute(f"UPDATE OR IGNORE {table} SET session_id = ? WHERE session_id = ?", (new, old))  # noqa: S608
        connection.execute(f"DELETE FROM {table} WHERE session_id = ?", (old,))  # noqa: S608 - fixed names


def body(connection: sqlite3.Connection, row: Row, kept: list[tuple[str, str]]) -> Body:
    """Return what an event says; `kept` are (pointer, SHA-256) of its bodies (`store.blobs.references`)."""
    text = as_text(row.payload_json)
    try:
        read = tolerant(text.encode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return Body({}, text, missing=False)
    if read.duplicates:  # what a repeated key held before is text, too
        return Body({}, text, missing=False)
    whole = read.value if isinstance(read.value, dict) else {"value": read.value}
    marks = {"_escaped": list(read.escaped), "_nonfinite": list(read.nonfinite)}
    whole |= {key: pointers for key, pointers in marks.items() if pointers}
    if kept:
        whole.pop("_blobs", None)
    for pointer, sha256 in kept:
        try:
            data = blobs.read(connection, sha256)
        except DataError:
            return Body(whole, None, missing=True)
        if pointer:
            put(whole, pointer, data)
        else:
            whole = data
    return Body(whole, None, missing=False)


def row(connection: sqlite3.Connection, event_id: str) -> Row | None:
    """Return an event as it stands now, None where it is gone."""
    query = f"SELECT {', '.join(Row._fields)} FROM session_events WHERE event_id = ?"  # noqa: S608 - fixed names
    values = connection.execute(query, (event_id,)).fetchone()
    return None if values is None else Row._make(values)


def write_columns(connection: sqlite3.Connection, row: Row, values: dict[str, str]) -> None:
    """Give columns of an event other texts."""
    for column, value in values.items():
        connection.execute(
            f"UPDATE session_events SET {column} = ? WHERE id = ?",  # noqa: S608 - fixed names
            (value, row.id),
        )


def write_payload(
    connection: sqlite3.Connection, row: Row, payload: dict[str, Any], *, bounded: bool
) -> None:
    """Give an event another payload; one that was `bounded` is cut again, with its bodies kept whole.

    A hash that was wrong stays wrong: what was corrupt is not made sound by being rewritten.
    """
    encoded = dumps(payload)
    bodies: bounds.Bodies = []
    if bounded and not (len(encoded) <= bounds.MAX_BYTES and bounds.examine(payload)[0]):
        encoded, bodies = bounds.cut(payload)
    write_raw(connection, row, encoded.decode())
    connection.execute("DELETE FROM traj_blob_refs WHERE event_id = ?", (row.event_id,))
    blobs.write(connection, row.event_id, row.session_id, bodies)


def write_raw(connection: sqlite3.Connection, row: Row, text: str) -> None:
    """Give an event another text as its payload."""
    old = as_text(row.payload_json).encode("utf-8", "surrogatepass")
    sound = sha256_bytes(old) == row.payload_hash
    new = sha256_bytes(text.encode()) if sound else row.payload_hash
    connection.execute(
        "UPDATE session_events SET payload_json = ?, payload_hash = ? WHERE id = ?", (text, new, row.id)
    )


def mark_pending(connection: sqlite3.Connection) -> None:
    """End a rewriting in the open transaction: unused bodies go, and copies may still be in the files."""
    connection.execute("DELETE FROM traj_blobs WHERE sha256 NOT IN (SELECT sha256 FROM traj_blob_refs)")
    connection.execute("INSERT OR IGNORE INTO traj_secrets (name, value) VALUES (?, x'01')", (_PENDING,))


def is_pending(connection: sqlite3.Connection) -> bool:
    """Tell whether a rewriting was not followed to its end by a rewriting of the files."""
    return connection.execute("SELECT 1 FROM traj_secrets WHERE name = ?", (_PENDING,)).fetchone() is not None


def clear_pending(connection: sqlite3.Connection) -> None:
    """Note that the files hold no copies any more."""
    connection.execute("DELETE FROM traj_secrets WHERE name = ?", (_PENDING,))
