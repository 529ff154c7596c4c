"""Events of the OpenHands SDK, the second generation: messages, actions, observations by kind."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any, Final

from geode_traj.model.event import Event, Item
from geode_traj.sources import content, values
from geode_traj.sources.fields import member, objects, without, word
from geode_traj.sources.openhands.fields import full, outcome, rest_of
from geode_traj.sources.openhands.meter import Meter
from geode_traj.sources.record import Record

_RESULTS: Final = frozenset({"ObservationEvent", "AgentErrorEvent", "UserRejectObservation"})
# Neither tools nor agents: what the program does around them (importer decision J2).
_WORKFLOW: Final = frozenset(
    """Condensation CondensationRequest PauseEvent InterruptEvent TokenEvent StreamingDeltaEvent
    LLMCompletionLogEvent HookExecutionEvent ConversationStateUpdateEvent""".split()
)
_ENDED_TURN: Final = {"finished": "completed", "error": "error", "stuck": "error"}
_REASONS: Final = {"AgentErrorEvent": "error", "UserRejectObservation": "rejection_reason"}
_ROLES: Final = {"user": "user", "agent": "assistant"}
_SAID: Final = frozenset({"purpose", "response_id"})
MAX_HELD: Final = 64
"""Results that may wait at once for a call that is stored behind them."""


class V1:
    """Reads a conversation's events in order.

    `metered` says that the conversation's own statistics tell what was used, `ids` which events there are
    (None where that is not known before their end).
    """

    def __init__(self, ids: Container[str] | None = None, *, metered: bool = False) -> None:
        self._metered = metered
        self._ids = ids
        self._meter = Meter()
        self._calls: dict[str, tuple[str, str]] = {}
        self._held: dict[str, Record] = {}
        self._over = False

    def read(self, record: Record) -> Iterator[Item]:
        """Yield what an event gives; a result stored before its call comes behind it."""
        value = record.value
        kind = record.name = word(value, "kind")
        if kind in _RESULTS:
            action = word(value, "action_id")
            comes = self._ids is None or action in self._ids
            if action and action not in self._calls and comes:
                yield from self._hold(action, record)
            else:
                yield from self._result(record)
        elif kind == "ActionEvent":
            yield from self._action(record)
            held = self._held.pop(word(value, "id"), None)
            if held is not None:
                yield from self._result(held)
        elif kind == "MessageEvent":
            yield self._message(record)
        else:
            yield from self._other(record, kind)

    def end(self) -> Iterator[Item]:
        """Yield the results whose calls never came."""
        held, self._held = self._held, {}
        for record in held.values():
            yield from self._result(record)

    def _hold(self, action: str, record: Record) -> Iterator[Item]:
        earlier = self._held.pop(action, None)
        if earlier is None and len(self._held) >= MAX_HELD:
            earlier = self._held.pop(next(iter(self._held)))
        if earlier is not None:
            yield from self._result(earlier)
        self._held[action] = record

    def _message(self, record: Record) -> Event:
        value, source = record.value, word(record.value, "source")
        message = value.get("llm_message")
        told = content.read(member(message, "content"))
        rest = rest_of(record, *(["source"] if source in _ROLES else []))
        if isinstance(message, dict):
            left = without(message, *(["content"] if told.whole else []))
            if "content" in left:
                left["content"] = content.without_data(left["content"])
            rest["llm_message"] = without(left, *(["role"] if left.get("role") == _ROLES.get(source) else []))
        words: dict[str, Any] = {"content": told.text, **told.words}
        if source == "user":
            self._over = False
            return record.event("message.user", words, full(rest), role="user")
        if source == "agent":
            words["reasoning"] = _reasoning(message)
            return record.event("message.assistant", words, full(rest), role="assistant")
        return record.event(
            "legacy.imported", {"operation": "environment_message", **words}, full(rest), role=source
        )

    def _action(self, record: Record) -> Iterator[Event]:
        value = record.value
        thought = content.read(value.get("thought"))
        reasoning = _reasoning(value)
        response = word(value, "llm_response_id")
        placed = ["tool_call_id", "tool_name"]
        if thought.text or reasoning["status"] == "present":
            words = {"content": thought.text, **thought.words, "reasoning": reasoning}
            placed += ["thought"] if thought.whole else []
            placed += ["reasoning_content"] if word(value, "reasoning_content") else []
            yield record.event("message.assistant", words, role="assistant")
        tool_call = value.get("tool_call")
        tool = word(value, "tool_name") or word(tool_call, "name") or word(tool_call, "function", "name")
        call_id = word(value, "tool_call_id") or word(tool_call, "id") or word(value, "id")
        given = member(tool_call, "arguments")
        given = member(tool_call, "function", "arguments") if given is None else given
        if given is None and isinstance(value.get("action"), dict):
            given = without(value["action"], "kind")
        if word(value, "id"):
            self._calls[word(value, "id")] = (call_id, tool)
        words = {"tool": tool, "arguments": values.arguments(given)}
        fields = rest_of(record, *(key for key in placed if isinstance(value.get(key), str | list)))
        if response:
            words["response_id"] = response
            del fields["llm_response_id"]
        yield record.event("tool.called", words, fields, call_id=call_id)

    def _result(self, record: Record) -> Iterator[Event]:
        value, kind = record.value, record.name
        known, tool = self._calls.get(word(value, "action_id"), ("", ""))
        call_id = word(value, "tool_call_id") or known or word(value, "action_id")
        tool = word(value, "tool_name") or tool
        fields = rest_of(record, *(key for key in ("tool_name", "tool_call_id") if word(value, key)))
        if kind == "ObservationEvent":
            words = _observed(value.get("observation"), fields)
            if not call_id and not tool:  # the environment shows something by itself
                words = {"operation": "observation", **words}
                yield record.event("legacy.imported", words, full(fields), role="environment")
                return
        elif not call_id and not tool:
            words = {"error_type": kind, "message": fields.pop("error", None)}
            yield record.event("error.recorded", words, fields, status="error")
            return
        else:
            words = {"is_error": True, "result": fields.pop(_REASONS[kind], None)}
        status = "rejected" if kind == "UserRejectObservation" else outcome(words["is_error"])
        words = {"tool": tool, **words}
        yield record.event("tool.completed", words, full(fields), call_id=call_id, status=status)
        if tool == "finish" and status != "error":
            yield self._completed(record, "completed", "finish")

    def _completed(self, record: Record, status: str, reason: str) -> Event:
        self._over = True
        return record.event("turn.completed", {"termination_reason": reason}, status=status)

    def _other(self, record: Record, kind: str) -> Iterator[Event]:
        value = record.value
        if kind == "SystemPromptEvent":
            told = content.read(value.get("system_prompt"))
            words: dict[str, Any] = {"operation": "system_message", "content": told.text}
            words |= {"tool_definitions": value["tools"]} if "tools" in value else {}
            rest = rest_of(record, "tools", *(["system_prompt"] if told.whole else []))
            yield record.event("legacy.imported", words, rest, role="system")
        elif kind == "CondensationSummaryEvent":
            words = {"operation": "summary", "content": value.get("summary"), "is_summary": True}
            words["copied_context"] = True
            yield record.event("legacy.imported", words, rest_of(record, "summary"))
        elif kind == "ConversationErrorEvent":
            words = {"error_type": value.get("code"), "message": value.get("detail")}
            rest = rest_of(record, "code", "detail")
            yield record.event("error.recorded", words, rest, status="error")
        else:
            yield record.whole(kind, raw=kind not in _WORKFLOW)
            if kind == "ConversationStateUpdateEvent":
                yield from self._state(record, value)

    def _state(self, record: Record, value: dict[str, Any]) -> Iterator[Event]:
        key, told = word(value, "key"), value.get("value")
        whole = key == "full_state"
        status = member(told, "execution_status") if whole else told if key == "execution_status" else None
        if isinstance(status, str) and status in _ENDED_TURN and not self._over:
            yield self._completed(record, _ENDED_TURN[status], status)
        stats = member(told, "stats") if whole else told if key == "stats" else None
        if not self._metered:
            for used, model in self._used(stats):
                yield record.event("usage.recorded", used, model=model)

    def _used(self, stats: Any) -> Iterator[tuple[dict[str, Any], str]]:
        """Yield what was used since the conversation's statistics were last told, by purpose, and of what."""
        for purpose, metrics in sorted(_pairs(member(stats, "usage_to_metrics"))):
            if isinstance(metrics, dict):
                used = self._meter.used(purpose, metrics, purpose=purpose)
                if used is not None and any(value for key, value in used.items() if key not in _SAID):
                    yield used, word(metrics, "model_name")


def _pairs(given: Any) -> list[tuple[str, Any]]:
    return list(given.items()) if isinstance(given, dict) else []


def _observed(seen: Any, fields: dict[str, Any]) -> dict[str, Any]:
    """Return what an observation shows as words; what they do not hold stays in `fields`."""
    told = content.read(_seen(seen))
    error = member(seen, "is_error")
    error = error if isinstance(error, bool) else None
    if isinstance(seen, str):
        del fields["observation"]
    elif isinstance(seen, dict):
        left = without(seen, "content") if told.whole else seen
        if "content" in left:
            left = {**left, "content": content.without_data(left["content"])}
        fields["observation"] = without(left, *(["is_error"] if error is not None else []))
    shown = {"result": told.text} if _seen(seen) is not None else {}  # an empty result is not a missing one
    return {"is_error": error, **shown, **told.words}


def _seen(observation: Any) -> Any:
    """Return what an observation shows: its content, or what older tools call output."""
    if isinstance(observation, str):
        return observation
    for key in ("content", "output"):
        if member(observation, key) is not None:
            return observation[key]
    return None


def _reasoning(given: Any) -> dict[str, Any]:
    """Return what was thought: as text, in blocks, or the fact that it is there but unreadable."""
    text = word(given, "reasoning_content")
    blocks = objects(member(given, "thinking_blocks"))
    text = text or "\n".join(one["thinking"] for one in blocks if isinstance(one.get("thinking"), str))
    item = member(given, "responses_reasoning_item")
    if not text and isinstance(item, dict):
        parts = [*_texts(item.get("summary")), *_texts(item.get("content"))]
        text = "\n".join(parts)
        if not text and item.get("encrypted_content"):
            return values.reasoning(None, status="withheld")
    if not text and blocks:
        return values.reasoning(None, status="withheld")
    return values.reasoning(text)


def _texts(given: Any) -> list[str]:
    parts = given if isinstance(given, list) else []
    return [one if isinstance(one, str) else word(one, "text") for one in parts]
