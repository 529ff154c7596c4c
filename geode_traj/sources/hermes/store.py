"""What a Hermes `state.db` of any version holds, session by session."""

from __future__ import annotations

import hashlib
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from geode_traj.codec import sqlite_in
from geode_traj.codec.canonical import dumps
from geode_traj.sources.hermes import parts, session
from geode_traj.sources.tables import TableRow, rows

_MAX_DEPTH: Final = 64
_SAID: Final = ("role", "content", "tool_calls", "tool_call_id", "tool_name")
_PROMPT_KEYS: Final = ("hash", "prompt_hash", "sha256", "id")
_PROMPT_TEXTS: Final = ("content", "prompt", "text", "system_prompt")
_CHILD: Final = (
    "id", "parent_session_id", "source", "model", "model_config", "title", "started_at", "ended_at",
    "end_reason",
)  # fmt: skip


@dataclass(slots=True)
class State:
    """What identifies a session's state, how many records it has, and its first time."""

    digests: list[str]
    total: int = 0
    first_time: float | None = None


class Store(ABC):
    """Sessions with their rows, wherever they are kept."""

    @abstractmethod
    def sessions(self) -> list[str]:
        """Return the ids of all sessions, those included of which only messages are left."""

    @abstractmethod
    def head(self, key: str) -> Iterator[TableRow]:
        """Yield the session's own row, if there is one."""

    @abstractmethod
    def children(self, key: str) -> Iterator[TableRow]:
        """Yield the sessions delegated from this one, as table "child", in the order they started."""

    @abstractmethod
    def messages(self, key: str) -> Iterator[TableRow]:
        """Yield the session's messages in their order."""

    def usage(self, key: str) -> Iterator[TableRow]:
        """Yield the session's usage by model, provider and task."""
        return iter(())

    def delegations(self, key: str) -> Iterator[TableRow]:
        """Yield what the session delegated in the background."""
        return iter(())

    def state(self, key: str) -> State:
        """Return what identifies a session's state, how many records it has, and its first time."""
        state = State([])
        for row in self.records(key):
            state.digests.append(row.sha256)
            state.total += row.table != "child"
            time = row.values.get("started_at", row.values.get("timestamp"))
            if state.first_time is None:
                state.first_time = parts.moment(time)[0]
        return state

    def records(self, key: str) -> Iterator[TableRow]:
        """Yield a session's rows: its own, children's (as table "child"), messages, usage, delegations."""
        yield from self.head(key)
        yield from self.children(key)
        yield from self.messages(key)
        yield from self.usage(key)
        yield from self.delegations(key)

    def said(self, key: str, *, active: bool) -> list[tuple[str, bytes]]:
        """Return (key, digest of what it says) of a session's messages, `active` leaves out rewound ones."""
        return [
            (message_key(row), _says(row))
            for row in self.messages(key)
            if not active or row.values.get("active") != 0
        ]

    def depth(self, key: str) -> int:
        """Return how many sessions this one descends from, as far as it matters for an order."""
        seen = {key}
        while len(seen) < _MAX_DEPTH and (row := next(self.head(key), None)) is not None:
            link = session.lineage(row.values)
            if link is None or link[1] in seen:
                break
            key = link[1]
            seen.add(key)
        return len(seen) - 1


class Database(Store):
    """The tables of one `state.db`; a column that is not there is unreported."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._tables = sqlite_in.tables(connection)
        self._parents: set[object] = set()
        if "parent_session_id" in self._tables["sessions"]:
            query = "SELECT DISTINCT parent_session_id FROM sessions"
            self._parents = {key for (key,) in connection.execute(query)}

    def sessions(self) -> list[str]:
        """Return the ids of all sessions, those included of which only messages are left."""
        query = "SELECT id FROM sessions UNION SELECT session_id FROM messages"
        return sorted({"" if key is None else str(key) for (key,) in self._db.execute(query)})

    def head(self, key: str) -> Iterator[TableRow]:
        """Yield the session's own row, with the system prompt that it names by hash."""
        for row in rows(self._db, "sessions", "SELECT * FROM sessions WHERE id = ?", (key,)):
            prompt = self._system_prompt(row.values.get("system_prompt_hash"))
            if prompt is not None:
                row.values.setdefault("system_prompt", prompt)
            yield row

    def children(self, key: str) -> Iterator[TableRow]:
        """Yield the sessions that were delegated from this one, in the order they started."""
        columns = self._tables["sessions"]
        if key not in self._parents:
            return
        told = [name for name in _CHILD if name in columns]
        order = "started_at, id" if "started_at" in columns else "id"
        query = f"SELECT {', '.join(told)} FROM sessions WHERE parent_session_id = ? ORDER BY {order}"  # noqa: S608
        for row in rows(self._db, "child", query, (key,)):
            link = session.lineage(row.values)
            if link is not None and link[0] == "parent":
                yield row

    def messages(self, key: str) -> Iterator[TableRow]:
        """Yield the session's messages in their order."""
        where = "session_id = ?" if key else "coalesce(session_id, '') = ?"
        order = "id" if "id" in self._tables["messages"] else "rowid"
        query = f"SELECT * FROM messages WHERE {where} ORDER BY {order}"  # noqa: S608 - fixed names
        return rows(self._db, "messages", query, (key,))

    def usage(self, key: str) -> Iterator[TableRow]:
        """Yield the session's usage by model, provider and task."""
        if "session_id" in self._tables.get("session_model_usage", ()):
            query = "SELECT * FROM session_model_usage WHERE session_id = ? ORDER BY rowid"
            yield from rows(self._db, "session_model_usage", query, (key,))

    def delegations(self, key: str) -> Iterator[TableRow]:
        """Yield what the session delegated in the background."""
        columns = self._tables.get("async_delegations", frozenset())
        own = [name for name in ("parent_session_id", "origin_session") if name in columns]
        if own:
            told = ", ".join([*own, "NULL"])
            query = f"SELECT * FROM async_delegations WHERE coalesce({told}) = ? ORDER BY rowid"  # noqa: S608
            yield from rows(self._db, "async_delegations", query, (key,))

    def _system_prompt(self, key: object) -> Any:
        columns = self._tables.get("system_prompts", frozenset())
        name = next((one for one in _PROMPT_KEYS if one in columns), None)
        text = next((one for one in _PROMPT_TEXTS if one in columns), None)
        if key is None or name is None or text is None:
            return None
        query = f"SELECT {text} AS prompt FROM system_prompts WHERE {name} = ?"  # noqa: S608 - fixed names
        found = next(rows(self._db, "system_prompts", query, (key,)), None)
        return found.values.get("prompt") if found else None


def message_key(row: TableRow) -> str:
    """Return the store's own id of a message, where it has none its place among the session's."""
    return str(row.values["id"]) if "id" in row.values else f"#{row.place}"


def _says(row: TableRow) -> bytes:
    said = [row.values.get(name) for name in _SAID]
    return hashlib.sha256(dumps(said)).digest()
