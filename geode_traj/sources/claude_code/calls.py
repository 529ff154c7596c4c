"""Calls that wait for their results, and the sub-agents some of them start."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from geode_traj.model.event import Link, Loss
from geode_traj.sources.claude_code.beside import Beside
from geode_traj.sources.claude_code.blocks import Part
from geode_traj.sources.claude_code.row import Row
from geode_traj.sources.claude_code.sessions import agent_of
from geode_traj.sources.claude_code.spawns import Spawn
from geode_traj.sources.claude_code.survey import Survey

_TOTALS = {
    "total_tokens": "totalTokens",
    "total_duration_ms": "totalDurationMs",
    "total_tool_use_count": "totalToolUseCount",
}


@dataclass(slots=True)
class Open:
    """A call that waits: its tool and line, and the sub-agent it started if it did."""

    tool: str
    line: int
    spawn: Spawn | None


class Calls:
    """Pairs calls and results of a session by id and occurrence, and tells what was left open."""

    def __init__(self, survey: Survey, beside: Beside) -> None:
        self._beside = beside
        self._spawns = survey.spawns.calls
        self._met: Counter[str] = Counter()
        self._open: dict[tuple[str, str], deque[Open]] = {}
        self._moved: dict[str, tuple[int, str]] = {}

    def moved_on(self, session: str, line: int, reply: str = "") -> None:
        """Note that the session went on with a prompt, or with the response `reply`, on this line."""
        if not reply or self._moved.get(session, (0, ""))[1] != reply:
            self._moved[session] = line, reply

    def called(self, row: Row, part: Part) -> None:
        """Take a call; where it started a sub-agent, the parent's session says so."""
        spawns = self._spawns.get(part.call_id, ())
        spawn = spawns[self._met[part.call_id]] if self._met[part.call_id] < len(spawns) else None
        if spawns:
            self._met[part.call_id] += 1
        opened = Open(part.payload["tool"], row.number, spawn if spawn and spawn.child else None)
        self._open.setdefault((row.session, part.call_id), deque()).append(opened)
        if opened.spawn:
            self._started(row, part, opened.spawn)

    def _started(self, row: Row, part: Part, spawn: Spawn) -> None:
        """Record a start with what the call says of it, and with what is kept beside the sub-agent."""
        given, read = part.payload["arguments"], self._beside.agent(agent_of(spawn.child))
        told = row.taken(read) if read else {}
        payload = {
            **_child(spawn.child),
            "task_type": given.get("subagent_type", told.get("agentType")),
            "description": given.get("description", told.get("description")),
            "tied_by": spawn.rule,
        }
        if told:
            payload["agent"] = told
        row.event("subagent.started", payload, call_id=part.call_id)
        if row.session != row.main:  # the sub-agent's own file does not know which other one started it
            row.items.append(Link(spawn.child, "parent", row.session))

    def answered(self, session: str, call_id: str) -> Open | None:
        """Return the first open call that a result of this id answers, None for a result without a call."""
        waiting = self._open.get((session, call_id))
        if not waiting:
            return None
        call = waiting.popleft()
        if not waiting:
            del self._open[session, call_id]
        return call

    def losses(self) -> Iterator[Loss]:
        """Yield a loss for each call left open: at the end, or before the session went on."""
        for (session, _), waiting in self._open.items():
            for call in waiting:
                later = self._moved.get(session, (0, ""))[0] > call.line
                yield Loss("call_interrupted" if later else "call_open_at_end")


def stopped(row: Row, part: Part, spawn: Spawn, told: Any) -> None:
    """Record that a sub-agent ended, unless the result only says that it was launched."""
    told = told if isinstance(told, dict) else {}
    status = told.get("status")
    if told.get("isAsync") is True or status == "async_launched":
        return
    totals = {word: told.get(name) for word, name in _TOTALS.items()}
    row.event(
        "subagent.stopped",
        {**_child(spawn.child), **totals},
        call_id=part.call_id,
        status=status if isinstance(status, str) else part.status,
    )


def started_by_none(row: Row) -> None:
    """Record in the parent a sub-agent whose rows stand there, but that no call there started."""
    event = row.event("subagent.started", _child(row.session))
    event.session_id = row.main


def _child(session: str) -> dict[str, Any]:
    return {"task_id": agent_of(session), "child_session_key": session}
