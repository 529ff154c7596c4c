"""Threads that a thread started: what a rollout tells of its sub-agents, and of its own parent."""

from __future__ import annotations

import json
from typing import Any, Final

_NOTE: Final = "subagent_notification"
_ACTIVITY: Final = "sub_agent_activity"

Told = tuple[str, dict[str, Any], dict[str, Any]]
"""Kind, payload and columns of an event."""


def parent_of(payload: dict[str, Any]) -> str:
    """Return the thread that spawned the one of this `session_meta`, "" for none."""
    source = payload.get("source")
    agent = source.get("subagent") if isinstance(source, dict) else None
    spawn = agent.get("thread_spawn") if isinstance(agent, dict) else None
    parent = spawn.get("parent_thread_id") if isinstance(spawn, dict) else payload.get("parent_thread_id")
    return parent if isinstance(parent, str) else ""


def is_told(kind: Any) -> bool:
    """Tell whether an event of this type is about sub-agents."""
    return isinstance(kind, str) and (kind == _ACTIVITY or kind.startswith("collab_"))


class Children:
    """Remembers the sub-agents that were started: several records tell of one start."""

    def __init__(self) -> None:
        self._started: set[str] = set()

    def spawned(self, tool: str, result: Any) -> dict[str, Any] | None:
        """Return what the result of a spawning tool says of a new sub-agent, None for nothing new."""
        if not tool.endswith("spawn_agent"):
            return None
        if isinstance(result, str):
            try:
                result = json.loads(result)
            except (ValueError, RecursionError):
                return None
        child = result.get("agent_id") if isinstance(result, dict) else None
        return self._new(child)

    def told(self, payload: dict[str, Any]) -> Told | None:
        """Return what an event says of a sub-agent's start or stop, None where it tells of neither."""
        kind, call_id = payload.get("type"), payload.get("call_id")
        columns: dict[str, Any] = {"call_id": call_id} if isinstance(call_id, str) else {}
        if kind == "collab_agent_spawn_end" or (kind == _ACTIVITY and payload.get("kind") == "started"):
            words = self._new(payload.get("new_thread_id") or payload.get("agent_thread_id"))
            return ("subagent.started", words, {**columns, "status": "started"}) if words else None
        if kind == "collab_close_end" and isinstance(payload.get("receiver_thread_id"), str):
            words, status = _stopped(payload["receiver_thread_id"], payload.get("status"))
            return "subagent.stopped", words, {**columns, "status": status}
        return None

    def _new(self, child: Any) -> dict[str, Any] | None:
        if not isinstance(child, str) or not child or child in self._started:
            return None
        self._started.add(child)
        return {"child_session_key": child}


def notified(words: dict[str, Any]) -> tuple[dict[str, Any], str] | None:
    """Return payload and status of a sub-agent's stop that an injected text tells of."""
    text = words.get("content")
    if words.get("operation") != "injected_context" or not isinstance(text, str):
        return None
    body = text.strip().removeprefix(f"<{_NOTE}>").removesuffix(f"</{_NOTE}>")
    if len(body) == len(text.strip()):
        return None
    try:
        note = json.loads(body)
    except (ValueError, RecursionError):
        return None
    child = note.get("agent_id") if isinstance(note, dict) else None
    return _stopped(child, note.get("status")) if isinstance(child, str) else None


def _stopped(child: str, status: Any) -> tuple[dict[str, Any], str]:
    """Return payload and status: Codex writes a word, or an object of one word and what was said last."""
    words: dict[str, Any] = {"child_session_key": child}
    if isinstance(status, dict) and len(status) == 1:
        status, summary = next(iter(status.items()))
        words["summary"] = summary
    return words, status if isinstance(status, str) else ""
