"""What agent, user simulator and tools said: both of the former call tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from geode_traj.model.event import Event
from geode_traj.sources import content, values
from geode_traj.sources.calls import Calls
from geode_traj.sources.fields import member, number, objects, without, word
from geode_traj.sources.record import Record

_PURPOSES: Final = {"assistant": "agent", "user": "user_simulator"}
_KINDS: Final = {"assistant": "message.assistant", "user": "message.user"}


class Messages:
    """Reads the messages of one simulation in order; `models` are those of agent and user by role."""

    def __init__(self, models: dict[str, str]) -> None:
        self._models = models
        self._calls = Calls()

    def read(self, record: Record) -> Iterator[Event]:
        """Yield what a message gives."""
        message = record.value
        role = word(message, "role")
        record.name = f"message/{role or 'unknown'}"
        several = objects(member(message, "tool_messages"))
        if role in _KINDS:
            yield from self._said(record, message, role)
        elif role == "tool" and several and len(several) == len(message["tool_messages"]):
            rest = without(message, "role", "tool_messages", *_timestamp(record))
            for one in several:
                yield self.result(record, one, rest)
                rest = {}
        elif role == "tool" and "tool_messages" not in message:
            yield self.result(record, message, {})
        elif role == "system":
            told = content.read(message.get("content"))
            words = {"operation": "system_message", "content": told.text}
            yield record.event("legacy.imported", words, _rest(record, told), role=role)
        else:
            yield record.whole("message")

    def _said(self, record: Record, message: dict[str, Any], role: str) -> Iterator[Event]:
        """Yield a message's text where it has one, then its calls and what its response used."""
        told = content.read(message.get("content"))
        calls = message.get("tool_calls")
        called = objects(calls)
        rest = _rest(record, told)
        if isinstance(calls, list) and len(called) == len(calls):
            rest.pop("tool_calls", None)
        for key in ("usage", "cost"):
            if rest.get(key) is None:
                rest.pop(key, None)  # the usage event says that it is null
        model = word(message, "raw_data", "model") or self._models[role]
        thought = _reasoning(message) if role == "assistant" else None
        if told.text or not called or (thought or {}).get("status") == "present":
            words: dict[str, Any] = {"content": told.text}
            words |= {"reasoning": thought} if thought else {}
            yield record.event(_KINDS[role], words, rest, role=role, model=model)
            rest = {}
        for call in called:
            yield self.called(record, call, role, rest)
            rest = {}
        if "usage" in message or "cost" in message:
            yield self._usage(record, message, role, model)

    def called(self, record: Record, call: dict[str, Any], role: str, rest: dict[str, Any]) -> Event:
        """Return a call of the agent's or, under its role, of the user simulator's."""
        tool, call_id = word(call, "name"), word(call, "id")
        self._calls.called(call_id, tool)
        given = call.get("arguments")
        placed = [key for key in ("id", "name") if isinstance(call.get(key), str)]
        placed += ["requestor"] if isinstance(call.get("requestor"), str) else []
        placed += [] if isinstance(given, str) else ["arguments"]
        words = {"tool": tool, "arguments": values.arguments(given)}
        words["requestor"] = word(call, "requestor") or role
        fields = {**without(call, *placed), **({"message": rest} if rest else {})}
        model = self._models.get(words["requestor"], "")
        column = role if words["requestor"] != "assistant" else ""
        return record.event("tool.called", words, fields, call_id=call_id, role=column, model=model)

    def result(self, record: Record, message: dict[str, Any], rest: dict[str, Any]) -> Event:
        """Return a tool's result; `rest` is what stood around it."""
        call_id, error = word(message, "id"), message.get("error")
        told = content.read(message.get("content"))
        failed = error if isinstance(error, bool) else None
        words: dict[str, Any] = {"tool": self._calls.answered(call_id) or "", "is_error": failed}
        words |= {"result": told.text} if message.get("content") is not None else {}
        words |= {"requestor": message["requestor"]} if "requestor" in message else {}
        placed = ["role", "requestor"] + (["id"] if isinstance(message.get("id"), str) else [])
        placed += (["content"] if told.whole else []) + (["error"] if failed is not None else [])
        seconds, rule = values.iso_time(message.get("timestamp"))
        placed += ["timestamp"] if seconds is not None else []
        status = {True: "error", False: "completed"}.get(failed, "") if failed is not None else ""
        time: dict[str, Any] = {} if seconds is None else {"time": seconds, "time_rule": rule}
        fields = {**without(message, *placed), **({"message": rest} if rest else {})}
        return record.event(
            "tool.completed", words, fields, call_id=call_id, role="tool", status=status, **time
        )

    def _usage(self, record: Record, message: dict[str, Any], role: str, model: str) -> Event:
        usage = message.get("usage")
        counts = {
            "input_tokens": number(usage, "prompt_tokens"),
            "output_tokens": number(usage, "completion_tokens"),
            "cost_usd": number(message, "cost"),
        }
        response = word(message, "raw_data", "id") or None
        words = values.usage(**counts, purpose=_PURPOSES[role], response_id=response)
        return record.event("usage.recorded", words, model=model)


def _timestamp(record: Record) -> list[str]:
    return ["timestamp"] if record.time is not None else []


def _rest(record: Record, told: content.Content) -> dict[str, Any]:
    return without(record.value, "role", *(["content"] if told.whole else []), *_timestamp(record))


def _reasoning(message: dict[str, Any]) -> dict[str, Any]:
    raw = message.get("raw_data")
    for given in (
        raw,
        member(raw, "message"),
        *(one.get("message") for one in objects(member(raw, "choices"))),
    ):
        for key in ("reasoning_content", "reasoning"):
            if word(given, key):
                return values.reasoning(word(given, key))
    return values.reasoning(None)
