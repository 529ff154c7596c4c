"""Rows of one file as events: messages, calls and results, usage, sub-agents, and what else is recorded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from geode_traj.codec.jsonl import Line
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event, Item, Link, Loss
from geode_traj.sources import marks
from geode_traj.sources.base import Input
from geode_traj.sources.claude_code.beside import Beside
from geode_traj.sources.claude_code.blocks import UNKNOWN, Part, assistant_parts, user_parts
from geode_traj.sources.claude_code.calls import Calls, started_by_none, stopped
from geode_traj.sources.claude_code.media import Attachments
from geode_traj.sources.claude_code.outputs import restore
from geode_traj.sources.claude_code.records import CONTEXT, error_text, operation, record
from geode_traj.sources.claude_code.row import Row
from geode_traj.sources.claude_code.sessions import Sessions, agent_of, child_session
from geode_traj.sources.claude_code.survey import DANGLING, LAST, REPEATED, Survey, is_prompt, reply_key
from geode_traj.sources.claude_code.usage import Reply

_ROLES: Final = {"message.user": "user", "message.assistant": "assistant"}
_PLACED: Final = frozenset({"type", "sessionId", "timestamp", "message", "toolUseResult"})
# What of a message has a place in a payload or a column, as far as it is of the type that belongs there.
_PLACED_OF: Final = {
    "user": frozenset({"content", "role"}),
    "assistant": frozenset({"content", "role", "stop_reason", "model", "id"}),
}
_SYNTHETIC: Final = "<synthetic>"


class Reader:
    """Reads the rows of one file; it keeps open calls and the responses whose lines are not all read."""

    def __init__(self, given: Input, survey: Survey, beside: Beside | None = None) -> None:
        self._given = given
        self._beside = beside or Beside()
        self._survey = survey
        self._sessions = Sessions(survey.first_session or given.default_session)
        self._calls = Calls(survey, self._beside)
        self._parents = survey.spawns.parents()
        self._replies: dict[str, Reply] = {}
        self._times: dict[str, float] = {}
        self._children: set[str] = set()
        self._forks: set[tuple[str, str]] = set()

    def rows(self, line: Line, sha256: str, read: Tolerated) -> list[Item]:
        """Return what a row gives: at least one event."""
        return self.row(line.number, sha256, read)

    def row(self, number: int, sha256: str, read: Tolerated) -> list[Item]:
        """Return what the record `number` gives."""
        if read.escaped or read.nonfinite:
            marks.put(read)
        session = self._sessions.of(read.value)
        row = Row(self._given, number, sha256, read, session, self._sessions.main, self._survey.at(number))
        message = row.value.get("message")
        if row.name in ("user", "assistant") and isinstance(message, str | dict):
            said = {"content": message} if isinstance(message, str) else message
            if row.name == "user":
                self._user(row, said)
            else:
                self._assistant(row, said)
        else:
            self._other(row)
        self._place(row)
        return row.finish()

    def end(self) -> Iterable[Item]:
        """Return the losses that only the end of the file shows."""
        return self._calls.losses()

    def _user(self, row: Row, message: dict[str, Any]) -> None:
        content, value = message.get("content"), row.value
        prompt = is_prompt(value)
        if prompt:
            self._calls.moved_on(row.session, row.number)
        _keep(row, message)
        result = value.get("toolUseResult")
        for part in user_parts(content):
            if part.kind == "tool.completed":
                self._result(row, part, result)
                result = None
                continue
            if part.kind == "message.user" and not prompt:
                _mark(part, value)
            row.event(part.kind, part.payload, role=_ROLES.get(part.kind, ""), rest=part.rest)
        if result is not None:
            row.rest["toolUseResult"] = result

    def _result(self, row: Row, part: Part, told: Any) -> None:
        call = self._calls.answered(row.session, part.call_id)
        part.payload["tool"] = call.tool if call else ""
        if told is not None:
            attachments = Attachments(part.payload.pop("attachments", ()))
            part.payload["tool_use_result"] = attachments.lifted(told)
            if attachments.items:
                part.payload["attachments"] = attachments.items
        lost = restore(row, part, told, self._beside)
        row.event(part.kind, part.payload, call_id=part.call_id, status=part.status, rest=part.rest)
        if lost is not None:
            row.items.append(lost)
        if call is None:
            row.items.append(Loss("result_without_call"))
        elif call.spawn:
            stopped(row, part, call.spawn, told)

    def _assistant(self, row: Row, message: dict[str, Any]) -> None:
        value = row.value
        model = message.get("model")
        model = model if isinstance(model, str) else ""
        key = reply_key(message, value)
        if key:
            self._calls.moved_on(row.session, row.number, key)
        reply = self._reply(key, message, value, model)
        _keep(row, message)
        parts = assistant_parts(message.get("content"), thought=reply.thought)
        if model == _SYNTHETIC and value.get("isApiErrorMessage"):
            _api_error(row, parts)
        else:
            for part in parts:
                reply.thought |= _has_thought(part)
                self._said(row, part, reply, model)
            first = row.items[0]
            if isinstance(first, Event):
                if "stop_reason" in message:
                    first.payload["stop_reason"] = message["stop_reason"]
                if model == _SYNTHETIC:
                    first.payload["synthetic"] = True
        if model != _SYNTHETIC:
            self._usage(row, key, reply, message)

    def _said(self, row: Row, part: Part, reply: Reply, model: str) -> None:
        if reply.response_id is not None:
            part.payload["response_id"] = reply.response_id
        if part.kind == "tool.completed":
            self._result(row, part, None)
            return
        row.event(
            part.kind, part.payload, call_id=part.call_id, role=_ROLES.get(part.kind, ""), model=model,
            rest=part.rest,
        )  # fmt: skip
        if part.kind == "tool.called":
            self._calls.called(row, part)

    def _reply(self, key: str, message: dict[str, Any], row: dict[str, Any], model: str) -> Reply:
        reply = self._replies.get(key) if key else None
        if reply is None:
            own, request = message.get("id"), row.get("requestId")
            reply = Reply(
                own if isinstance(own, str) and own else None,
                request if isinstance(request, str) and request else None,
                model,
            )
            if key:
                self._replies[key] = reply
        reply.take(row, message)
        return reply

    def _usage(self, row: Row, key: str, reply: Reply, message: dict[str, Any]) -> None:
        """Record a response's usage after its last line; without an id, after each line that tells one."""
        if key:
            if not row.flags & LAST:
                return
            del self._replies[key]
        elif "usage" not in message:
            return
        event = row.event("usage.recorded", reply.payload(), model=reply.model)
        event.payload.pop("branch", None)  # what was abandoned was paid for all the same
        if key:
            event.key, event.n, event.record_sha256 = f"usage:{key}", 1, ""
            event.content_key = f"usage:{key}"

    def _other(self, row: Row) -> None:
        value, name = row.value, operation(row.value)
        if not name:
            row.rest.clear()
            row.event("legacy.imported", {"record": value}).raw = True
            return
        row.rest |= {key: item for key, item in value.items() if key in CONTEXT and key not in _PLACED}
        _keep_session(row)
        if name == "system.turn_duration":
            payload = {"duration_ms": value.get("durationMs"), "record": record(value, "durationMs")}
            row.event("turn.completed", payload, status="completed")
        elif name == "system.api_error":
            payload = {"error_type": "api_error", "message": error_text(value), "record": record(value)}
            row.event("error.recorded", payload, status="error")
        elif name == "attachment.queued_command":
            _steering(row, value["attachment"])
        else:
            payload = {"operation": name, "record": record(value)}
            if name == "system.compact_boundary" and row.flags & DANGLING:
                payload["logical_parent"] = "missing"
            row.event("legacy.imported", payload)

    def _place(self, row: Row) -> None:
        """Add what the row's place tells: links, lost parents, times out of order."""
        if row.session != row.main and row.session not in self._children:
            self._children.add(row.session)
            self._child(row)
            if self._survey.has_main and row.session not in self._parents:
                started_by_none(row)
        forked = row.value.get("forkedFrom")
        origin = forked.get("sessionId") if isinstance(forked, dict) else None
        if isinstance(origin, str) and origin and (row.session, origin) not in self._forks:
            self._forks.add((row.session, origin))
            row.items.append(Link(row.session, "fork", origin))
        if row.flags & DANGLING:
            logical = row.value.get("parentUuid") is None
            row.items.append(Loss("dangling_logical_parent" if logical else "dangling_parent"))
        if row.read.duplicates:
            row.items.append(Loss("repeated_key", len(row.read.duplicates)))
        if row.time is not None and not row.flags & REPEATED:
            if row.time < self._times.get(row.session, row.time):
                row.items.append(Loss("time_out_of_order"))
            self._times[row.session] = row.time

    def _child(self, row: Row) -> None:
        """Link a sub-agent's session to the one that started it; its first event says what it is."""
        read = self._beside.agent(agent_of(row.session))
        told = row.taken(read) if read else {}
        if told:
            row.first.payload["agent"] = told
        above, depth = str(told.get("parentAgentId", "")), told.get("spawnDepth")
        parent = self._parents.get(row.session)
        if parent is None and self._beside.has_agent(above):
            parent = child_session(row.main, above)
        elif parent is None and not (type(depth) is int and depth > 1):
            parent = row.main
        if parent is not None:  # else the transcript of another sub-agent tells that it started this one
            row.items.append(Link(row.session, "parent", parent))


def _keep(row: Row, message: dict[str, Any]) -> None:
    """Keep aside what of a message's row has no place in a payload."""
    row.rest |= {key: item for key, item in row.value.items() if key not in _PLACED}
    _keep_session(row)
    placed = _PLACED_OF[row.name]
    left = {key: item for key, item in message.items() if key not in placed or not _fits(row.name, key, item)}
    if left:
        row.rest["message"] = left


def _keep_session(row: Row) -> None:
    own = row.value.get("sessionId")
    if own is not None and own != row.session:
        row.rest["sessionId"] = own


def _fits(kind: str, key: str, item: Any) -> bool:
    """Tell whether a member of a message is of the type that its place takes."""
    if key == "content":
        return isinstance(item, str | list)
    if key == "role":
        return bool(item == kind)
    return key == "stop_reason" or isinstance(item, str)


def _mark(part: Part, row: dict[str, Any]) -> None:
    """Say what a user row's text is that no person said: a summary, the program's own, or beside a result."""
    if row.get("isCompactSummary") or row.get("isVisibleInTranscriptOnly"):
        part.payload |= {"is_summary": True, "copied_context": True}
    elif row.get("isMeta") is True:
        part.kind = UNKNOWN
        part.payload["operation"] = "injected_context"
    else:
        part.payload["opens_turn"] = False


def _has_thought(part: Part) -> bool:
    reasoning = part.payload.get("reasoning")
    return reasoning is not None and reasoning["status"] != "unavailable"


def _api_error(row: Row, parts: list[Part]) -> None:
    """Record the local text of a failed request as the error it is."""
    error = row.value.get("error")
    texts = [part.payload["content"] for part in parts if part.kind == "message.assistant"]
    payload: dict[str, Any] = {"error_type": error if isinstance(error, str) else "api_error"}
    payload["message"] = "\n".join(texts)
    content = row.value["message"].get("content") if isinstance(row.value["message"], dict) else None
    if isinstance(content, list) and (len(content) != 1 or parts[0].rest or not texts):
        payload["content"] = content
    row.event("error.recorded", payload, status="error")


def _steering(row: Row, attachment: dict[str, Any]) -> None:
    """Record what a person typed while the agent worked: a message that opens no turn."""
    row.rest |= record(row.value, "attachment")
    row.rest["attachment"] = {key: item for key, item in attachment.items() if key != "prompt"}
    for part in user_parts(attachment.get("prompt")):
        if part.kind == "message.user":
            part.payload |= {"opens_turn": False, "steering": True}
        row.event(part.kind, part.payload, role=_ROLES.get(part.kind, ""), rest=part.rest)
