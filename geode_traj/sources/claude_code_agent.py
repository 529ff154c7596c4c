"""What Claude Code notes of a sub-agent, `agent-<agentId>.meta.json`: read with the transcripts beside it."""

from __future__ import annotations

from typing import Any, Final

from geode_traj.codec.reading import tolerant
from geode_traj.sources.base import NoTranscript, Probe
from geode_traj.sources.claude_code.beside import MAX_META

_CONVERSATION: Final = frozenset({"type", "message", "messages", "uuid", "sessionId", "role", "content"})
_BESIDE_TYPE: Final = frozenset({"agentId", "spawnDepth", "description", "name", "label"})
_BESIDE_CALL: Final = _BESIDE_TYPE | {"agentType"}


class ClaudeCodeAgent(NoTranscript):
    """Known only to be skipped: its facts stand in the session that started the sub-agent, and in its own."""

    name = "claude-code-agent"
    reads = "Claude Code's notes of sub-agents, with the transcripts beside them"
    no_transcript = "a note of a Claude Code sub-agent, no transcript: it is read with those beside it"

    def detect(self, probe: Probe) -> bool:
        """Match one object that says of which type an agent is, or which call started it, or its skill."""
        row = _object(probe.head)
        if row.keys() & _CONVERSATION:
            return False
        if isinstance(row.get("toolUseId"), str):
            return bool(row.keys() & _BESIDE_CALL)
        if isinstance(row.get("skillName"), str):
            return isinstance(row.get("attributionName"), str)
        return isinstance(row.get("agentType"), str) and (len(row) == 1 or bool(row.keys() & _BESIDE_TYPE))


def _object(data: bytes) -> dict[str, Any]:
    """Return the one object that a small file holds, an empty one for anything else."""
    if len(data) > MAX_META or not data.lstrip().startswith(b"{"):
        return {}
    try:
        value = tolerant(data).value
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


SOURCE = ClaudeCodeAgent()
