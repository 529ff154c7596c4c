"""The rows of one transcript in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.jsonl import Line
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Item, Link, Loss
from geode_traj.sources import values
from geode_traj.sources.base import Input, file_text
from geode_traj.sources.calls import Calls
from geode_traj.sources.chat.content import Attachments, is_media, is_text, said
from geode_traj.sources.chat.record import Record
from geode_traj.sources.cursor.said import is_withheld, time_told
from geode_traj.sources.fields import text_of, without

_THOUGHTS: Final = frozenset({"thinking", "redacted", "redacted_thinking"})
_STATUS: Final = {True: "error", False: "ok", None: ""}
_ENDS: Final = {"success": "completed", "aborted": "interrupted", "cancelled": "interrupted"}
_FOLDER: Final = "subagents"


class Reader:
    """Reads the rows of one file; it keeps the calls that wait for a result."""

    def __init__(self, given: Input) -> None:
        self._given = given
        self._session = given.default_session
        self._calls = Calls()
        self._called = self._answered = 0

    def rows(self, line: Line, sha256: str, read: Tolerated) -> Iterator[Item]:
        """Yield what a row gives: at least one event."""
        row: dict[str, Any] = read.value
        record = self._record(line.number, sha256, read)
        role, message = row.get("role"), row.get("message")
        if isinstance(message, dict) and role in ("user", "assistant", "system"):
            record.rest |= without(row, "role", "message", "timestamp")
            rest = without(message, "content", "model")
            if message.get("role") == role:
                del rest["role"]
            said_ = _Said(record, self._calls, text_of(message, "model", rest), rest)
            getattr(said_, role)(message.get("content"))
            self._called += said_.called
            self._answered += said_.answered
            if rest:
                record.rest["message"] = rest
        elif row.get("type") == "turn_ended":
            record.rest |= without(row, "type", "timestamp", "status", "error")
            self._ended(record, row)
        else:
            record.unknown()
        yield from record.finish()

    def end(self) -> Iterator[Item]:
        """Yield what only the end shows: calls without results, and whose sub-agent this was.

        A transcript without any result was written by a program that leaves them all out.
        """
        if self._called and not self._answered:
            yield Loss("result_not_recorded", self._called)
        else:
            yield from self._calls.losses()
        folder = self._given.path.absolute().parent
        if folder.name == _FOLDER and folder.parent.name:
            yield Link(self._session, "parent", file_text(folder.parent.name))

    def _record(self, number: int, sha256: str, read: Tolerated) -> Record:
        row: dict[str, Any] = read.value
        record = Record(self._given, number, sha256, read, self._session)
        record.name = text_of(row, "role", {}) or text_of(row, "type", {})
        record.key = text_of(row, "id", {})
        if not record.stamp(row.get("timestamp")):
            record.rest["timestamp"] = row["timestamp"]
        if record.time is None:
            record.time = time_told(row)
        return record

    def _ended(self, record: Record, row: dict[str, Any]) -> None:
        status = text_of(row, "status", record.rest)
        payload: dict[str, Any] = {"termination_reason": status or None}
        if row.get("error") is not None:
            payload["error"] = row["error"]
        record.event("turn.completed", payload, status=_ENDS.get(status, status))


class _Said:
    """One message while it is read; its blocks give events in their order."""

    def __init__(self, record: Record, calls: Calls, model: str, rest: dict[str, Any]) -> None:
        self._record = record
        self._calls = calls
        self._model = model
        self._rest = rest
        self.called = self.answered = 0

    def system(self, content: Any) -> None:
        """Add what the program told the model."""
        self._record.kept("instructions", self._content(content), role="system")

    def user(self, content: Any) -> None:
        """Add results first, then what a person said, then blocks of unknown kinds."""
        blocks = content if isinstance(content, list) else []
        results = [block for block in blocks if _kind(block) == "tool_result"]
        spoken = [block for block in blocks if is_text(block) or is_media(block)]
        for block in results:
            self._result(block)
        if spoken or not blocks:
            self._calls.moved_on(self._record.line)
            given = spoken if isinstance(content, list) else content
            self._record.event("message.user", self._content(given), role="user", model=self._model)
        for block in blocks:
            if not (is_text(block) or is_media(block) or _kind(block) == "tool_result"):
                self._unknown(block)

    def assistant(self, content: Any) -> None:
        """Add a response block by block; a thought joins the text that follows it."""
        self._calls.moved_on(self._record.line)
        if not isinstance(content, list):
            self._text(self._content(content), None)
            return
        thought: dict[str, Any] | None = None
        for block in content:
            kind = _kind(block)
            if is_text(block) or is_media(block):
                self._text(self._content([block]), thought)
                thought = None
                continue
            if thought is not None:
                self._text({"content": ""}, thought)
            thought = _thought(block, kind) if kind in _THOUGHTS else None
            if kind == "tool_use":
                self._call(block)
            elif kind == "tool_result":
                self._result(block)
            elif thought is None:
                self._unknown(block)
        if thought is not None or not content:
            self._text({"content": ""}, thought)

    def _content(self, content: Any) -> dict[str, Any]:
        payload, left, elsewhere = said(content)
        self._rest |= left
        if elsewhere:
            self._record.items.append(Loss("media_kept_elsewhere", elsewhere))
        return payload

    def _text(self, payload: dict[str, Any], thought: dict[str, Any] | None) -> None:
        status = "withheld" if is_withheld(payload["content"]) else "unavailable"
        words = {**payload, "reasoning": thought or {"status": status}}
        self._record.event("message.assistant", words, role="assistant", model=self._model)

    def _call(self, block: dict[str, Any]) -> None:
        rest = without(block, "type", "id", "name", "input")
        given = block.get("input")
        if not values.reads_whole(given):
            rest["input"] = given
        call_id, tool = text_of(block, "id", rest), text_of(block, "name", rest)
        self.called += 1
        self._calls.called(call_id, tool, self._record.line)
        words = {"tool": tool, "arguments": values.arguments(given)}
        self._record.event("tool.called", words, rest=rest, call_id=call_id, model=self._model)

    def _result(self, block: dict[str, Any]) -> None:
        rest = without(block, "type", "tool_use_id", "name", "content", "is_error")
        call_id, name = text_of(block, "tool_use_id", rest), text_of(block, "name", rest)
        error = block.get("is_error")
        if error is not None and not isinstance(error, bool):
            rest["is_error"], error = error, None
        called = self._calls.answered(call_id, name)
        self.answered += 1
        attachments = Attachments()
        payload: dict[str, Any] = {"tool": name or called or "", "is_error": error}
        if "content" in block:
            payload["result"] = attachments.lifted(block["content"])
        elsewhere = attachments.put(payload)
        self._record.event("tool.completed", payload, rest=rest, call_id=call_id, status=_STATUS[error])
        if called is None:
            self._record.items.append(Loss("result_without_call"))
        if elsewhere:
            self._record.items.append(Loss("media_kept_elsewhere", elsewhere))

    def _unknown(self, block: Any) -> None:
        self._record.kept(f"block.{_kind(block)}", {"block": block}, model=self._model)


def _kind(block: Any) -> str:
    return text_of(block, "type", {}) if isinstance(block, dict) else ""


def _thought(block: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return a thought: in plain text, or taken out."""
    text = block.get("thinking")
    if kind == "thinking" and isinstance(text, str) and text:
        return {"status": "present", "text": text} | without(block, "type", "thinking")
    return {"status": "withheld"} | without(block, "type")
