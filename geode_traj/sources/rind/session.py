"""What a Rind session's head tells: its start, how its last turn ended, whose child it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event, Link, Loss
from geode_traj.sources.fields import without
from geode_traj.sources.rind.events import Maker, Record, word

_ENDED: Final = {"completed": "completed", "failed": "error", "cancelled": "interrupted"}
_WORDS: Final = ("title", "cwd")


def head(maker: Maker, meta: Record) -> Event:
    """Return the session's start; usage snapshots of the head are estimates and stay beside."""
    row = meta.row
    payload: dict[str, Any] = {key: row[key] for key in _WORDS if key in row}
    fields = without(row, *_WORDS, "session_id", "created_at", "model", "provider")
    columns = {key: word(row, key) for key in ("model", "provider")}
    return maker.event(
        "session.started", meta, payload, fields, stamp="created_at", status="active", **columns
    )


def last_turn(maker: Maker, meta: Record, turn_ids: set[str]) -> Iterator[Event]:
    """Yield the end of the last turn, the only one the head knows of; one that runs has not ended."""
    state = meta.row.get("turn_state")
    status = word(state, "status") if isinstance(state, dict) else ""
    if status not in _ENDED or not isinstance(state, dict):
        return
    own = word(state, "turn_id")
    # Where no row gave its turn, a turn of that id would hold nothing but its end.
    turn_id = own if own in turn_ids else ""
    inner = Record(meta.file, meta.line, meta.sha256, Tolerated(state), meta.key)
    fields = without(state, "status", "ts") if not turn_id else without(state, "status", "ts", "turn_id")
    payload = {"termination_reason": status}
    yield maker.event(
        "turn.completed", inner, payload, fields, n=1, stamp="ts", status=_ENDED[status], turn_id=turn_id
    )


def links(maker: Maker, meta: Record, rows: int) -> Iterator[Link | Loss]:
    """Yield the session's parent, and how many messages it counts that are not there."""
    parent = word(meta.row, "parent_session_id")
    if parent:
        kind = "fork" if "fork" in word(meta.row, "session_type") else "parent"
        yield Link(maker.session_id, kind, parent)
    counted = meta.row.get("message_count")
    if type(counted) is int and rows < counted < 1 << 63:
        yield Loss("messages_counted_but_missing", counted - rows)
