"""Rows in the shape of chat messages, as all of Hermes's stores hold them, into events of one session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.model.event import Event
from geode_traj.sources.base import Input
from geode_traj.sources.hermes import parts

_KINDS: Final = {"user": "message.user", "assistant": "message.assistant", "tool": "tool.completed"}
_MESSAGES: Final = frozenset({"message.user", "message.assistant"})
_OTHER: Final = {"system": "system_prompt", "session_meta": "session_meta"}
"""Roles that are known and no message of the conversation, with the operation they record."""


@dataclass(slots=True)
class MessageRow:
    """One row as its store gives it.

    `line` is its number in the source, `key` the store's own id of it. `escaped` and `nonfinite` are JSON
    pointers into `values`; `duplicates` earlier values of repeated keys. `marks` (branch, copied_context,
    is_summary) are put into every payload of the row.
    """

    values: dict[str, Any]
    line: int
    sha256: str
    key: str = ""
    escaped: Sequence[str] = ()
    nonfinite: Sequence[str] = ()
    duplicates: Mapping[str, list[Any]] = field(default_factory=dict)
    marks: dict[str, Any] = field(default_factory=dict)
    content_key: str = ""
    copied_from: tuple[str, ...] = ()


@dataclass(slots=True)
class _Made:
    """An event in the making: which of the row's keys have found which place in the payload."""

    kind: str
    payload: dict[str, Any]
    placed: dict[str, str] = field(default_factory=dict)
    rest: dict[str, Any] = field(default_factory=dict)
    call_id: str = ""
    role: str = ""
    model: str = ""
    raw: bool = False


class Messages:
    """Gives the events of one session's rows, in order.

    A call without an id takes that of the result that answers it (the k-th such call, the k-th such result),
    since some versions write ids on results only; until then the row's events are held back.
    """

    def __init__(self, given: Input, session_id: str, *, model: str = "") -> None:
        self._given = given
        self._session = session_id
        self.model = model
        self._held: list[Event] = []
        self._waiting: list[Event] = []
        self._announced: set[str] = set()
        self._also: dict[str, str] = {}

    def take(self, row: MessageRow) -> Iterator[Event]:
        """Yield what can be given of the rows so far."""
        events = self._events(row)
        if events[0].kind == "tool.completed":
            self._answer(events[0])
        elif self._held:
            yield from self.end()
        waiting = [event for event in events if event.kind == "tool.called" and not event.call_id]
        self._waiting += waiting
        if self._waiting or self._held:
            self._held += events
            if not self._waiting:
                yield from self.end()
        else:
            yield from events

    def end(self) -> Iterator[Event]:
        """Yield what is held back."""
        held, self._held = self._held, []
        self._waiting = []
        yield from held

    def _answer(self, result: Event) -> None:
        """Give a waiting call the id of its result; a result that names another id of its call, the first."""
        result.call_id = self._also.get(result.call_id, result.call_id)
        if not result.call_id or result.call_id in self._announced:
            return
        tool = result.payload.get("tool")
        for call in self._waiting:
            if not tool or tool == "unknown" or not call.payload["tool"] or call.payload["tool"] == tool:
                call.call_id = result.call_id
                call.payload["_legacy"]["call_id_from"] = "result"
                self._waiting.remove(call)
                return

    def _events(self, row: MessageRow) -> list[Event]:
        role = row.values.get("role")
        seconds, rule = parts.moment(row.values.get("timestamp"))
        made = [self._message(row, role)]
        if role == "assistant":
            made += self._calls(row, made[0])
        events = []
        for n, one in enumerate(made):
            events.append(
                Event(
                    kind=one.kind,
                    session_id=self._session,
                    line=row.line,
                    record_sha256=row.sha256,
                    payload=one.payload | row.marks,
                    time=seconds,
                    key=row.key,
                    n=n,
                    raw=one.raw,
                    call_id=one.call_id,
                    role=one.role,
                    model=one.model,
                    escaped=_moved(row.escaped, one, main=n == 0),
                    nonfinite=_moved(row.nonfinite, one, main=n == 0),
                    content_key=f"{row.content_key}:{n}" if row.content_key else "",
                    copied_from=row.copied_from,
                    time_rule=rule,
                )
            )
        return events

    def _message(self, row: MessageRow, role: Any) -> _Made:
        if not isinstance(role, str) or (role not in _KINDS and role not in _OTHER):
            made = _Made("legacy.imported", {"record": row.values}, {"": "/record"}, raw=True)
            made.payload["_legacy"] = self._provenance(row, role)
            return made
        kind = _KINDS.get(role, "legacy.imported")
        if role == "user" and row.values.get("display_kind") == "hidden":
            kind = "legacy.imported"  # scaffolding that the program wrote: no turn of a person
        made = _Made(kind, {}, {"role": "/_legacy/event"}, role="" if role == "tool" else role)
        if kind == "legacy.imported":
            made.payload["operation"] = _OTHER.get(role, "scaffolding")
        if role == "tool":
            self._result(row, made)
        else:
            _content(row, made, "content")
        if role == "assistant":
            made.model = self.model
            _answer_and_reasoning(row, made)
        made.payload["_legacy"] = self._provenance(row, role)
        self._rest(row, made)
        return made

    def _result(self, row: MessageRow, made: _Made) -> None:
        tool, call_id = row.values.get("tool_name", row.values.get("name")), row.values.get("tool_call_id")
        made.payload["tool"] = tool if isinstance(tool, str) else ""
        if isinstance(tool, str):
            made.placed["tool_name" if "tool_name" in row.values else "name"] = "/tool"
        made.call_id = call_id if isinstance(call_id, str) else ""
        if made.call_id and made.call_id not in self._also:
            made.placed["tool_call_id"] = ""
        made.payload["is_error"] = None
        _content(row, made, "result")

    def _calls(self, row: MessageRow, message: _Made) -> list[_Made]:
        calls, _ = parts.calls(row.values.get("tool_calls"))
        made = []
        for call in calls:
            legacy = self._provenance(row, "tool_call")
            if call.fields:
                legacy["fields"] = call.fields
            if call.call_id:
                self._announced.add(call.call_id)
            if call.also:
                self._also[call.also] = call.call_id
            payload = {"tool": call.tool, "arguments": call.arguments, "_legacy": legacy}
            made.append(_Made("tool.called", payload, call_id=call.call_id, model=self.model))
        return made

    def _rest(self, row: MessageRow, made: _Made) -> None:
        """Keep what has no place in the payload; the column or the event says what is left out here."""
        placed = {*made.placed, "session_id"}
        if row.values.get("session_id") != self._session:
            placed.discard("session_id")
        if parts.moment(row.values.get("timestamp"))[0] is not None:
            placed.add("timestamp")
        if made.role == "assistant" and _calls_say_all(row):
            placed.add("tool_calls")
        fields = {key: value for key, value in row.values.items() if key not in placed} | made.rest
        if fields:
            made.payload["_legacy"]["fields"] = fields

    def _provenance(self, row: MessageRow, name: Any) -> dict[str, Any]:
        legacy: dict[str, Any] = {
            "event": name if isinstance(name, str) else "",
            "line_number": row.line,
            "source_digest": self._given.sha256,
            "source_path": self._given.name,
        }
        if row.duplicates:
            legacy["duplicates"] = dict(row.duplicates)
        return legacy


def _content(row: MessageRow, made: _Made, place: str) -> None:
    given = row.values.get("content")
    found = parts.content(given)
    made.payload[place] = found.text
    if found.attachments:
        made.payload["attachments"] = found.attachments
    if given is not None:
        made.placed["content"] = f"/{place}"
    if found.rest:
        made.rest["content_rest"] = found.rest
    if found.order:
        made.rest["content_order"] = found.order
    if made.kind in _MESSAGES and parts.is_summary(found.text):
        row.marks |= {"copied_context": True, "is_summary": True}


def _calls_say_all(row: MessageRow) -> bool:
    calls, whole = parts.calls(row.values.get("tool_calls"))
    mended = any(pointer.startswith("/tool_calls") for pointer in (*row.escaped, *row.nonfinite))
    return bool(calls) and whole and not mended


def _answer_and_reasoning(row: MessageRow, made: _Made) -> None:
    made.payload["reasoning"], column = parts.reasoning(row.values)
    if column in ("reasoning", "reasoning_content"):
        made.placed[column] = "/reasoning/text"
        for other in ("reasoning", "reasoning_content"):  # most versions write the same text twice
            if row.values.get(other) == row.values[column]:
                made.placed[other] = "/reasoning/text"
    if not made.payload["content"]:
        answer = parts.answer_of_items(row.values.get("codex_message_items"))
        if answer:
            made.payload |= {"content": answer, "content_from": "codex_message_items"}
    if isinstance(row.values.get("finish_reason"), str):
        made.payload["finish_reason"] = row.values["finish_reason"]
        made.placed["finish_reason"] = "/finish_reason"


def _moved(pointers: Sequence[str], made: _Made, *, main: bool) -> tuple[str, ...]:
    """Return pointers into the row as pointers into the payload that holds the value now."""
    if not pointers or not main:
        return ()
    found = []
    for pointer in pointers:
        if "" in made.placed:
            found.append(made.placed[""] + pointer)
            continue
        key, slash, rest = pointer[1:].partition("/")
        place = made.placed.get(key, f"/_legacy/fields/{key}")
        found.append(place + slash + rest)
    return tuple(found)
