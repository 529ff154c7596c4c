"""The rows of one log in order."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

from geode_traj.codec.jsonl import Line
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event, Item, Link, Loss
from geode_traj.sources.base import Input
from geode_traj.sources.calls import Calls
from geode_traj.sources.chat.record import Record
from geode_traj.sources.copilot_cli import messages
from geode_traj.sources.copilot_cli.agents import STATUS, Agents, child_session, words
from geode_traj.sources.copilot_cli.known import STATES
from geode_traj.sources.copilot_cli.usage import Told
from geode_traj.sources.fields import number, text_of, without, word

_FRAME: Final = ("type", "data", "timestamp")
_HEAD: Final = {"cwd": ("context", "cwd"), "branch": ("context", "branch"), "version": ("copilotVersion",)}
_ENDS: Final = {"routine": "completed", "error": "error"}
_PROMPT: Final = "userPromptSubmitted"
# What shows that a prompt was taken: had it been written as a message, that would stand before these.
_ANSWERS: Final = ("assistant.message", "assistant.reasoning", "tool.", "session.shutdown")


class Reader:
    """Reads the rows of one file; it keeps open calls, told usage, and a prompt that may come twice."""

    def __init__(self, given: Input) -> None:
        self._given = given
        self._begin(given.default_session)

    def _begin(self, session: str) -> None:
        self._session = session
        self._agents = Agents()
        self._calls: dict[str, Calls] = {}
        self._callers: dict[str, str] = {}
        self._told = Told()
        self._thoughts: dict[str, str] = {}
        self._prompt: Record | None = None
        self._repeats: Counter[bytes] = Counter()
        self._generation, self._ended = 1, False
        self._links: dict[Link, None] = {}

    def rows(self, line: Line, sha256: str, read: Tolerated, *, torn: bytes = b"") -> Iterator[Item]:
        """Yield what a row gives: at least one event; `torn` stood before it on its line."""
        row: dict[str, Any] = read.value
        kind = text_of(row, "type", {}) if isinstance(row.get("data"), dict) else ""
        if kind == "session.start" and word(row, "data", "sessionId"):
            if row["data"]["sessionId"] != self._session:
                yield from self.end()
                self._begin(row["data"]["sessionId"])
        elif kind.startswith(_ANSWERS) and not self._agents.of(row):
            yield from self._prompted()
        record = self._record(line.number, sha256, read, self._agents.of(row) if kind else "")
        if torn:
            record.rest["torn_before"] = torn.decode("utf-8", "backslashreplace")
        take = _READERS.get(kind)
        if take is not None:
            record.rest |= without(row, *_FRAME)
            take(self, record, row["data"])
        elif kind in STATES:
            record.rest |= without(row, *_FRAME)
            record.kept(kind, {"record": row["data"]})
        else:
            record.unknown()
        yield from self._numbered(record.finish())
        self._ended = self._ended or kind == "session.shutdown"

    def end(self) -> Iterator[Item]:
        """Yield what only the end shows: calls left open, and how sessions hang together."""
        for calls in self._calls.values():
            yield from calls.losses()
        yield from self._links

    def _record(self, number_: int, sha256: str, read: Tolerated, agent: str) -> Record:
        row: dict[str, Any] = read.value
        session = child_session(self._session, agent) if agent else self._session
        if agent:
            parent = self._agents.parent_of(agent)
            above = child_session(self._session, parent) if parent else self._session
            self._links[Link(session, "parent", above)] = None
        record = Record(self._given, number_, sha256, read, session)
        record.name = text_of(row, "type", {})
        own = row.get("id")
        if isinstance(own, str) and own:
            record.key = own
            record.content_key = f"{own}:{sha256[:16]}" if record.name != "session.start" else ""
        if not record.stamp(row.get("timestamp")):
            record.rest["timestamp"] = row["timestamp"]
        return record

    def _numbered(self, items: list[Item]) -> Iterator[Item]:
        """Yield items, events of the log's own session with the generation that they are of."""
        for item in items:
            if isinstance(item, Event) and item.session_id == self._session:
                item.generation = self._generation
            yield item

    def _of(self, record: Record) -> Calls:
        return self._calls.setdefault(record.session_id, Calls())

    def _start(self, record: Record, data: dict[str, Any]) -> None:
        """Record that a session starts, or goes on: after its end in another generation."""
        if self._ended:
            self._generation, self._ended = self._generation + 1, False
        found = {key: word(data, *path) for key, path in _HEAD.items()}
        payload: dict[str, Any] = {key: value for key, value in found.items() if value}
        parent = word(data, "detachedFromSpawningParentSessionId")
        if parent and parent != self._session:
            self._links[Link(self._session, "parent", parent)] = None
        rest = without(data, "selectedModel", "copilotVersion")
        resumed = record.name == "session.resume"
        payload |= {"resumed": True} if resumed else {}
        model = text_of(data, "selectedModel", rest)
        messages.keep(record, rest)
        record.event("session.started", payload, status="resumed" if resumed else "active", model=model)

    def _shutdown(self, record: Record, data: dict[str, Any]) -> None:
        """Record what the session used, then its end."""
        used, disagree = self._told.ended(data.get("modelMetrics"))
        messages.keep(record, without(data, "shutdownType", "errorReason", "codeChanges"))
        for model, payload in used:
            record.event("usage.recorded", payload, model=model)
        if disagree:
            record.items.append(Loss("usage_totals_disagree", disagree))
        reason = data.get("shutdownType")
        payload = {"end_reason": reason}
        if data.get("errorReason") is not None:
            payload["error"] = data["errorReason"]
        if data.get("codeChanges") is not None:
            payload["code_changes"] = data["codeChanges"]
        status = _ENDS.get(reason, "ended") if isinstance(reason, str) else "ended"
        record.event("session.ended", payload, status=status)

    def _user(self, record: Record, data: dict[str, Any]) -> None:
        text = data.get("content")
        if record.session_id == self._session:
            self._prompt = None
        if self._repeats and isinstance(text, str) and _digest(text) in self._repeats:
            self._repeats -= Counter([_digest(text)])
            record.kept("user.message", {"record": data, "repeats": "hook.start"})
            return
        messages.user(record, self._of(record), data)

    def _hook(self, record: Record, data: dict[str, Any]) -> None:
        """Keep a hook's run; one of a prompt may be the only record of what a person said."""
        record.kept("hook.start", {"record": data})
        if data.get("hookType") == _PROMPT and word(data, "input", "prompt"):
            self._prompt = record

    def _prompted(self) -> Iterator[Item]:
        """Yield the message of a prompt that only its hook tells of, once that is certain."""
        record, self._prompt = self._prompt, None
        if record is None:
            return
        text = word(record.read.value, "data", "input", "prompt")
        self._repeats[_digest(text)] += 1
        record.items = []
        self._of(record).moved_on(record.line)
        record.event("message.user", {"content": text, "told_by": "hook.start"}, role="user")
        yield from self._numbered(record.take())

    def _assistant(self, record: Record, data: dict[str, Any]) -> None:
        thought = self._thoughts.pop(record.session_id, "")
        messages.assistant(record, self._of(record), data, thought)
        for request in data["toolRequests"] if isinstance(data.get("toolRequests"), list) else ():
            call_id = word(request, "toolCallId")
            if call_id and record.session_id != self._session:
                self._callers[call_id] = self._agents.of(record.read.value)
        tokens = number(data, "outputTokens")
        if tokens is not None:
            model = text_of(data, "model", {})
            payload = self._told.response(record.session_id, model, tokens)
            payload["response_id"] = text_of(data, "messageId", {}) or None
            record.event("usage.recorded", payload, model=model)

    def _thinking(self, record: Record, data: dict[str, Any]) -> None:
        """Keep a thought that is told by itself: it belongs to the response that follows."""
        text = data.get("content")
        if isinstance(text, str):
            before = self._thoughts.get(record.session_id)
            self._thoughts[record.session_id] = f"{before}\n{text}" if before else text
        record.kept("assistant.reasoning", {"record": data})

    def _begun(self, record: Record, data: dict[str, Any]) -> None:
        messages.begun(record, self._of(record), data, asked=record.name == "tool.user_requested")

    def _completed(self, record: Record, data: dict[str, Any]) -> None:
        self._callers.pop(word(data, "toolCallId"), None)
        messages.completed(record, self._of(record), data)

    def _usage(self, record: Record, data: dict[str, Any]) -> None:
        messages.keep(record, data)
        model = text_of(data, "model", {})
        record.event("usage.recorded", self._told.call(record.session_id, data), model=model)

    def _agent(self, record: Record, data: dict[str, Any]) -> None:
        """Record in the parent's session that a sub-agent started or stopped."""
        call_id = word(data, "toolCallId")
        if record.name == "subagent.started":
            agent = self._agents.started(record.read.value, self._callers.get(call_id))
        else:
            agent = self._agents.of(record.read.value) or call_id
        parent = self._agents.parent_of(agent)
        record.session_id = child_session(self._session, parent) if parent else self._session
        if agent:
            self._links.pop(Link(child_session(self._session, agent), "parent", self._session), None)
            self._links[Link(child_session(self._session, agent), "parent", record.session_id)] = None
        payload, rest = words(data, self._session, agent)
        model = text_of(data, "model", rest)
        messages.keep(record, rest)
        kind = "subagent.started" if record.name == "subagent.started" else "subagent.stopped"
        status = STATUS.get(record.name, "started")
        record.event(kind, payload, call_id=call_id, status=status, model=model)

    def _error(self, record: Record, data: dict[str, Any]) -> None:
        messages.keep(record, without(data, "errorType", "message"))
        payload = {"error_type": data.get("errorType"), "message": data.get("message")}
        record.event("error.recorded", payload, status="error")

    def _abort(self, record: Record, data: dict[str, Any]) -> None:
        messages.keep(record, without(data, "reason"))
        record.event("turn.completed", {"termination_reason": data.get("reason")}, status="interrupted")

    def _instructions(self, record: Record, data: dict[str, Any]) -> None:
        rest = without(data, "content", "role")
        role, content = text_of(data, "role", rest), text_of(data, "content", rest)
        messages.keep(record, rest)
        record.kept("instructions", {"content": content}, role=role or "system")

    def _compacted(self, record: Record, data: dict[str, Any]) -> None:
        summary = without(data, "summaryContent")
        record.kept("compaction", {"content": data.get("summaryContent"), "record": summary})

    def _model(self, record: Record, data: dict[str, Any]) -> None:
        record.kept(record.name, {"record": data}, model=text_of(data, "newModel", {}))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


_READERS: Final[dict[str, Callable[[Reader, Record, dict[str, Any]], None]]] = {
    "session.start": Reader._start,
    "session.resume": Reader._start,
    "session.shutdown": Reader._shutdown,
    "session.error": Reader._error,
    "session.model_change": Reader._model,
    "session.compaction_complete": Reader._compacted,
    "user.message": Reader._user,
    "hook.start": Reader._hook,
    "system.message": Reader._instructions,
    "assistant.message": Reader._assistant,
    "assistant.reasoning": Reader._thinking,
    "assistant.usage": Reader._usage,
    "tool.user_requested": Reader._begun,
    "tool.execution_start": Reader._begun,
    "tool.execution_complete": Reader._completed,
    "subagent.started": Reader._agent,
    "subagent.completed": Reader._agent,
    "subagent.failed": Reader._agent,
    "abort": Reader._abort,
}
