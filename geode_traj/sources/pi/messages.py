"""Messages of a session, role by role, as events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from geode_traj.model.event import Event, Loss
from geode_traj.sources import values
from geode_traj.sources.calls import Calls
from geode_traj.sources.chat.content import Attachments, is_media, is_text, said
from geode_traj.sources.chat.record import Record
from geode_traj.sources.fields import text_of, without
from geode_traj.sources.pi import usage

# Text that OpenClaw writes in the model's place: nothing was asked of a model for it.
_SYNTHETIC: Final = "openclaw"
_STATUS: Final = {True: "error", False: "ok", None: ""}
_CALLS: Final = ("toolCall", "toolUse", "functionCall")
_THOUGHTS: Final = ("thinking", "redactedThinking")
_EXECUTIONS: Final = {"bashExecution": "bash_execution", "pythonExecution": "python_execution"}


def read(record: Record, calls: Calls, message: dict[str, Any]) -> bool:
    """Add what a message gives; tell whether its role is known. The message's rest goes into the record's."""
    role = message.get("role")
    reader = _READERS.get(role) if isinstance(role, str) else None
    if reader is None:
        return False
    rest = without(message, "role")
    reader(record, calls, message, rest)
    if rest:
        record.rest["message"] = rest
    return True


def _user(record: Record, calls: Calls, message: dict[str, Any], rest: dict[str, Any]) -> None:
    calls.moved_on(record.line)
    record.event("message.user", _content(record, message, rest), role="user")


def _content(record: Record, message: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    """Return the payload of a message's content; what of it is no content stays in the rest."""
    rest.pop("content", None)
    payload, left, elsewhere = said(message.get("content"))
    rest |= left
    if elsewhere:
        record.items.append(Loss("media_kept_elsewhere", elsewhere))
    return payload


def _assistant(record: Record, calls: Calls, message: dict[str, Any], rest: dict[str, Any]) -> None:
    calls.moved_on(record.line)
    for key in ("content", "model", "provider", "stopReason", "errorMessage", "responseId", "usage"):
        rest.pop(key, None)
    model, provider = text_of(message, "model", rest), text_of(message, "provider", rest)
    response_id = text_of(message, "responseId", rest) or None
    reply = _Reply(record, calls, model, provider)
    content = message.get("content")
    if isinstance(content, list):
        for block in content:
            reply.block(block)
    elif content is not None:
        reply.text(content if isinstance(content, str) else "", {})
        if not isinstance(content, str):
            rest["content"] = content
    events = reply.done()
    first = events[0].payload
    for key, word in (("stopReason", "stop_reason"), ("errorMessage", "error_message")):
        if key in message:
            first[word] = message[key]
    if response_id:
        for event in events:
            event.payload["response_id"] = response_id
    if message.get("stopReason") == "error":
        told = {"error_type": "model_response", "message": message.get("errorMessage")}
        record.event("error.recorded", told, status="error", model=model, provider=provider)
    if provider == _SYNTHETIC:
        first["synthetic"] = True
    if provider != _SYNTHETIC or "usage" in message:
        payload, left = usage.payload(message.get("usage"), response_id)
        record.event("usage.recorded", payload, model=model, provider=provider).payload.pop("branch", None)
        if left:
            rest["usage"] = left


class _Reply:
    """The blocks of one response in order: thoughts join the text that follows them."""

    def __init__(self, record: Record, calls: Calls, model: str, provider: str) -> None:
        self._record = record
        self._calls = calls
        self._columns: dict[str, Any] = {"model": model, "provider": provider}
        self._pending: dict[str, Any] | None = None
        self._status = "unavailable"
        self._events: list[Event] = []

    def block(self, block: Any) -> None:
        """Take the next block."""
        kind = block.get("type") if isinstance(block, dict) else ""
        if is_text(block):
            given = {"text": block} if isinstance(block, str) else block
            self.text(given["text"], without(given, "type", "text"))
        elif kind in _THOUGHTS:
            self._flush()
            self._thought(block)
        elif kind in _CALLS:
            self._flush()
            self._call(block)
        elif is_media(block):
            payload, _, elsewhere = said([block])
            self.text("", {}, payload)
            if elsewhere:
                self._record.items.append(Loss("media_kept_elsewhere", elsewhere))
        else:
            self._flush()
            operation = f"block.{kind if isinstance(kind, str) else ''}"
            self._events.append(self._record.kept(operation, {"block": block}, **self._columns))

    def text(self, text: str, rest: dict[str, Any], payload: dict[str, Any] | None = None) -> None:
        """Take a text, with the thoughts before it."""
        reasoning = self._pending or {"status": self._status}
        self._pending = None
        words = {"content": text, **(payload or {}), "reasoning": reasoning}
        self._add("message.assistant", words, rest, role="assistant")

    def _thought(self, block: dict[str, Any]) -> None:
        text = block.get("thinking")
        told = block["type"] == "thinking" and block.get("redacted") is not True
        if told and isinstance(text, str) and text:
            self._pending = {"status": "present", "text": text} | without(block, "type", "thinking")
        else:  # encrypted, or only signed: it was there, and is kept from us
            self._pending = {"status": "withheld"} | without(block, "type")
        self._status = self._pending["status"]

    def _call(self, block: dict[str, Any]) -> None:
        key = "arguments" if "arguments" in block else "input"
        rest = without(block, "id", "name", key)
        if rest["type"] == "toolCall":
            del rest["type"]
        given = block.get(key)
        if given is not None and not isinstance(given, dict):
            rest[key] = given
        call_id, tool = text_of(block, "id", rest), text_of(block, "name", rest)
        self._calls.called(call_id, tool, self._record.line)
        words = {"tool": tool, "arguments": values.arguments(given)}
        self._add("tool.called", words, rest, call_id=call_id)

    def _flush(self) -> None:
        if self._pending is not None:
            self.text("", {})

    def _add(self, kind: str, words: dict[str, Any], rest: dict[str, Any], **columns: Any) -> None:
        self._events.append(self._record.event(kind, words, rest=rest, **self._columns, **columns))

    def done(self) -> list[Event]:
        """Return the events, at least one: a response without any block said nothing."""
        self._flush()
        if not self._events:
            self.text("", {})
        return self._events


def _result(record: Record, calls: Calls, message: dict[str, Any], rest: dict[str, Any]) -> None:
    for key in ("toolCallId", "toolName", "content", "isError", "details"):
        rest.pop(key, None)
    call_id, tool = text_of(message, "toolCallId", rest), text_of(message, "toolName", rest)
    called = calls.answered(call_id, tool)
    error = message.get("isError")
    if error is not None and not isinstance(error, bool):
        rest["isError"], error = error, None
    attachments = Attachments()
    result, details = (attachments.lifted(message.get(key)) for key in ("content", "details"))
    payload: dict[str, Any] = {"tool": tool or called or "", "is_error": error}
    if "content" in message:
        payload["result"] = result
    if details is not None:
        payload["details"] = details
    elsewhere = attachments.put(payload)
    record.event("tool.completed", payload, call_id=call_id, status=_STATUS[error])
    if called is None:
        record.items.append(Loss("result_without_call"))
    if elsewhere:
        record.items.append(Loss("media_kept_elsewhere", elsewhere))
    if isinstance(details, dict) and details.get("fullOutputPath"):
        record.items.append(Loss("output_kept_in_another_file"))


def _execution(record: Record, calls: Calls, message: dict[str, Any], rest: dict[str, Any]) -> None:
    """Record a command that a person ran: the model called no tool."""
    payload = dict(rest)
    payload.pop("timestamp", None)
    record.kept(_EXECUTIONS[message["role"]], {"execution": payload})
    for key in payload:
        del rest[key]
    if message.get("fullOutputPath"):
        record.items.append(Loss("output_kept_in_another_file"))
    elif message.get("truncated") is True:
        record.items.append(Loss("output_truncated_by_source"))


def _summary(record: Record, calls: Calls, message: dict[str, Any], rest: dict[str, Any]) -> None:
    payload = {"content": text_of(message, "summary", rest), "is_summary": True, "copied_context": True}
    if isinstance(message.get("summary"), str):
        del rest["summary"]
    record.event("message.user", payload, role="user")


def injected(record: Record, holder: dict[str, Any], rest: dict[str, Any]) -> None:
    """Record what an extension put before the model: no person said it."""
    payload = _content(record, holder, rest)
    for key, word in (("customType", "custom_type"), ("display", "display"), ("details", "details")):
        if key in rest:
            payload[word] = rest.pop(key)
    record.kept("injected_context", payload)


def _injected(record: Record, calls: Calls, message: dict[str, Any], rest: dict[str, Any]) -> None:
    injected(record, message, rest)


def _instructions(record: Record, calls: Calls, message: dict[str, Any], rest: dict[str, Any]) -> None:
    record.kept("instructions", _content(record, message, rest), role=message["role"])


def _mentioned(record: Record, calls: Calls, message: dict[str, Any], rest: dict[str, Any]) -> None:
    attachments = Attachments()
    payload = {"files": attachments.lifted(rest.pop("files", None))}
    elsewhere = attachments.put(payload)
    record.kept("file_mention", payload)
    if elsewhere:
        record.items.append(Loss("media_kept_elsewhere", elsewhere))


_READERS: Final[dict[str, Callable[[Record, Calls, dict[str, Any], dict[str, Any]], None]]] = {
    "user": _user,
    "assistant": _assistant,
    "toolResult": _result,
    "bashExecution": _execution,
    "pythonExecution": _execution,
    "custom": _injected,
    "hookMessage": _injected,
    "branchSummary": _summary,
    "compactionSummary": _summary,
    "fileMention": _mentioned,
    "system": _instructions,
    "developer": _instructions,
}
