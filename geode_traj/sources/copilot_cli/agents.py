"""Sub-agents in the log of the session that started them, each a session of its own."""

from __future__ import annotations

from typing import Any, Final

from geode_traj.sources.fields import word

_TOTALS: Final = {
    "durationMs": "duration_ms",
    "totalTokens": "total_tokens",
    "totalToolCalls": "total_tool_calls",
    "error": "error",
}
STATUS: Final = {"subagent.completed": "completed", "subagent.failed": "failed"}


class Agents:
    """Which session a row is of: that of the agent it names, else the log's own.

    An agent is named by the row itself or, in older logs, by the call that started it.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._parents: dict[str, str] = {}

    def of(self, row: dict[str, Any]) -> str:
        """Return the agent that a row tells of, "" for the main one."""
        own = word(row, "agentId")
        if own:
            return own
        call = word(row, "data", "parentToolCallId")
        return self._names.get(call, call)

    def parent_of(self, agent: str) -> str:
        """Return the agent that started another, "" for the main one."""
        return self._parents.get(agent, "")

    def started(self, row: dict[str, Any], caller: str | None) -> str:
        """Take the start of an agent and return it; `caller` is whose call started it, None if unknown."""
        call = word(row, "data", "toolCallId")
        agent = word(row, "agentId") or call
        if call:
            self._names[call] = agent
        parent = word(row, "data", "parentId") or caller or ""
        if parent != agent:
            self._parents[agent] = parent
        return agent


def child_session(session_id: str, agent: str) -> str:
    """Return the id of an agent's session."""
    return f"{session_id}/agent-{agent}"


def words(data: dict[str, Any], session_id: str, agent: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the payload of an agent's start or stop, and what of its data found no place."""
    payload: dict[str, Any] = {
        "task_id": agent,
        "task_type": data.get("agentName"),
        "child_session_key": child_session(session_id, agent),
    }
    if data.get("agentDescription") is not None:
        payload["description"] = data["agentDescription"]
    payload |= {told: data[key] for key, told in _TOTALS.items() if key in data}
    placed = {"toolCallId", "agentName", "agentDescription", "model", *_TOTALS}
    return payload, {key: value for key, value in data.items() if key not in placed}
