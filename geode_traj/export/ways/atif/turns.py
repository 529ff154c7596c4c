"""The steps of one session as ATIF has them, each entered in the ledger event by event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from geode_traj.codec.framed import Document
from geode_traj.export.ways import chat, said
from geode_traj.export.ways.atif import fields
from geode_traj.export.ways.atif.root import Root
from geode_traj.export.ways.ledger import Ledger
from geode_traj.export.ways.steps import Event, Step, steps
from geode_traj.export.ways.words import derived_marks, time

_SPOKEN: Final = frozenset(
    {"content", "reasoning.text", "branch", "active_leaf", "copied_context", "operation"}
)
_STEP: Final = frozenset({"extra", "reasoning_effort", "llm_call_count", "step_id"})


class Turns:
    """Iterating yields steps without their number."""

    def __init__(self, document: Document, ledger: Ledger, root: Root, *, audio: bool) -> None:
        self._document = document
        self._ledger = ledger
        self._root = root
        self._audio = audio
        self._referred: Any = None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for step in steps(self._document):
            first = step.first
            self._root.see(first)
            if first["payload"].get("branch") == "abandoned":
                for event in step.events:
                    self._ledger.left_out(event, chat.ABANDONED)
            elif step.source == "other":
                yield from self._other(first)
            elif step.source == "result":
                reason = "its step was written before it came" if step.late else "its call is not there"
                yield self._observation(first, {"call_id": reason})
            else:
                yield self._step(step)

    def _other(self, event: Event) -> Iterator[dict[str, Any]]:
        kind, operation = event["kind"], event["payload"].get("operation")
        if kind == "session.started":
            self._root.started(event)
        elif operation == "observation" and said.result(event)[1] is not None:
            yield self._observation(event, {})
        elif operation == "final_metrics" and self._root.final_metrics(event):
            self._ledger.carried(event, {"operation", "final_metrics"})
        elif operation == "continued" and self._root.continued(event):
            self._ledger.carried(event, {"operation", "continued_trajectory_ref"})
        elif kind in ("subagent.started", "subagent.stopped") and fields.reference(event):
            yield from self._reference(event)
        else:
            self._ledger.left_out(event, chat.why_not(event))

    def _reference(self, event: Event) -> Iterator[dict[str, Any]]:
        """Yield a step that refers to a sub-agent's trajectory; its start and its stop are told by one."""
        reference = fields.reference(event)
        held = {"reference", "child_session_key", "status"}
        if event["kind"] == "subagent.started" or reference != self._referred:
            yield _system(event, {"subagent_trajectory_ref": [reference]})
            held.add("occurred_at")
        self._referred = reference if event["kind"] == "subagent.started" else None
        self._ledger.carried(event, held)

    def _observation(self, event: Event, lost: Mapping[str, str]) -> dict[str, Any]:
        """Return a step of its own for what was observed without a call: no call is invented for it."""
        made, held = fields.result(event, audio=self._audio)
        more, names = fields.further(event, held | {"operation"}, first=event)
        if more:
            made["extra"] = more
        restored = fields.whole_fields(event, {"extra", "source_call_id"})
        self._ledger.carried(event, held | names | restored | {"operation"}, lost)
        return _system(event, made)

    def _step(self, step: Step) -> dict[str, Any]:
        first = step.first
        source = "agent" if step.source == "usage" else step.source
        made: dict[str, Any] = {**_timestamp(first), "source": source, "message": ""}
        extra: dict[str, Any] = {}
        turn = _native_turn(first)
        if turn:
            extra["turn_id"] = turn
        self._messages(step, made, extra)
        if step.calls:
            made["tool_calls"] = [self._call(call, first) for call in step.calls]
        if step.usage is not None:
            self._usage(step.usage, first, made)
        if step.results:
            made["observation"] = {"results": [self._result(result, first) for result in step.results]}
        model = next(filter(None, (event["payload"]["model"] for event in step.events)), "")
        if source == "agent" and model:
            made["model_name"] = model
        return made | ({"extra": extra} if extra else {})

    def _messages(self, step: Step, made: dict[str, Any], extra: dict[str, Any]) -> None:
        """Write what was said and thought, and enter the messages."""
        made["message"] = step.text
        if step.reasoning:
            made["reasoning_content"] = step.reasoning
        marked = [event["payload"].get("copied_context") is True for event in (*step.messages, *step.calls)]
        if marked and all(marked):
            made["is_copied_context"] = True
        for event in step.messages:
            held = {*_SPOKEN, *step.told(event)}
            if len(step.messages) == 1:
                made["message"], media = fields.content(step.text, event, audio=self._audio)
                held |= media
            if event["actor"] == "developer":
                extra["role"] = "developer"
            if step.source == "agent":
                held.add("model")
            more, names = fields.further(event, held)
            for key, value in more.items():
                if extra.setdefault(key, value) != value:  # another part of the step has said otherwise
                    names.discard("reasoning.status" if key == "reasoning_status" else key)
            held |= names | _place(event, step.first) | self._restored(event, step, made)
            self._ledger.carried(event, held)

    def _restored(self, event: Event, step: Step, made: dict[str, Any]) -> set[str]:
        """Put back what a step of ATIF said beside its message."""
        if step.source != "agent":
            return fields.whole_fields(event, {"extra", "step_id"})
        given = fields.native(event)
        effort, calls = given.get("reasoning_effort"), given.get("llm_call_count")
        if isinstance(effort, str | int | float) and not isinstance(effort, bool):
            made["reasoning_effort"] = effort
        if type(calls) is int and (calls > 0 or (calls == 0 and not step.usage and not step.reasoning)):
            made["llm_call_count"] = calls
        return fields.whole_fields(event, _STEP)

    def _call(self, call: Event, first: Event) -> dict[str, Any]:
        given = call["payload"].get("arguments")
        made: dict[str, Any] = {
            "tool_call_id": call["call_id"],
            "function_name": said.tool(call),
            "arguments": given if isinstance(given, dict) else {} if given is None else {"_value": given},
        }
        held = {"tool", "arguments", "call_id", "model", "branch", "copied_context"}
        more, names = fields.further(call, held | {"response_id"}, first=first)
        if more:
            made["extra"] = more
        held |= {"response_id"} if said.response_id(call) == said.response_id(first) else set()
        held |= names | (_place(call, first) & {"turn_id"}) | fields.whole_fields(call, {"extra"})
        self._ledger.carried(call, held)
        return made

    def _result(self, event: Event, first: Event) -> dict[str, Any]:
        made, held = fields.result(event, audio=self._audio)
        made["source_call_id"] = event["call_id"]
        held |= {"tool", "call_id", "branch", "copied_context"}
        more, names = fields.further(event, held, first=first)
        if more:
            made["extra"] = more
        held |= names | (_place(event, first) & {"turn_id"}) | fields.whole_fields(event, {"extra"})
        self._ledger.carried(event, held)
        return made

    def _usage(self, event: Event, first: Event, made: dict[str, Any]) -> None:
        made["metrics"], held = fields.metrics(event)
        self._root.used(made["metrics"])
        self._ledger.carried(event, held | _place(event, first))


def _system(event: Event, result: dict[str, Any]) -> dict[str, Any]:
    return {
        **_timestamp(event),
        "source": "system",
        "message": "",
        "observation": {"results": [result]},
    }


def _timestamp(event: Event) -> dict[str, str]:
    return {"timestamp": time(event)} if time(event) else {}


def _native_turn(event: Event) -> str:
    return "" if "turn_id" in derived_marks(event) else str(event["turn_id"])


def _place(event: Event, first: Event) -> set[str]:
    """Return which of its time and its turn an event shares with the step it is part of."""
    held = {"occurred_at"} if time(event) == time(first) else set()
    return held | ({"turn_id"} if _native_turn(event) == _native_turn(first) else set())
