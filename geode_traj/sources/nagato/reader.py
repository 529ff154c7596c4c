"""One Nagato run, read record by record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.model.event import Event, Item, Link, Loss, Session
from geode_traj.sources import values
from geode_traj.sources.base import Input
from geode_traj.sources.hermes.runs import ENDS, RunEvent, run_event
from geode_traj.sources.nagato import blobs
from geode_traj.sources.nagato.trace import Traces, moment
from geode_traj.sources.tables import TableRow

HISTORY: Final = "history without runs"
_ROLES: Final = {"user": "message.user", "assistant": "message.assistant"}


class Reader:
    """Reads the records of one run."""

    def __init__(self, traces: Traces, given: Input) -> None:
        self._traces = traces
        self._given = given
        self._key = given.unit
        self._run = traces.run(given.unit)
        row = self._run.values if self._run else {}
        self._row = row
        self._session = session_of(row) or self._key or given.default_session
        self._turn = str(row.get("message_turn_id") or self._key)
        self._model = row["model"] if isinstance(row.get("model"), str) else ""
        self._provider = row["provider"] if isinstance(row.get("provider"), str) else ""
        self._reasoning = values.reasoning(None)
        self._answered = False
        self._lost: Counter[str] = Counter()
        self._line = 0

    def items(self) -> Iterator[Item]:
        """Yield the run's question, its events, its answer, its end, and what was not recorded of it."""
        completed = self._row.get("completed_at") is not None
        if self._run is not None:
            self._line = 1
            if not completed:
                yield self._of_run("legacy.imported", {"operation": "run"})
        turns = list(self._traces.history(self._key, self._run))
        lines = range(self._line + 1, self._line + 1 + len(turns))
        answers = []
        for line, turn in zip(lines, turns, strict=True):
            if turn.values.get("role") == "assistant":
                answers.append((line, turn))
            else:
                yield self._turn_event(turn, line)
        self._answered = bool(answers)
        self._line += len(turns)
        for row in self._traces.events(self._key):
            self._line += 1
            yield from self._event(row, completed=completed)
        for line, turn in answers:
            yield self._turn_event(turn, line)
        if completed:
            told = {"reasoning": self._reasoning}
            yield self._of_run("turn.completed", told)
        yield from self._losses()

    def _losses(self) -> Iterator[Item]:
        for reason, count in sorted(self._lost.items()):
            yield Loss(reason, count)
        replay = [
            f"run {self._key}: {count} {reason.replace('_', ' ')}"
            for reason, count in sorted(self._lost.items())
            if reason != "explanation_referenced_only"
        ]
        if replay:
            yield Session(self._session, {"replay": replay})

    def _of_run(self, kind: str, payload: dict[str, Any]) -> Event:
        row = self._run
        if row is None:
            raise RuntimeError("only a run with a row is told of")
        placed = {"run_id", "model", "provider", "status", "message_turn_id"}
        available = row.values.get("reasoning_available")
        told = {"run_id": self._key, "reasoning_available": None if available is None else bool(available)}
        event = self._made(kind, row, 1, told | payload, placed | {"reasoning_available"})
        event.payload["_legacy"]["file_digest"] = self._given.file_sha256
        name = "completed_at" if kind == "turn.completed" else "created_at"
        event.time, event.time_rule = moment(row.values.get(name))
        event.status = values.text(row.values.get("status"))
        return event

    def _turn_event(self, row: TableRow, line: int) -> Event:
        event = turn_event(row, line, self._given, self._session)
        event.turn_id = self._turn
        if event.kind == "message.assistant":
            event.model, event.provider = self._model, self._provider
            event.payload["reasoning"] = self._reasoning
        return event

    def _event(self, row: TableRow, *, completed: bool) -> Iterator[Item]:
        name = values.text(row.values.get("event_type"))
        fields, extra, attachments = self._fields(name, row)
        made = run_event(name, fields)
        if name == "reasoning.available" or name.startswith("reasoning"):
            self._note_reasoning(name, fields)
            if made.raw:
                made = RunEvent("legacy.imported", {"operation": name, "reasoning": self._reasoning})
        if name in ENDS and completed:
            made.kind, made.payload = "legacy.imported", {"operation": name, **made.payload}
        for word in made.payload.get("not_recorded", ()):
            self._lost[f"{word}_not_recorded"] += 1
        seconds, rule = moment(row.values.get("ts"))
        chain = [*(() if self._answered else made.before), made, *made.after]
        for place, one in enumerate(chain):
            payload = dict(one.payload)
            if one.kind == "message.assistant":
                payload["reasoning"] = self._reasoning
            if one is made:
                payload |= extra | ({"attachments": attachments} if attachments else {})
            event = self._made(one.kind, row, self._line, payload, _EVENT_PLACED if one is made else None)
            event.n = 0 if one is made else place + 1
            event.time, event.time_rule, event.raw = seconds, rule, one.raw
            event.role, event.status = one.role, one.status
            if one.kind in ("tool.called", "tool.completed"):
                event.call_id = values.text(row.values.get("tool_call_id"))
            yield event
        child = made.payload.get("child_session_id")
        if made.kind == "subagent.started" and isinstance(child, str) and child:
            yield Link(child, "parent", self._session)

    def _note_reasoning(self, name: str, fields: dict[str, Any]) -> None:
        """Keep what the run's answer will say of its reasoning: Hermes announces a preview of it only."""
        text = fields.get("text")
        status = "preview" if name == "reasoning.available" else "present"
        if isinstance(text, str) and text:
            self._reasoning = values.reasoning(text, status=status)

    def _fields(
        self, name: str, row: TableRow
    ) -> tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]:
        """Return an event's fields with its blob's body among them, what stands beside them, and media."""
        fields = {key: value for key, value in row.values.items() if key not in ("status", "model")}
        if "tool" not in fields and isinstance(fields.get("tool_name"), str):
            fields["tool"] = fields["tool_name"]
        if isinstance(fields.get("duration_ms"), int | float):
            fields["duration"] = fields["duration_ms"] / 1000
        fields["preview"] = fields.get("preview", fields.get("summary"))
        if name.startswith("reasoning"):
            fields.setdefault("text", fields.get("summary"))
        extra: dict[str, Any] = {
            word: row.values[word] for word in ("summary", "visibility", "duration_ms") if word in row.values
        }
        extra |= self._explained(row)
        if row.values.get("payload_ref") is None:
            return fields, extra, []
        told, body, attachments = self._body(row)
        extra["blob"] = told
        if body is not None:
            extra |= _place(name, body, fields)
        return fields, extra, attachments

    def _explained(self, row: TableRow) -> dict[str, Any]:
        """Return references to what was derived of an event; a derivation is never an event itself."""
        found = [
            {
                **{key: one.values[key] for key in one.values if key not in ("content", "event_id")},
                "content_sha256": sha256_bytes(dumps(one.values.get("content"))),
                "derived": True,
            }
            for one in self._traces.explanations(row.values.get("id"))
        ]
        self._lost["explanation_referenced_only"] += len(found)
        self._lost += Counter()  # zero counts say nothing
        return {"explanations": found} if found else {}

    def _body(self, row: TableRow) -> tuple[dict[str, Any], Any, list[dict[str, Any]]]:
        blob = self._traces.blob(row.values["payload_ref"])
        if blob is None:
            self._lost["blob_missing"] += 1
            return {"reference": row.values["payload_ref"], "missing": "blob_missing"}, None, []
        told = {key: blob.values[key] for key in blob.values if key != "storage_path"}
        told |= blobs.shown_path(blob.values.get("storage_path"))
        body = self._traces.body(blob)
        if body.loss:
            self._lost[body.loss] += 1
            return {**told, "missing": body.loss}, None, []
        value, attachments = blobs.value(body, blob.values.get("mime"))
        return {**told, "digest_of": body.matched}, value, attachments

    def _made(
        self,
        kind: str,
        row: TableRow,
        line: int,
        payload: dict[str, Any],
        placed: frozenset[str] | set[str] | None,
    ) -> Event:
        event = made(kind, row, line, self._given, self._session, payload, placed)
        event.turn_id, event.model, event.provider = self._turn, self._model, self._provider
        return event


_EVENT_PLACED: Final = frozenset(
    "run_id event_type tool_call_id summary visibility duration_ms payload_ref tool tool_name".split()
)


def _place(name: str, body: Any, fields: dict[str, Any]) -> dict[str, Any]:
    """Put a blob's body where its event has a place for it; return what has none."""
    inner = body if isinstance(body, dict) else {}
    if isinstance(inner.get("tool"), str):
        fields.setdefault("tool", inner["tool"])
    if name == "tool.started":
        fields["arguments"] = inner.get("arguments", body)
        return {"body": body} if "arguments" in inner and len(inner) > 1 else {}
    if name == "tool.completed":
        fields["result"] = inner.get("result", body)
        return {"body": body} if "result" in inner and len(inner) > 1 else {}
    if name.startswith("reasoning"):
        fields["text"] = inner.get("text", body)
        return {"body": body} if not isinstance(fields["text"], str) else {}
    if name in ENDS:
        fields |= {key: inner[key] for key in ("output", "usage", "error") if key in inner}
        if isinstance(body, str):
            fields["output"] = body
    return {"body": body}


def session_of(row: dict[str, Any]) -> str:
    """Return the nearest thing to a session that a row names: a game's channel."""
    return ":".join(str(row[key]) for key in ("game_id", "channel") if row.get(key) is not None)


def history(traces: Traces, given: Input) -> Iterator[Event]:
    """Yield the turns that belong to no run, each in its game's channel."""
    for line, row in enumerate(traces.unlinked(), start=1):
        event = turn_event(row, line, given, session_of(row.values) or given.path.stem)
        if event.kind == "message.assistant":
            event.payload["reasoning"] = values.reasoning(None)
        yield event


def turn_event(row: TableRow, line: int, given: Input, session: str) -> Event:
    """Return a turn of the conversation: a message, or kept whole where its role is unknown."""
    role = row.values.get("role")
    kind = _ROLES.get(role) if isinstance(role, str) else None
    if kind is None:
        return made("legacy.imported", row, line, given, session, {"record": row.values}, None, raw=True)
    payload = {"content": values.text(row.values.get("content"))}
    placed = {"role", "turn_id", "run_id", "content"}
    event = made(kind, row, line, given, session, payload, placed)
    times = (row.values.get(name) for name in ("created_at", "ts", "timestamp"))
    event.time, event.time_rule = next(
        (told for told in map(moment, times) if told[0] is not None), (None, "")
    )
    event.role, event.turn_id = str(role), values.text(row.values.get("turn_id"))
    return event


def made(
    kind: str,
    row: TableRow,
    line: int,
    given: Input,
    session: str,
    payload: dict[str, Any],
    placed: frozenset[str] | set[str] | None,
    *,
    raw: bool = False,
) -> Event:
    """Return an event of a row; what has no place is kept where `placed` is given."""
    legacy: dict[str, Any] = {
        "event": row.values.get("event_type", row.table),
        "line_number": line,
        "source_digest": given.sha256,
        "source_path": given.name,
    }
    fields = {} if placed is None else {key: row.values[key] for key in row.values if key not in placed}
    if fields:
        legacy["fields"] = fields
    event = Event(kind, session, line, row.sha256, {**payload, "_legacy": legacy}, raw=raw)
    event.key = f"{row.table}:{row.values.get('id', row.values.get('run_id', line))}"
    event.escaped = tuple(_place_of(name, payload, fields) for name in row.escaped)
    event.nonfinite = tuple(_place_of(name, payload, fields) for name in row.nonfinite)
    return event


def _place_of(column: str, payload: dict[str, Any], fields: dict[str, Any]) -> str:
    """Return where a column's value stands in a payload."""
    if column in payload:
        return f"/{column}"
    return f"/record/{column}" if column not in fields else f"/_legacy/fields/{column}"
