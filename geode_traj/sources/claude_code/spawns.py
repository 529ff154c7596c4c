"""Which call started which sub-agent, told from a whole file."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.sources.claude_code.sessions import child_session
from geode_traj.sources.fields import word

SPAWNING: Final = frozenset({"Task", "Agent"})


@dataclass(slots=True)
class Spawn:
    """A call that may have started a sub-agent: the session it stands in, and the child's once it is known.

    `rule` tells how: `agent_id` (the result names it), `tool_use_id` (what is kept beside the child names the
    call), `prompt` (the child begins with the call's prompt) or `open_call` (no other call could have).
    """

    session: str
    main: str
    prompt: int
    child: str = ""
    rule: str = ""


@dataclass(slots=True)
class _Begun:
    """The first row of a sub-agent among its parent's: its prompt, and the only open call if there is one."""

    prompt: int
    only: Spawn | None


@dataclass(slots=True)
class Spawns:
    """Calls of the tools that start sub-agents, by call id in file order."""

    calls: dict[str, list[Spawn]] = field(default_factory=dict)
    _waiting: dict[str, deque[Spawn]] = field(default_factory=dict)
    _open: dict[int, Spawn] = field(default_factory=dict)
    _begun: dict[str, _Begun] = field(default_factory=dict)

    def row(self, session: str, main: str, row: dict[str, Any], message: Any) -> None:
        """Take the next user or assistant row."""
        content = message.get("content") if isinstance(message, dict) else message
        if session != main and session not in self._begun:
            only = next(iter(self._open.values())) if len(self._open) == 1 else None
            self._begun[session] = _Begun(_hash(_first_text(content)), only)
        if not isinstance(content, list):
            return
        for block in content:
            if isinstance(block, dict):
                kind = block.get("type")
                if kind == "tool_use" and word(block.get("name")) in SPAWNING:
                    self._call(session, main, block)
                elif kind == "tool_result":
                    self._result(session, main, block, row.get("toolUseResult"))

    def _call(self, session: str, main: str, block: dict[str, Any]) -> None:
        given, call_id = block.get("input"), block.get("id")
        prompt = given.get("prompt") if isinstance(given, dict) else None
        if isinstance(call_id, str):
            spawn = Spawn(session, main, _hash(prompt))
            self.calls.setdefault(call_id, []).append(spawn)
            self._waiting.setdefault(call_id, deque()).append(spawn)
            self._open[id(spawn)] = spawn

    def _result(self, session: str, main: str, block: dict[str, Any], told: Any) -> None:
        call_id = block.get("tool_use_id")
        if not isinstance(call_id, str):
            return
        agent = told.get("agentId") if isinstance(told, dict) else None
        waiting = self._waiting.get(call_id)
        if waiting:
            spawn = waiting.popleft()
            del self._open[id(spawn)]
        elif not isinstance(agent, str):
            return
        else:  # a tool that was not known to start one
            spawn = Spawn(session, main, 0)
            self.calls.setdefault(call_id, []).append(spawn)
        if isinstance(agent, str) and agent:
            spawn.child, spawn.rule = child_session(main, agent), "agent_id"

    def settle(self, started: Callable[[], dict[str, str]]) -> None:
        """Tie sub-agents that no result names to a call; call it once, after the last row.

        `started` is asked, where a call may have started one, for {call id: the sub-agent that names it}.
        """
        named = {spawn.child for spawns in self.calls.values() for spawn in spawns}
        if "" in named:
            for call_id, agent_id in started().items():
                spawn = next((one for one in self.calls.get(call_id, ()) if not one.child), None)
                child = child_session(spawn.main, agent_id) if spawn else ""
                if spawn and child not in named:
                    spawn.child, spawn.rule = child, "tool_use_id"
                    named.add(child)
        free: dict[int, deque[Spawn]] = {}
        for spawns in self.calls.values():
            for spawn in spawns:
                if not spawn.child and spawn.prompt:
                    free.setdefault(spawn.prompt, deque()).append(spawn)
        for child, begun in self._begun.items():
            if child in named:
                continue
            alike = free.get(begun.prompt)
            if alike:
                spawn = alike.popleft()
                spawn.child, spawn.rule = child, "prompt"
            elif begun.only is not None and not begun.only.child:
                begun.only.child, begun.only.rule = child, "open_call"

    def parents(self) -> dict[str, str]:
        """Return {child session: the session whose call started it}."""
        return {one.child: one.session for spawns in self.calls.values() for one in spawns if one.child}


def _hash(text: Any) -> int:
    return hash(text) if isinstance(text, str) and text else 0


def _first_text(content: Any) -> Any:
    if isinstance(content, list):
        return next((block.get("text") for block in content if isinstance(block, dict)), None)
    return content
