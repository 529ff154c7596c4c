"""mini-swe-agent's messages: answers with commands as text or as calls, and what came of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from geode_traj.model.event import Event
from geode_traj.sources import content, values
from geode_traj.sources.calls import Calls
from geode_traj.sources.fields import listed, member, number, objects, without, word
from geode_traj.sources.mini_swe_agent.run import exited
from geode_traj.sources.record import Record

TOOL: Final = "bash"
_FENCE: Final = re.compile(r"```(?:bash|mswea_bash_command)[ \t]*\n")
_RETURNED: Final = re.compile(r"\s{0,16}<returncode>(-?\d{1,10})</returncode>")
_PERSON: Final = frozenset({"UserInterruption", "UserRejection", "UserNewTask"})
_TEXTS: Final = frozenset({"text", "output_text", "summary_text", "reasoning_text"})


def moment(message: Any) -> tuple[float | None, str]:
    """Return a message's time, or that of the response it is, with a word on the latter."""
    extra = member(message, "extra")
    seconds = values.epoch_time(member(extra, "timestamp"))
    if seconds is not None:
        return seconds, ""
    seconds = values.epoch_time(member(extra, "response", "created"))
    return seconds, "response_created" if seconds is not None else ""


def text_action(text: str) -> str:
    """Return the one command that an answer holds between fences, "" for none or several."""
    found = list(_FENCE.finditer(text))
    if len(found) != 1:
        return ""
    command, closed, _ = text[found[0].end() :].partition("\n```")
    return command.strip() if closed else ""


class Messages:
    """Reads the messages of one run in order."""

    def __init__(self, model: str, *, exited: bool) -> None:
        self._model = model
        self._exited = exited
        self._calls = Calls()
        self._open = 0
        self._asked = False
        self.ended = False
        """A message told the end."""
        self.counted = False
        """A message told what its response used."""

    def read(self, record: Record, *, last: bool) -> Iterator[Event]:
        """Yield what a message gives."""
        message = record.value
        if not isinstance(message, dict):
            record.name = "message"
            yield record.whole("message")
            return
        role, kind = word(message, "role"), word(message, "type") or word(message, "object")
        record.name = f"message/{role or kind or 'unknown'}"
        if role == "system":
            told = content.read(message.get("content"))
            words = {"operation": "system_message", "content": told.text, **told.words}
            yield record.event("legacy.imported", words, _rest(message, told), role=role)
        elif role == "assistant" or kind == "response":
            yield from self._assistant(record, message)
        elif role == "tool" or kind == "function_call_output":
            yield self._result(record, message)
        elif role == "user":
            yield self._user(record, message, last=last)
        elif role == "exit":
            self.ended = True
            yield exited(record, message)
        else:
            yield record.whole("message")

    def _assistant(self, record: Record, message: dict[str, Any]) -> Iterator[Event]:
        told = content.read(message.get("content"))
        output = listed(message.get("output"))
        for item in objects(output):
            if item.get("type") == "message":
                told.texts += _parts(item.get("content"))
        response = member(message, "extra", "response")
        model = word(message, "model") or word(response, "model") or self._model
        words = {"content": told.text, **told.words, "reasoning": _reasoning(message, output)}
        rest = _rest(message, told, "timestamp")
        calls = message.get("tool_calls")
        called = objects(calls)
        if isinstance(calls, list) and len(called) == len(calls):
            rest.pop("tool_calls", None)
        yield record.event("message.assistant", words, rest, role="assistant", model=model)
        called += [item for item in objects(output) if item.get("type") == "function_call"]
        for call in called:
            yield self._called(record, call, model)
        if not called:
            for command in _commands(message, told.text):
                self._open += 1
                words = {"tool": TOOL, "arguments": {"command": command}}
                yield record.event("tool.called", words, model=model)
        yield from self._usage(record, message, model)

    def _called(self, record: Record, call: dict[str, Any], model: str) -> Event:
        function = call.get("function")
        function = function if isinstance(function, dict) else call
        tool = word(function, "name")
        call_id = word(call, "call_id") or word(call, "id")
        self._calls.called(call_id, tool)
        words = {"tool": tool, "arguments": values.arguments(function.get("arguments"))}
        return record.event("tool.called", words, {"call": call}, call_id=call_id, model=model)

    def _result(self, record: Record, message: dict[str, Any]) -> Event:
        call_id = word(message, "tool_call_id") or word(message, "call_id")
        key = "output" if "output" in message else "content"
        told = content.read(message.get(key))
        words = {"tool": self._calls.answered(call_id) or "", **_outcome(message, told.text), **told.words}
        if message.get(key) is not None:
            words["result"] = told.text
        fields = _rest(message, told, "timestamp", body=key)
        for name in ("tool_call_id", "call_id"):
            if fields.get(name) == call_id:
                del fields[name]
        return record.event("tool.completed", words, fields, call_id=call_id, role="tool")

    def _user(self, record: Record, message: dict[str, Any], *, last: bool) -> Event:
        """Return a result where a command waits for one; else what was asked, by a person or the program."""
        told = content.read(message.get("content"))
        rest = _rest(message, told, "timestamp")
        why = word(message, "extra", "interrupt_type")
        if self._open and why not in _PERSON:
            self._open -= 1
            words = {"tool": TOOL, **_outcome(message, told.text), **told.words}
            if message.get("content") is not None:
                words["result"] = told.text
            return record.event("tool.completed", words, rest)
        self._open = 0 if why in _PERSON else self._open
        words = {"content": told.text, **told.words}
        if self._asked and ((why and why not in _PERSON) or (last and self._exited)):
            words = {"operation": "environment_message", **words}
            return record.event("legacy.imported", words, rest, role="user")
        self._asked = True
        return record.event("message.user", words, rest, role="user")

    def _usage(self, record: Record, message: dict[str, Any], model: str) -> Iterator[Event]:
        response = member(message, "extra", "response")
        response = response if isinstance(response, dict) else message
        usage, cost = response.get("usage"), number(message, "extra", "cost")
        if "usage" not in response and cost is None:
            return
        self.counted = True
        counts = {
            "input_tokens": _first(usage, ("prompt_tokens",), ("input_tokens",)),
            "output_tokens": _first(usage, ("completion_tokens",), ("output_tokens",)),
            "cost_usd": cost,
            "cache_read_tokens": _first(
                usage,
                ("cache_read_input_tokens",),
                ("prompt_tokens_details", "cached_tokens"),
                ("input_tokens_details", "cached_tokens"),
            ),
            "cache_creation_tokens": _first(usage, ("cache_creation_input_tokens",)),
            "reasoning_tokens": _first(
                usage,
                ("completion_tokens_details", "reasoning_tokens"),
                ("output_tokens_details", "reasoning_tokens"),
            ),
        }
        words = values.usage(**counts, response_id=word(response, "id") or None)
        yield record.event("usage.recorded", words, model=model)


def _first(given: Any, *paths: tuple[str, ...]) -> int | float | None:
    found = (number(given, *path) for path in paths)
    return next((value for value in found if value is not None), None)


def _commands(message: dict[str, Any], text: str) -> list[str]:
    """Return the commands that an answer is taken for: as the agent noted them, else by its fences."""
    actions = member(message, "extra", "actions")
    if isinstance(actions, list):
        noted = [one if isinstance(one, str) else word(one, "command") for one in actions]
        return [command for command in noted if command]
    command = text_action(text)
    return [command] if command else []


def _outcome(message: dict[str, Any], text: str) -> dict[str, Any]:
    """Return a command's exit code and whether it failed, where a message tells."""
    code = number(message, "extra", "returncode")
    found = _RETURNED.match(text) if code is None else None
    code = int(found[1]) if found else code
    return {"is_error": None} if code is None else {"is_error": code != 0, "exit_code": code}


def _reasoning(message: dict[str, Any], output: list[Any]) -> dict[str, Any]:
    choice = next(iter(objects(member(message, "extra", "response", "choices"))), {})
    for given in (message, choice.get("message")):
        text = word(given, "reasoning_content")
        blocks = objects(member(given, "thinking_blocks"))
        text = text or "\n".join(one["thinking"] for one in blocks if isinstance(one.get("thinking"), str))
        if text:
            return values.reasoning(text)
    items = [item for item in objects(output) if item.get("type") == "reasoning"]
    texts = [text for item in items for key in ("summary", "content") for text in _parts(item.get(key))]
    if items and not texts and any(item.get("encrypted_content") for item in items):
        return values.reasoning(None, status="withheld")
    return values.reasoning("\n".join(texts))


def _parts(given: Any) -> list[str]:
    if isinstance(given, str):
        return [given]
    return [word(one, "text") for one in objects(given) if word(one, "type") in _TEXTS]


def _rest(
    message: dict[str, Any], told: content.Content, *extra: str, body: str = "content"
) -> dict[str, Any]:
    """Return what no word holds of a message; `extra` names members of its own `extra` that a column does."""
    rest = without(message, "role", *([body] if told.whole else []))
    if body in rest:
        rest[body] = content.without_data(rest[body])
    noted = rest.get("extra")
    if isinstance(noted, dict):
        time = values.epoch_time(noted.get("timestamp")) is not None
        rest["extra"] = without(noted, *(extra if time else ()))
        if noted and not rest["extra"]:
            del rest["extra"]
    return rest
