"""SWE-agent's messages and steps: thoughts, actions in its shell or as calls, observations."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from geode_traj.model.event import Event
from geode_traj.sources import content, values
from geode_traj.sources.calls import Calls
from geode_traj.sources.fields import member, objects, without, word
from geode_traj.sources.record import Record

SHELL: Final = "shell"
"""The tool of actions that are text: the environment runs them as commands."""
_STEP_TEXTS: Final = ("action", "thought", "response", "observation")


class Messages:
    """Reads the messages of one run in order."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._calls = Calls()
        self._shell = 0
        self._asked = False
        self._said: dict[str, str] = {}
        self._seen: deque[str] = deque(maxlen=8)

    def read(self, record: Record) -> Iterator[Event]:
        """Yield what a message gives."""
        message = record.value
        role = word(message, "role")
        if not isinstance(message, dict) or role not in ("system", "user", "assistant", "tool"):
            yield record.whole("message")
        elif message.get("is_demo") or message.get("message_type") == "demonstration":
            words = {"operation": "demonstration", "record": message, "copied_context": True}
            yield record.event("legacy.imported", words, role=role)
        elif role == "system":
            told = content.read(message.get("content"))
            words = {"operation": "system_message", "content": told.text, **told.words}
            yield record.event("legacy.imported", words, _rest(message, told), role=role)
        elif role == "assistant":
            yield from self._assistant(record, message)
        else:
            yield self._observed(record, message, role)

    def _assistant(self, record: Record, message: dict[str, Any]) -> Iterator[Event]:
        told = content.read(message.get("content"))
        self._said = {key: word(message, key) for key in ("thought", "action")} | {"content": told.text}
        self._seen.clear()
        words = {"content": told.text, **told.words, "reasoning": _reasoning(message)}
        calls = message.get("tool_calls")
        called = objects(calls)
        placed = ["tool_calls"] if isinstance(calls, list) and len(called) == len(calls) else []
        placed += [key for key in ("thought",) if message.get(key) == told.text]
        action = word(message, "action")
        text = bool(action.strip()) and not called
        placed += ["action"] if text else []
        rest = without(_rest(message, told), *placed)
        yield record.event("message.assistant", words, rest, role="assistant", model=self._model)
        for call in called:
            yield self._called(record, call)
        if text:
            self._shell += 1
            words = {"tool": SHELL, "arguments": {"command": action}}
            yield record.event("tool.called", words, model=self._model)

    def _called(self, record: Record, call: dict[str, Any]) -> Event:
        function = call.get("function")
        tool, call_id = word(function, "name"), word(call, "id")
        self._calls.called(call_id, tool)
        given = member(function, "arguments")
        placed = [key for key in ("id",) if isinstance(call.get(key), str)]
        placed += (
            ["function"] if isinstance(function, dict) and function.keys() <= {"name", "arguments"} else []
        )
        words = {"tool": tool, "arguments": values.arguments(given)}
        fields = without(call, *placed)
        if isinstance(given, str) and "function" in placed:
            fields["arguments"] = given  # a text is kept beside what was read of it
        if not isinstance(member(function, "name"), str | None):
            fields["function"] = function
        return record.event("tool.called", words, fields, call_id=call_id, model=self._model)

    def _observed(self, record: Record, message: dict[str, Any], role: str) -> Event:
        """Return a result where a call waits for one; else it is what the user asked."""
        told = content.read(message.get("content"))
        ids = message.get("tool_call_ids")
        single = ids[0] if isinstance(ids, list) and len(ids) == 1 and isinstance(ids[0], str) else ""
        rest = without(_rest(message, told), *(["tool_call_ids"] if single else []))
        self._seen.append(told.text)
        result = {"is_error": None, **told.words}
        if message.get("content") is not None:  # an empty result is not a missing one
            result["result"] = told.text
        if role == "tool" or single:
            words = {"tool": self._calls.answered(single) or "", **result}
            return record.event("tool.completed", words, rest, call_id=single, role="tool")
        if self._shell:
            self._shell -= 1
            return record.event("tool.completed", {"tool": SHELL, **result}, rest)
        words = {"content": told.text, **told.words}
        if self._asked:  # the environment answers what was no action; nobody typed it
            words = {"operation": "environment_message", **words}
            return record.event("legacy.imported", words, rest, role="user")
        self._asked = True
        return record.event("message.user", words, rest, role="user")

    def step(self, record: Record, *, told: bool) -> Iterator[Event]:
        """Yield a step: what its messages did not say (`told`), or all of it where it has none."""
        step = record.value
        if not isinstance(step, dict):
            yield record.whole("step")
        elif told:
            known = {*self._said.values(), *self._seen}
            fields = {
                key: value
                for key, value in step.items()
                if key not in _STEP_TEXTS or not isinstance(value, str) or value not in known
            }
            words = {"operation": "step", "record": fields}
            yield record.event("legacy.imported", words, role="environment")
        else:
            yield from self._untold(record, step)

    def _untold(self, record: Record, step: dict[str, Any]) -> Iterator[Event]:
        response = step.get("response")
        said = response if isinstance(response, str) else word(step, "thought")
        placed = [key for key in ("response", "thought") if step.get(key) == said]
        action, seen = word(step, "action"), step.get("observation")
        acted = bool(action.strip())
        placed += ["action", "observation"] if acted else []
        words: dict[str, Any] = {"content": said, "reasoning": _reasoning(step)}
        rest = without(step, *placed)
        yield record.event("message.assistant", words, rest, role="assistant", model=self._model)
        if acted:
            words = {"tool": SHELL, "arguments": {"command": action}}
            yield record.event("tool.called", words, model=self._model)
            if "observation" in step:
                words = {"tool": SHELL, "is_error": None, "result": seen}
                yield record.event("tool.completed", words)


def same_action(message: dict[str, Any], step: Any) -> bool:
    """Tell whether a step gave a message: what it did, or else what it said, is the same."""
    if not isinstance(step, dict):
        return False
    if isinstance(message.get("action"), str) and isinstance(step.get("action"), str):
        return bool(message["action"].strip() == step["action"].strip())
    said = message.get("content")
    return said is not None and said in (step.get("response"), step.get("thought"))


def _reasoning(given: dict[str, Any]) -> dict[str, Any]:
    blocks = objects(given.get("thinking_blocks"))
    texts = [one["thinking"] for one in blocks if isinstance(one.get("thinking"), str)]
    return values.reasoning(word(given, "reasoning_content") or "\n".join(texts))


def _rest(message: dict[str, Any], told: content.Content) -> dict[str, Any]:
    placed = ["role"] + (["content"] if told.whole else [])
    rest = without(message, *placed)
    if "content" in rest:
        rest["content"] = content.without_data(rest["content"])
    return rest
