"""The spans of one session, each event entered in the ledger with the span that holds it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.framed import Document
from geode_traj.export.ways import chat, said
from geode_traj.export.ways.ledger import Ledger
from geode_traj.export.ways.otlp.values import attributes, nanoseconds, span, span_id, trace_id
from geode_traj.export.ways.steps import Event, Step, steps
from geode_traj.export.ways.words import derived_marks

INTERNAL: Final = 1
CLIENT: Final = 3
_ERROR: Final = {"code": 2}
_MAX_ERRORS: Final = 128
_SPOKEN: Final = frozenset({"content", "reasoning.text", "operation", "branch", "active_leaf", "model"})
_COUNTS: Final = {
    "gen_ai.usage.output_tokens": "output_tokens",
    "gen_ai.usage.cache_read.input_tokens": "cache_read_tokens",
    "gen_ai.usage.cache_creation.input_tokens": "cache_creation_tokens",
    "gen_ai.usage.reasoning.output_tokens": "reasoning_tokens",
}
_PROVIDER: Final = "gen_ai.provider.name is required and not recorded of every response: it is left out there"
_FINISH: Final = "finish_reason is required and not recorded of every response: 'unknown' stands there"


class Trace:
    """Iterate `spans`; `service` is known from the first on."""

    def __init__(self, document: Document, ledger: Ledger) -> None:
        self._document = document
        self._ledger = ledger
        self._session = ledger.sessions[-1]
        self._trace = trace_id(self._session)
        self._root = span_id("session", self._session)
        self._input: list[dict[str, Any]] = []
        self._errors: list[dict[str, Any]] = []
        self._values: dict[str, Any] = {}
        self._failed = False
        self._first: Event | None = None
        self._last: Event | None = None
        self.service = ""

    def spans(self) -> Iterator[dict[str, Any]]:
        """Yield the spans as they end, the session's last."""
        for step in steps(self._document):
            for event in step.events:
                self._extend(event)
            self.service = self.service or said.text(step.first["payload"], "source")
            if step.first["payload"].get("copied_context"):
                for event in step.events:
                    self._ledger.left_out(event, chat.COPIED)
            elif step.source in ("agent", "usage"):
                yield from self._response(step)
            elif step.source == "result":
                self._answer(step.first)
                held = {said.result(step.first)[0], "call_id"}
                self._ledger.carried(step.first, held)
            elif step.source == "other":
                self._other(step.first)
            else:
                self._heard(step)
        if self._first is not None and self._last is not None:
            yield self._whole(self._first, self._last)

    def _extend(self, event: Event) -> None:
        if self._first is None or 0 < nanoseconds(event) < nanoseconds(self._first):
            self._first = event
        if self._last is None or nanoseconds(event) > nanoseconds(self._last):
            self._last = event

    def _heard(self, step: Step) -> None:
        """Take what a user or the system said: the next response's input."""
        for event in step.messages:
            role = "user" if step.source == "user" else "system"
            self._input.append({"role": role, "parts": [{"type": "text", "content": said.content(event)}]})
            self._ledger.carried(event, _SPOKEN)

    def _answer(self, event: Event) -> None:
        part = {"type": "tool_call_response", "response": said.result(event)[1]}
        if event["call_id"]:
            part["id"] = event["call_id"]
        self._input.append({"role": "tool", "parts": [part]})

    def _response(self, step: Step) -> Iterator[dict[str, Any]]:
        said_by_model = [*step.messages, *step.calls, *([step.usage] if step.usage else [])]
        own = span_id("response", step.first["event_id"])
        ids = {"traceId": self._trace, "spanId": own, "parentSpanId": self._root}
        model = _any(said_by_model, "model")
        values = self._described(step, said_by_model, model)
        made = span(ids, f"chat {model}".strip(), CLIENT, said_by_model, values)
        pairs = _paired(step)
        times = {made["startTimeUnixNano"], made["endTimeUnixNano"]}
        for event in step.messages:
            self._ledger.carried(event, _SPOKEN | step.told(event) | _held(event, values, times))
        for call in step.calls:
            started = {"occurred_at"} if id(call) in pairs else set()
            held = {"tool", "arguments", "call_id", "model", "branch"} | started
            self._ledger.carried(call, held | _held(call, values, times))
        if step.usage is not None:
            self._used(step.usage, values, times)
        yield made
        for call in step.calls:
            if id(call) in pairs:
                yield self._tool(call, pairs[id(call)], own, values)
        for result in step.results:
            self._answer(result)

    def _described(self, step: Step, events: list[Event], model: str) -> dict[str, Any]:
        """Return the attributes of a response."""
        provider = _any(events, "provider")
        if not provider:
            self._ledger.note(_PROVIDER)
        finish = _any(events, "stop_reason") or _any(events, "finish_reason")
        values: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.conversation.id": self._session,
            "gen_ai.provider.name": provider,
            "gen_ai.response.model": model,
            "gen_ai.response.id": _any(events, "response_id"),
            "gen_ai.response.finish_reasons": [finish] if finish else None,
            "geode_traj.turn_id": step.first["turn_id"],
            "geode_traj.branch": said.text(step.first["payload"], "branch"),
        }
        if self._input:
            values["gen_ai.input.messages"] = dumps(self._input).decode()
            self._input = []
        if step.messages or step.calls:
            if not finish:
                self._ledger.note(_FINISH)
            message = {"role": "assistant", "parts": _parts(step), "finish_reason": finish or "unknown"}
            values["gen_ai.output.messages"] = dumps([message]).decode()
        if step.usage is not None:
            payload = step.usage["payload"]
            values["gen_ai.usage.input_tokens"] = said.input_tokens(payload)
            values |= {name: said.whole(payload.get(word)) for name, word in _COUNTS.items()}
            values["geode_traj.usage.cost_usd"] = said.number(payload.get("cost_usd"))
            values["geode_traj.usage.purpose"] = said.text(payload, "purpose")
        return values

    def _used(self, event: Event, values: dict[str, Any], times: set[str]) -> None:
        payload = event["payload"]
        held = {word for name, word in _COUNTS.items() if values.get(name) is not None}
        held |= {"cost_usd", "purpose", "model", "input_includes_cached"}
        if values["gen_ai.usage.input_tokens"] is not None:
            held.add("input_tokens")  # the sum of parts that stand beside it, or itself
        lost = {"input_tokens": "it is not known whether cached tokens are among them"}
        if payload.get("cost_usd") is not None and values["geode_traj.usage.cost_usd"] is None:
            held.discard("cost_usd")
        self._ledger.carried(event, held | _held(event, values, times), lost)

    def _tool(self, call: Event, result: Event, parent: str, response: dict[str, Any]) -> dict[str, Any]:
        """Return the span of a call and what came of it."""
        payload = result["payload"]
        word, value = said.result(result)
        failed = payload.get("is_error") is True
        values = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": said.tool(call),
            "gen_ai.tool.call.id": call["call_id"],
            "gen_ai.tool.call.arguments": said.arguments_text(call),
            "gen_ai.tool.call.result": said.plain(value),
            "error.type": "_OTHER" if failed else None,
            "geode_traj.status": said.text(payload, "status"),
            "geode_traj.turn_id": result["turn_id"],
        }
        ids = {"traceId": self._trace, "spanId": span_id("call", call["event_id"]), "parentSpanId": parent}
        made = span(ids, f"execute_tool {said.tool(call)}".strip(), INTERNAL, (call, result), values)
        held = {word, "tool", "call_id", "status", "turn_id", "branch", "occurred_at"}
        if failed or said.text(payload, "status") == "ok":
            held.add("is_error")
        self._ledger.carried(result, held)
        return made | ({"status": _ERROR} if failed else {})

    def _other(self, event: Event) -> None:
        payload, kind = event["payload"], event["kind"]
        if kind == "session.started" and not self._values:
            agent = payload.get("agent")
            name = said.text(agent, "name") if isinstance(agent, dict) else ""
            self._values = {"gen_ai.request.model": payload["model"], "gen_ai.agent.name": name}
            self._values["gen_ai.provider.name"] = payload["provider"]
            self._ledger.carried(event, {"model", "provider", "status", "occurred_at"})
        elif kind == "session.ended":
            self._failed = payload["status"] == "error"
            self._values["geode_traj.status"] = payload["status"]
            self._ledger.carried(event, {"status"})
        elif kind == "error.recorded" and len(self._errors) < _MAX_ERRORS:
            self._errors.append(_exception(event))
            self._ledger.carried(event, {"error_type", "message", "occurred_at", "status"})
        else:
            reasons = {"error.recorded": f"a span has at most {_MAX_ERRORS} events"}
            self._ledger.left_out(event, reasons.get(kind) or chat.why_not(event))

    def _whole(self, first: Event, last: Event) -> dict[str, Any]:
        name = self._values.get("gen_ai.agent.name", "")
        values = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.conversation.id": self._session,
            "gen_ai.input.messages": dumps(self._input).decode() if self._input else None,
            **self._values,
        }
        ids = {"traceId": self._trace, "spanId": self._root}
        made = span(ids, f"invoke_agent {name}".strip(), INTERNAL, (first, last), values)
        made |= {"events": self._errors} if self._errors else {}
        return made | ({"status": _ERROR} if self._failed else {})


def _parts(step: Step) -> list[dict[str, Any]]:
    """Return what a response consists of, in the conventions' form of messages."""
    parts: list[dict[str, Any]] = []
    if step.reasoning:
        parts.append({"type": "reasoning", "content": step.reasoning})
    if step.text:
        parts.append({"type": "text", "content": step.text})
    for call in step.calls:
        parts.append(
            {
                "type": "tool_call",
                "id": call["call_id"] or None,
                "name": said.tool(call),
                "arguments": said.arguments(call),
            }
        )
    return parts


def _paired(step: Step) -> dict[int, Event]:
    """Return the result of each call that was answered, by the call's identity."""
    waiting = list(step.calls)
    pairs: dict[int, Event] = {}
    for result in step.results:
        call = next(call for call in waiting if call["call_id"] == result["call_id"])
        waiting.remove(call)
        pairs[id(call)] = result
    return pairs


def _held(event: Event, values: dict[str, Any], times: set[str]) -> set[str]:
    """Return which words of an event the attributes and the times of its response hold."""
    held = {"occurred_at"} if str(nanoseconds(event)) in times else set()
    shown = {
        "provider": values["gen_ai.provider.name"],
        "response_id": values["gen_ai.response.id"],
        "model": values["gen_ai.response.model"],
        "stop_reason": (values["gen_ai.response.finish_reasons"] or [None])[0],
        "finish_reason": (values["gen_ai.response.finish_reasons"] or [None])[0],
    }
    held |= {word for word, value in shown.items() if event["payload"].get(word) == value}
    native = "turn_id" not in derived_marks(event)
    return held | ({"turn_id"} if native and event["turn_id"] == values["geode_traj.turn_id"] else set())


def _any(events: list[Event], word: str) -> str:
    return next(filter(None, (said.text(event["payload"], word) for event in events)), "")


def _exception(event: Event) -> dict[str, Any]:
    payload = event["payload"]
    message = said.plain(payload.get("message"))
    values = {"exception.type": said.text(payload, "error_type"), "exception.message": message}
    return {"timeUnixNano": str(nanoseconds(event)), "name": "exception", "attributes": attributes(values)}
