"""Messages as OpenAI's chat interface has them, and the same in camel case, as events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from geode_traj.model.event import Loss
from geode_traj.sources import values
from geode_traj.sources.calls import Calls
from geode_traj.sources.chat.content import Attachments, attach, said
from geode_traj.sources.chat.record import Record
from geode_traj.sources.fields import text_of, without

ROLES: Final = frozenset("system developer user assistant tool function".split())
_INSTRUCTIONS: Final = frozenset({"system", "developer"})
_THOUGHTS: Final = ("reasoning_content", "reasoning", "reasoningContent", "thinking")


@dataclass(frozen=True, slots=True)
class Names:
    """How a format writes the members of a message that it can write in two ways."""

    calls: str
    result_id: str


OPENAI: Final = Names("tool_calls", "tool_call_id")


def read(record: Record, calls: Calls, message: Any, place: int, names: Names = OPENAI) -> None:
    """Add what a message gives, at least one event; `place` is its number in the conversation.

    One of no known role is kept whole. What found no place goes into the record's rest as `message`.
    """
    role = message.get("role") if isinstance(message, dict) else None
    if not isinstance(role, str) or role not in ROLES:
        record.kept("message", {"message": message})
        return
    rest = without(message, "role")
    reading = _Reading(record, calls, message, rest, place, names)
    if role in _INSTRUCTIONS:
        record.kept("instructions", reading.content(), role=role)
    elif role == "user":
        calls.moved_on(place)
        record.event("message.user", reading.named(reading.content()), role="user")
    elif role == "assistant":
        calls.moved_on(place)
        reading.assistant()
    else:
        reading.result(legacy=role == "function")
    if rest:
        record.rest = {**record.rest, "message": rest}


@dataclass(slots=True)
class _Reading:
    """One message while it is read; what is taken out of `rest` has found its place."""

    record: Record
    calls: Calls
    message: dict[str, Any]
    rest: dict[str, Any]
    place: int
    names: Names

    def content(self) -> dict[str, Any]:
        """Return the payload of the message's content."""
        self.rest.pop("content", None)
        payload, left, elsewhere = said(self.message.get("content"))
        self.rest |= left
        self._note(elsewhere)
        return payload

    def named(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the payload with the speaker's name, where the message has one."""
        if isinstance(self.rest.get("name"), str):
            payload["name"] = self.rest.pop("name")
        return payload

    def assistant(self) -> None:
        """Add the text of a response, if it has one, then its calls."""
        model = text_of(self.message, "model", {})
        if model:
            del self.rest["model"]
        listed = self.rest.pop(self.names.calls, None)
        called = listed if isinstance(listed, list) else []
        if listed is not None and not isinstance(listed, list):
            self.rest[self.names.calls] = listed
        legacy = self.rest.pop("function_call", None)
        thought = self._thought()
        payload = self.named(self.content())
        audio = self.rest.get("audio")
        if isinstance(audio, dict) and isinstance(audio.get("data"), str):
            self.rest["audio"] = {**audio, "data": attach(payload, audio["data"])}
        speaks = payload != {"content": ""} or thought is not None or "refusal" in self.message
        if speaks or not (called or legacy):
            if self.rest.get("refusal") is not None:
                payload["refusal"] = self.rest.pop("refusal")
            payload["reasoning"] = thought or {"status": "unavailable"}
            self.record.event("message.assistant", payload, role="assistant", model=model)
        for call in called:
            self._call(call, model)
        if legacy is not None:
            self._call({"function": legacy, "type": "function_call"}, model)

    def _thought(self) -> dict[str, Any] | None:
        for key in _THOUGHTS:
            text = self.rest.get(key)
            if isinstance(text, str) and text:
                del self.rest[key]
                return {"status": "present", "text": text}
        return None

    def _call(self, call: Any, model: str) -> None:
        function = call.get("function", call.get("custom")) if isinstance(call, dict) else None
        if not isinstance(function, dict):
            self.record.kept("tool_call", {"call": call}, model=model)
            return
        rest = without(call, "id", "function", "custom")
        if rest.get("type") == "function":
            del rest["type"]
        given = function.get("arguments", function.get("input"))
        inner = without(function, "name", "arguments", "input")
        if not values.reads_whole(given):
            inner["arguments"] = given
        call_id, tool = text_of(call, "id", rest), text_of(function, "name", inner)
        if inner:
            rest["function"] = inner
        self.calls.called(call_id, tool, self.place)
        payload = {"tool": tool, "arguments": values.arguments(given)}
        self.record.event("tool.called", payload, rest=rest, call_id=call_id, model=model)

    def result(self, *, legacy: bool) -> None:
        """Add a tool's result; one in the older form names its function, and no call."""
        for key in ("content", "name", self.names.result_id):
            self.rest.pop(key, None)
        call_id = "" if legacy else text_of(self.message, self.names.result_id, self.rest)
        name = text_of(self.message, "name", self.rest)
        called = self.calls.answered(call_id, name)
        attachments = Attachments()
        payload: dict[str, Any] = {"tool": name or called or "", "is_error": None}
        if "content" in self.message:
            payload["result"] = attachments.lifted(self.message["content"])
        elsewhere = attachments.put(payload)
        self.record.event("tool.completed", payload, call_id=call_id)
        self._note(elsewhere)
        if called is None:
            self.record.items.append(Loss("result_without_call"))

    def _note(self, elsewhere: int) -> None:
        if elsewhere:
            self.record.items.append(Loss("media_kept_elsewhere", elsewhere))
