"""GEODE's own index of sessions, read only: table `sessions`, else one `state.json` a session (§15).

The index belongs to GEODE: any column may be missing or of another type, and none is believed to be text.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from geode_traj.codec.files import read_bounded
from geode_traj.contract.times import is_calendar
from geode_traj.errors import TrajError, WorldError
from geode_traj.store.schema import has_table

_COLUMNS: Final = (
    "session_id",
    "status",
    "updated_at",
    "round_count",
    "message_count",
    "model",
    "user_input",
)
_TEXT_BOUND: Final = 4096
_MAX_STATE: Final = 16 << 20
_MAX_MESSAGES: Final = 256 << 20


@dataclass(frozen=True, slots=True)
class IndexedSession:
    """One session as GEODE's index has it; `updated_at` in Unix seconds, 0 where it is unknown."""

    session_id: str
    status: str
    updated_at: float
    rounds: int
    messages: int
    model: str
    user_input: str


def from_table(connection: sqlite3.Connection, limit: int) -> list[IndexedSession]:
    """Return the newest `limit` rows of table `sessions`, newest first; none where there is no such table."""
    if not has_table(connection, "sessions"):
        return []
    there = {row[0] for row in connection.execute("SELECT name FROM pragma_table_info('sessions')")}
    # A text may be huge, and bytes that are no UTF-8 must hide no other row.
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    columns = ", ".join(
        "NULL" if name not in there else f"substr({name}, 1, {_TEXT_BOUND})" if name == "user_input" else name
        for name in _COLUMNS
    )
    query = f"SELECT {columns} FROM sessions ORDER BY 3 DESC, 1 LIMIT ?"  # noqa: S608 - fixed names
    return [_session(*row) for row in connection.execute(query, (limit,))]


def from_folders(folder: Path, limit: int) -> tuple[list[IndexedSession], int]:
    """Return the newest `limit` sessions by `<folder>/<id>/state.json`, and how many could not be read.

    The messages are those in `messages.json` beside it. Raises `WorldError` TE201 for an unreadable folder.
    """
    try:
        states = sorted(folder.glob("*/state.json"))
    except OSError as error:
        raise WorldError("TE201", path=folder.name, why=error.strerror, place=str(folder)) from None
    found = []
    for path in states:
        state = _load(path, _MAX_STATE)
        if isinstance(state, dict):
            messages = _load(path.with_name("messages.json"), _MAX_MESSAGES)
            found.append(
                _session(
                    state.get("session_id", path.parent.name),
                    state.get("status"),
                    state.get("updated_at"),
                    state.get("round_idx"),
                    len(messages) if isinstance(messages, list) else 0,
                    state.get("model"),
                    state.get("user_input"),
                )
            )
    found.sort(key=lambda session: (-session.updated_at, session.session_id))
    return found[:limit], len(states) - len(found)


def _load(path: Path, limit: int) -> Any:
    try:
        return json.loads(read_bounded(path, limit))
    except (TrajError, ValueError, RecursionError):
        return None


def _session(
    session_id: Any, status: Any, updated_at: Any, rounds: Any, messages: Any, model: Any, user_input: Any
) -> IndexedSession:
    return IndexedSession(
        session_id=_text(session_id),
        status=_text(status),
        updated_at=float(updated_at) if is_calendar(updated_at) else 0.0,
        rounds=_count(rounds),
        messages=_count(messages),
        model=_text(model),
        user_input=_text(user_input),
    )


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "surrogateescape")
    return "" if value is None else str(value)[:_TEXT_BOUND]


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and abs(value) < 1 << 63 else 0
