"""Events of a Hermes session that are no messages: start, usage, sub-agents beside the talk, end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from geode_traj.model.event import Event
from geode_traj.sources import values
from geode_traj.sources.base import Input
from geode_traj.sources.hermes import parts, session
from geode_traj.sources.hermes.messages import Messages
from geode_traj.sources.tables import TableRow


class Work:
    """Makes these events for one session."""

    def __init__(self, given: Input, session_id: str) -> None:
        self._given = given
        self._session = session_id

    def started(self, head: TableRow, line: int) -> Event:
        """Return the session's start: its model, where it ran, what it declares of itself."""
        payload, placed = session.started(head.values)
        seconds, rule = parts.moment(head.values.get("started_at"))
        if seconds is not None:
            placed["started_at"] = ""
        event = self._event("session.started", head, line, payload, {"id", "model"} | placed.keys())
        event.payload["_legacy"]["file_digest"] = self._given.file_sha256
        event.time, event.time_rule = seconds, rule
        event.status = "active"
        event.escaped = _moved(head.escaped, placed)
        event.nonfinite = _moved(head.nonfinite, placed)
        return event

    def usage(self, row: TableRow, line: int) -> Event:
        """Return the usage of one model, provider and task; its counters are sums over the session."""
        payload = session.usage(row.values, row.values.get("task")) or {}
        provider = row.values.get("provider", row.values.get("billing_provider"))
        event = self._event("usage.recorded", row, line, payload, {"session_id", "model"})
        event.provider = provider if isinstance(provider, str) else ""
        times = (row.values.get(name) for name in ("last_seen", "last_seen_at", "updated_at"))
        event.time = next((time for time in map(_seconds, times) if time is not None), None)
        return event

    def ended(self, head: TableRow, line: int, *, used: bool) -> Iterator[Event]:
        """Yield the session's own counters, unless they were told by model, and its end, if it has one."""
        counted = None if used else session.usage(head.values)
        if counted is not None:
            yield self._event("usage.recorded", head, line, counted, None, n=1)
        if head.values.get("ended_at") is not None:
            payload, status = session.ended(head.values)
            event = self._event("session.ended", head, line, payload, None, n=2)
            event.time, event.time_rule = parts.moment(head.values["ended_at"])
            event.status = status
            yield event

    def beside(
        self, head: TableRow | None, children: list[TableRow], delegations: list[TableRow], before: int
    ) -> Beside:
        """Return what other agents did meanwhile; delegations are the records after line `before`."""
        events: list[Event] = []
        told = set()
        for line, row in enumerate(delegations, start=before + 1):
            told.add(_child_of(row))
            events += self._delegation(row, line)
        n = 3
        for row in children:
            if head is not None and values.text(row.values.get("id")) not in told:
                events += self._child(head, row, n)
            n += 2
        return Beside(events)

    def _delegation(self, row: TableRow, line: int) -> Iterator[Event]:
        placed = {"delegation_id", "state", "dispatched_at", "completed_at"}
        payload = {
            "delegation_id": row.values.get("delegation_id"),
            "child_session_id": _child_of(row) or None,
            "dispatched_at": row.values.get("dispatched_at"),
            "completed_at": row.values.get("completed_at"),
            "state": row.values.get("state"),
        }
        started = self._event("subagent.started", row, line, payload, placed)
        started.time = _seconds(row.values.get("dispatched_at"))
        yield started
        ended = _seconds(row.values.get("completed_at"))
        if ended is not None:
            result = parts.embedded(row.values.get("result_json"))
            stopped = {**payload, "result": result}
            event = self._event("subagent.stopped", row, line, stopped, None, n=1)
            event.time, event.status = ended, values.text(row.values.get("state"))
            yield event

    def _child(self, head: TableRow, row: TableRow, n: int) -> Iterator[Event]:
        child = row.values
        payload = {"child_session_id": child.get("id"), "title": child.get("title")}
        started = self._event("subagent.started", head, 1, payload, None, n=n)
        started.time = _seconds(child.get("started_at"))
        started.model = child["model"] if isinstance(child.get("model"), str) else ""
        yield started
        if child.get("ended_at") is not None:
            ended, status = session.ended(child)
            event = self._event("subagent.stopped", head, 1, payload | ended, None, n=n + 1)
            event.time, event.status = _seconds(child["ended_at"]), status
            yield event

    def _event(
        self,
        kind: str,
        row: TableRow,
        line: int,
        payload: dict[str, Any],
        placed: set[str] | None,
        *,
        n: int = 0,
    ) -> Event:
        """Return an event of a row; what has no place is kept in its first event (`placed` not None)."""
        legacy: dict[str, Any] = {
            "event": row.table,
            "line_number": line,
            "source_digest": self._given.sha256,
            "source_path": self._given.name,
        }
        if placed is not None:
            fields = {key: value for key, value in row.values.items() if key not in placed}
            if fields:
                legacy["fields"] = fields
        model = row.values.get("model")
        return Event(
            kind=kind,
            session_id=self._session,
            line=line,
            record_sha256=row.sha256,
            payload={**payload, "_legacy": legacy},
            key=f"{row.table}:{row.values.get('id', row.values.get('delegation_id', line))}",
            n=n,
            model=model if isinstance(model, str) else "",
            escaped=_moved(row.escaped, {}) if n == 0 else (),
            nonfinite=_moved(row.nonfinite, {}) if n == 0 else (),
        )


class Beside:
    """Events that happened beside a conversation, to be told at their time."""

    def __init__(self, events: list[Event]) -> None:
        self._events = sorted(events, key=lambda event: (event.time is None, event.time or 0.0, event.n))

    def until(self, time: float | None, messages: Messages) -> Iterator[Event]:
        """Yield what happened before a message of that time, which nothing may overtake."""
        while self._events and time is not None and (own := self._events[0].time) is not None and own < time:
            yield from messages.end()
            yield self._events.pop(0)

    def rest(self) -> Iterator[Event]:
        """Yield what is left."""
        events, self._events = self._events, []
        yield from events


def _child_of(row: TableRow) -> str:
    """Return the session that a delegation ran in, "" where it does not say."""
    for column in ("result_json", "event_json"):
        told = parts.embedded(row.values.get(column))
        child = told.get("child_session_id") if isinstance(told, dict) else None
        if isinstance(child, str):
            return child
    return ""


def _seconds(value: Any) -> float | None:
    return parts.moment(value)[0]


def _moved(columns: list[str], placed: dict[str, str]) -> tuple[str, ...]:
    return tuple(placed.get(column) or f"/_legacy/fields/{column}" for column in columns)
