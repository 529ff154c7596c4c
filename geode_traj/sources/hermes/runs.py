"""Events of a run, as Hermes's runs API sends them and Nagato keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from geode_traj.sources import values

ENDS: Final = {
    "run.completed": "completed",
    "run.failed": "failed",
    "run.cancelled": "cancelled",
    "run.interrupted": "interrupted",
}
_KNOWN: Final = frozenset(
    """message.delta reasoning.available reasoning.delta approval.request approval.responded run.steered
    run.stopping""".split()
)


@dataclass(slots=True)
class RunEvent:
    """One event of a run as kind and payload; `placed` are the fields that stand in the payload or a column.

    `before` are events that the same record gives and that come first, `after` those that come later.
    """

    kind: str
    payload: dict[str, Any]
    placed: frozenset[str] = frozenset()
    status: str = ""
    role: str = ""
    model: str = ""
    raw: bool = False
    before: tuple[RunEvent, ...] = ()
    after: tuple[RunEvent, ...] = ()


def run_event(name: str, fields: dict[str, Any], preview: str = "") -> RunEvent:
    """Return what an event means; `preview` is the reasoning that was announced for the run's answer."""
    if name == "tool.started":
        return _called(fields)
    if name == "tool.completed":
        return _completed(fields)
    if name == "subagent.start":
        return _agent("subagent.started", fields)
    if name == "subagent.complete":
        return _agent("subagent.stopped", fields)
    if name in ENDS:
        return _ended(name, fields, preview)
    if name in _KNOWN:
        told, placed = _told(name, fields)
        return RunEvent("legacy.imported", {"operation": name, **told}, placed)
    return RunEvent("legacy.imported", {"operation": name}, raw=True)


def _told(name: str, fields: dict[str, Any]) -> tuple[dict[str, Any], frozenset[str]]:
    """Return what a known event says, and which fields say it."""
    if name == "message.delta":
        return {"delta": fields.get("delta")}, frozenset({"delta"})
    if not name.startswith("reasoning."):
        return {}, frozenset()
    available = name == "reasoning.available"  # cut, and maybe taken from the answer
    key = "text" if available or "text" in fields else "delta"
    reasoning = values.reasoning(fields.get(key), status="preview" if available else "present")
    return {"reasoning": reasoning}, frozenset({key} if "text" in reasoning else ())


def _called(fields: dict[str, Any]) -> RunEvent:
    """Return a call; what the stream leaves out is named, not made up."""
    given = "arguments" in fields
    payload = {"tool": values.text(fields.get("tool")), "preview": fields.get("preview")}
    payload["arguments"] = values.arguments(fields["arguments"]) if given else None
    if not given:
        payload["not_recorded"] = ["arguments"]
    return RunEvent("tool.called", payload, frozenset({"tool", "preview", "arguments"}))


def _completed(fields: dict[str, Any]) -> RunEvent:
    error = fields.get("error")
    payload = {
        "tool": values.text(fields.get("tool")),
        "result": fields.get("result"),
        "is_error": error if isinstance(error, bool) else None,
        "duration_s": fields.get("duration"),
    }
    placed = frozenset({"tool", "result", "duration", *(["error"] if isinstance(error, bool) else [])})
    if "result" not in fields:
        payload["not_recorded"] = ["result"]
    status = {True: "error", False: "ok"}.get(error, "") if isinstance(error, bool) else ""
    return RunEvent("tool.completed", payload, placed, status)


def _agent(kind: str, fields: dict[str, Any]) -> RunEvent:
    words = ("child_session_id", "subagent_id", "delegation_id", "goal", "summary")
    payload = {word: fields[word] for word in words if word in fields}
    status = values.text(fields.get("status")) if kind == "subagent.stopped" else ""
    model = fields.get("model")
    placed = frozenset(payload) | ({"status"} if status else set())
    return RunEvent(kind, payload, placed, status, model=model if isinstance(model, str) else "")


def _ended(name: str, fields: dict[str, Any], preview: str) -> RunEvent:
    """Return the end of a run; the answer comes before it and its usage after."""
    before: tuple[RunEvent, ...] = ()
    after: tuple[RunEvent, ...] = ()
    if isinstance(fields.get("output"), str):
        reasoning = values.reasoning(preview, status="preview") if preview else values.reasoning(None)
        message = {"content": fields["output"], "reasoning": reasoning}
        before = (RunEvent("message.assistant", message, role="assistant"),)
    used = fields.get("usage")
    if isinstance(used, dict):
        counts = {key: count for key, count in used.items() if count != 0}
        payload = values.usage(**{key: counts[key] for key in counts if isinstance(key, str)})
        zeros = sorted(used.keys() - counts.keys())
        after = (RunEvent("usage.recorded", payload | ({"reported_default": zeros} if zeros else {})),)
    status = ENDS[name]
    payload = {"error": fields["error"]} if "error" in fields else {}
    placed = frozenset({"error", *(["output"] if before else []), *(["usage"] if after else [])})
    return RunEvent("turn.completed", payload, placed, status, before=before, after=after)
