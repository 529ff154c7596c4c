"""What an `opencode.db` of any version holds, session by session."""

from __future__ import annotations

import base64
import sqlite3
from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec import sqlite_in
from geode_traj.codec.reading import Tolerated
from geode_traj.sources.opencode.record import Record, damaged, joined, object_of
from geode_traj.sources.tables import TableRow, rows

_NAMED: Final = ("id", "message_id", "session_id", "data")
_OF_SESSION: Final = "session_id = ?"
_OF_NONE: Final = "coalesce(session_id, '') = ?"
_ORPHAN: Final = "NOT EXISTS (SELECT 1 FROM message WHERE message.id = part.message_id)"


class Database:
    """The tables of one store; a column that is not there is unreported."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._tables = sqlite_in.tables(connection)

    def sessions(self) -> list[str]:
        """Return the ids of all sessions, those included of which only messages are left."""
        queries = ["SELECT id FROM session", "SELECT session_id FROM message"]
        owner = "session_id" if "session_id" in self._tables["part"] else "''"
        queries.append(f"SELECT {owner} FROM part WHERE {_ORPHAN}")  # noqa: S608 - fixed names
        found = self._db.execute(" UNION ".join(queries))
        return sorted({"" if key is None else _text(key) for (key,) in found})

    def records(self, key: str) -> Iterator[Record]:
        """Yield a session's records: itself, its messages in order, what is left of others, its plan."""
        for row in rows(self._db, "session", "SELECT * FROM session WHERE id = ?", (key,)):
            children = {"children": found} if (found := list(self._children(key))) else {}
            yield Record("session", key, _marked(row), children)
        seen = False
        for row in self._rows("message", _OF_SESSION if key else _OF_NONE, key):
            seen = True
            yield from self._message(key, row)
        yield from self._orphans(key)
        if not seen and "session_id" in self._tables.get("session_message", ()):
            for row in self._rows("session_message", "session_id = ?", key):
                yield from _beside("session_message", row)
        if "session_id" in self._tables.get("todo", ()):
            order = "position" if "position" in self._tables["todo"] else "rowid"
            query = f"SELECT * FROM todo WHERE session_id = ? ORDER BY {order}"  # noqa: S608 - fixed names
            plan = [row.values for row in rows(self._db, "todo", query, (key,))]
            if plan:
                yield Record("todo", key, Tolerated({"info": plan}))

    def _message(self, session: str, row: TableRow) -> Iterator[Record]:
        key = _text(row.values.get("id"))
        parts, told, broken = [], [], []
        for one in self._rows("part", "message_id = ?", key):
            read = object_of(_data(one))
            if isinstance(read, str):
                broken.append(damaged(_text(one.values.get("id")), read, _data(one)))
                continue
            parts.append(_named(read, {"id": one.values.get("id")}))
            told.append(_rest(one, session))
        read = object_of(_data(row))
        if isinstance(read, str):
            yield damaged(key, read, _data(row))
            if parts:
                info = Tolerated({"id": key})
                yield Record("parts", key, joined(info, parts), _rest(row, session), told)
        else:
            info = _named(read, {"id": row.values.get("id")})
            yield Record("message", key, joined(info, parts), _rest(row, session), told)
        yield from broken

    def _orphans(self, key: str) -> Iterator[Record]:
        """Yield parts of messages that are not there."""
        where = _OF_SESSION if key else _OF_NONE
        if "session_id" not in self._tables["part"]:
            where = "? = ''"
        for row in self._rows("part", f"{where} AND {_ORPHAN}", key):
            yield from _beside("part", row)

    def _children(self, key: str) -> Iterator[dict[str, Any]]:
        """Yield the sessions that name this one as theirs, in the order they began."""
        columns = self._tables["session"]
        if "parent_id" not in columns or not key:
            return
        told = [name for name in ("id", "title", "time_created") if name in columns]
        order = ", ".join(name for name in ("time_created", "id") if name in columns)
        query = f"SELECT {', '.join(told)} FROM session WHERE parent_id = ? ORDER BY {order}"  # noqa: S608
        for row in rows(self._db, "session", query, (key,)):
            if isinstance(row.values.get("id"), str):
                yield row.values

    def _rows(self, table: str, where: str, key: str) -> Iterator[TableRow]:
        """Yield rows of a table whose data is JSON, as bytes: text would hide which of them are damaged."""
        columns = self._tables[table]
        names = ", ".join(sorted(f'"{name}"' for name in columns - {"data"} if '"' not in name))
        order = ", ".join(name for name in ("time_created", "id") if name in columns) or "rowid"
        query = f"SELECT {names}, CAST(data AS BLOB) AS data FROM {table} WHERE {where} ORDER BY {order}"  # noqa: S608
        return rows(self._db, table, query, (key,))


def _beside(kind: str, row: TableRow) -> Iterator[Record]:
    """Yield a row that belongs to no message, whole."""
    key, read = _text(row.values.get("id")), object_of(_data(row))
    if isinstance(read, str):
        yield damaged(key, read, _data(row))
        return
    values = {name: value for name, value in row.values.items() if name != "data"}
    escaped = [f"/info/data{one}" for one in read.escaped]
    nonfinite = [f"/info/data{one}" for one in read.nonfinite]
    duplicates = {f"/info/data{one}": old for one, old in read.duplicates.items()}
    yield Record(
        kind, key, Tolerated({"info": {**values, "data": read.value}}, escaped, nonfinite, duplicates)
    )


def _named(read: Tolerated, ids: dict[str, Any]) -> Tolerated:
    """Return the object of a row with the ids that stand in columns of their own."""
    value = {**{name: one for name, one in ids.items() if one is not None}, **read.value}
    return Tolerated(value, read.escaped, read.nonfinite, read.duplicates)


def _rest(row: TableRow, session: str) -> dict[str, Any]:
    """Return what a row holds beside its data."""
    placed = set(_NAMED) - (set() if row.values.get("session_id", session) == session else {"session_id"})
    return {name: value for name, value in row.values.items() if name not in placed}


def _marked(row: TableRow) -> Tolerated:
    """Return a row of plain columns, with those that had to be mended."""
    escaped = [f"/info/{name}" for name in row.escaped]
    return Tolerated({"info": row.values}, escaped, [f"/info/{name}" for name in row.nonfinite])


def _data(row: TableRow) -> bytes:
    data = row.values.get("data")
    if isinstance(data, dict):
        return base64.b64decode(data["base64"])
    return data.encode() if isinstance(data, str) else b""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
