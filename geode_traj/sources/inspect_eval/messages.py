"""The conversation: each message told once, where it is first met, and the calls that it holds."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.model.event import Event
from geode_traj.sources import values
from geode_traj.sources.calls import Calls
from geode_traj.sources.fields import without, word
from geode_traj.sources.inspect_eval import content
from geode_traj.sources.inspect_eval.record import Record

_RESULT_KEYS: Final = frozenset({"id", "role", "content", "tool_call_id", "function", "error", "pool"})
_REPEATED: Final = ("arguments", "view", "type")
"""What a tool's event says again of its call."""


class Told:
    """Which messages of a sample were told, by content: every call of a model repeats those before it.

    Messages without ids are told apart by how often the same one stands in one conversation.
    """

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._ids: set[str] = set()

    def number(self, message: dict[str, Any], met: Counter[bytes]) -> tuple[int, bool]:
        """Return a message's number, from 0 in the order of telling, and whether it is new."""
        digest = hashlib.sha256(dumps(message)).digest()[:16]
        if not message.get("id"):
            met[digest] += 1
            digest += met[digest].to_bytes(4, "big")
        known = self._numbers.get(digest)
        if known is not None:
            return known, False
        self._numbers[digest] = len(self._numbers)
        return self._numbers[digest], True

    def again(self, message: dict[str, Any]) -> bool:
        """Tell whether another form of this message was told already, and remember its id."""
        own = word(message, "id")
        if own in self._ids:
            return True
        if own:
            self._ids.add(own)
        return False


class Conversation:
    """The messages of one session. `aside` tells that they are not the agent's own but a scorer's."""

    def __init__(self, told: Told) -> None:
        self.told = told
        self.calls = Calls()
        self._called_with: dict[str, bytes] = {}
        self._results: dict[str, Any] = {}
        self._answered: Counter[str] = Counter()

    def message(
        self, record: Record, message: dict[str, Any], *, number: int, aside: bool, time: Any, **columns: Any
    ) -> Iterator[Event]:
        """Yield what a new message gives: itself, its calls, or the result that it is."""
        role = word(message, "role")
        if role == "tool":
            yield from self._result(record, message, number, time)
            return
        read = content.read(message.get("content"))
        words = read.words
        placed = {"role", "content"}
        again = self.told.again(message)
        if again:
            words["copied_context"] = True
        kind = {"user": "message.user", "assistant": "message.assistant"}.get(role, "legacy.imported")
        if kind == "legacy.imported":
            words["operation"] = "system_message" if role == "system" else "message"
            placed = placed if role else {"content"}
        if aside:
            kind, words["operation"] = "legacy.imported", "scorer_message"
        calls = message.get("tool_calls") if role == "assistant" else None
        called = [one for one in calls if isinstance(one, dict)] if isinstance(calls, list) else []
        if role == "assistant":
            words["reasoning"] = read.reasoning
            if isinstance(calls, list) and len(called) == len(calls) and not again:
                placed.add("tool_calls")
        fields = without(message, *placed) | {"message": number}
        if read.parts:
            fields["content"] = read.parts
        fields |= columns.pop("fields", {})
        yield record.event(kind, words, fields, time=time, role=role[:32], **columns)
        if not again:
            for call in called:
                yield self._called(record, call, time)
        for call in read.server_calls:
            yield from _server_call(record, call, time)

    def tool(self, record: Record, tool: dict[str, Any]) -> Iterator[Event]:
        """Yield a tool's call, where no message made it, and its result, where there is one."""
        call_id, name = values.text(tool.get("id")), word(tool, "function")
        placed = {"event", "timestamp", "id", "function"}
        known = self.calls.answered(call_id) or ""
        started = tool.get("timestamp")
        if known and self._called_with.get(call_id) == _gist(*(tool.get(key) for key in _REPEATED)):
            placed |= {*_REPEATED}
        if not known:
            placed.add("arguments")
            words = {"tool": name, "arguments": values.arguments(tool.get("arguments"))}
            yield record.event("tool.called", words, call_id=call_id, time=started)
        if tool.get("pending") is True and not tool.get("result"):
            words = {"operation": "tool", "tool": name, "call_id": call_id}
            yield record.event("legacy.imported", words, without(tool, *placed), time=started)
            if known:
                self.calls.called(call_id, known)
            return
        read = content.read(tool.get("result"))
        result: dict[str, Any] = {"result": None if tool.get("result") is None else read.text}
        if read.attachments:
            result["attachments"] = read.attachments
        error = tool.get("error")
        failed = True if tool.get("failed") is True else None
        is_error = True if error or failed else (None if "result" not in tool else False)
        words = {"tool": name, "is_error": is_error, **result}
        if error:
            words["error"] = error
        if not tool.get("events"):
            placed.add("events")
        fields = without(tool, *placed, "result", "error")
        if read.parts:
            fields["result"] = read.parts
        self._results[word(tool, "message_id") or f"call:{call_id}"] = _gist(tool.get("result"), error)
        self._answered[call_id] += 1
        when = tool.get("completed") if values.iso_time(tool.get("completed"))[0] is not None else started
        status = "error" if is_error else ""
        yield record.event("tool.completed", words, fields, call_id=call_id, time=when, status=status)

    def _result(self, record: Record, message: dict[str, Any], number: int, time: Any) -> Iterator[Event]:
        """Yield a tool's message, unless it only repeats the result that the tool's own event gave."""
        call_id = values.text(message.get("tool_call_id"))
        for key in (word(message, "id"), f"call:{call_id}"):
            gist = self._results.get(key)
            if gist is None or not key:
                continue
            if gist == _gist(message.get("content"), message.get("error")) and message.keys() <= _RESULT_KEYS:
                return
            yield self._repeated(record, message, number, time)
            return
        read = content.read(message.get("content"))
        error = message.get("error")
        tool = self.calls.answered(call_id) or word(message, "function")
        if (not tool and self._answered[call_id]) or self.told.again(message):
            yield self._repeated(record, message, number, time)
            return
        words: dict[str, Any] = {"tool": tool, "is_error": True if error else None, "result": read.text}
        words |= {"attachments": read.attachments} if read.attachments else {}
        words |= {"error": error} if error else {}
        fields = without(message, "role", "content", "tool_call_id", "error") | {"message": number}
        if read.parts:
            fields["content"] = read.parts
        yield record.event("tool.completed", words, fields, call_id=call_id, time=time, role="tool")

    def _repeated(self, record: Record, message: dict[str, Any], number: int, time: Any) -> Event:
        """Return another form of a result that was told: what the model was shown of it."""
        words = {"operation": "tool_message", "message": message}
        return record.event("legacy.imported", words, {"message": number}, time=time, role="tool")

    def _called(self, record: Record, call: dict[str, Any], time: Any) -> Event:
        call_id, tool = values.text(call.get("id")), word(call, "function")
        self.calls.called(call_id, tool or "?")
        self._called_with[call_id] = _gist(*(call.get(key) for key in _REPEATED))
        words = {"tool": tool, "arguments": values.arguments(call.get("arguments"))}
        placed = {"id", "function"} | (set() if isinstance(call.get("arguments"), str) else {"arguments"})
        return record.event("tool.called", words, without(call, *placed), call_id=call_id, time=time)


def _server_call(record: Record, call: dict[str, Any], time: Any) -> Iterator[Event]:
    """Yield a call that the provider answered itself: both stand in one part of a message."""
    call_id, tool = values.text(call.get("id")), word(call, "name") or word(call, "tool_type")
    fields = without(call, "type", "id", "name", "arguments", "result", "error")
    words: dict[str, Any] = {"tool": tool, "arguments": values.arguments(call.get("arguments"))}
    if isinstance(call.get("arguments"), str):
        fields["arguments"] = call["arguments"]
    yield record.event("tool.called", words, fields, call_id=call_id, time=time)
    if "result" in call or call.get("error"):
        error = call.get("error")
        words = {"tool": tool, "is_error": bool(error), "result": call.get("result")}
        words |= {"error": error} if error else {}
        yield record.event("tool.completed", words, call_id=call_id, time=time)


def _gist(*said: Any) -> bytes:
    """Return what is said in few bytes, to tell whether it only repeats; null is as good as absent."""
    return hashlib.sha256(dumps([one or None for one in said])).digest()[:16]
