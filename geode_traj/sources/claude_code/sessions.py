"""Which session a row belongs to: its own, or that of the sub-agent whose side chain it stands in."""

from __future__ import annotations

from typing import Any


class Sessions:
    """Names the session of each row, in file order.

    A row without a session id belongs to the last one named; before any is named, to `default`. A sub-agent's
    session is `<sessionId>/agent-<agentId>`; older side chains name no agent: they are called after their
    first row, `<sessionId>/sidechain-<uuid>`. Only their rows are remembered.
    """

    def __init__(self, default: str) -> None:
        self.main = default
        self._roots: dict[str, str] = {}

    def of(self, row: dict[str, Any]) -> str:
        """Return the session of the next row; `main` is then the session that it is, or runs, under."""
        own = row.get("sessionId")
        if type(own) is str and own:
            self.main = own
        if row.get("isSidechain") is not True:
            return self.main
        agent = row.get("agentId")
        if isinstance(agent, str) and agent:
            return child_session(self.main, agent)
        return f"{self.main}/sidechain-{self._root(row)}"

    def _root(self, row: dict[str, Any]) -> str:
        uuid, parent = row.get("uuid"), row.get("parentUuid")
        uuid = uuid if isinstance(uuid, str) else ""
        root = self._roots.get(parent, uuid) if isinstance(parent, str) else uuid
        self._roots[uuid] = root
        return root


def child_session(session_id: str, agent_id: str) -> str:
    """Return the id of a sub-agent's session."""
    return f"{session_id}/agent-{agent_id}"


def agent_of(session_id: str) -> str:
    """Return the agent that a sub-agent's session is of; for older side chains what it is called after."""
    return session_id.rpartition("/")[2].removeprefix("agent-")
