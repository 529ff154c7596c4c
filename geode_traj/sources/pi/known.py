"""What rows of a session file look like, of Pi and of formats that took over its frame."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

ROLES: Final = frozenset(
    """toolResult bashExecution pythonExecution custom hookMessage branchSummary compactionSummary
    fileMention""".split()
)
SUMMARIES: Final = frozenset({"compaction", "branch_summary"})
# Entries that tell of a state of the session or of its program, no message.
STATES: Final = frozenset(
    """model_change thinking_level_change label session_info custom title title_change service_tier_change
    mode_change ttsr_injection session_init mcp_tool_selection discovered_builtin_tool_selection
    credential_pin reset_boundary header_patch entry_patch context_transform ephemeral session_state
    agent_status git_state""".split()
)
SPEAKERS: Final = frozenset("user assistant system developer".split())
_BLOCKS: Final = ("toolCall", "thinking")
_NAMED: Final = re.compile(r"\d{4}-\d\d-\d\dT[^_]*_(.+)", re.ASCII | re.DOTALL)
_KINDS: Final = STATES | SUMMARIES | {"message", "custom_message", "model_usage"}
_LOOK: Final = 3


def is_header(row: dict[str, Any]) -> bool:
    """Tell whether a row is the head of a session."""
    return (
        row.get("type") == "session"
        and isinstance(row.get("id"), str)
        and not {"harness", "timestamp", "version", "cwd"}.isdisjoint(row)
    )


def is_entry(row: dict[str, Any]) -> bool:
    """Tell whether a row can only be an entry of Pi's or its kin's."""
    kind = row.get("type")
    if not isinstance(kind, str) or kind not in _KINDS:
        return False
    stamped = isinstance(row.get("timestamp"), str)
    if kind == "message":
        return _is_native(row.get("message"), stamped=stamped)
    if stamped and isinstance(row.get("id"), str) and "parentId" in row:
        return True
    return stamped and kind in ("model_change", "thinking_level_change")


def _is_native(message: Any, *, stamped: bool) -> bool:
    role = message.get("role") if isinstance(message, dict) else None
    if not isinstance(role, str):
        return False
    if role in ROLES or (stamped and role in SPEAKERS and "toolCalls" not in message):
        return True
    content = message.get("content")
    blocks = content if isinstance(content, list) else ()
    return any(isinstance(block, dict) and block.get("type") in _BLOCKS for block in blocks)


def is_bare(row: dict[str, Any]) -> bool:
    """Tell whether a row is a message in a frame that says nothing more."""
    message = row.get("message")
    role = message.get("role") if isinstance(message, dict) else None
    return row.get("type") == "message" and isinstance(role, str) and role in SPEAKERS | {"tool"}


def look(rows: Iterable[dict[str, Any]]) -> tuple[dict[str, Any] | None, int, int, int]:
    """Return the head among the first rows (None without one), and how many rows, entries, bare messages."""
    head: dict[str, Any] | None = None
    seen = entries = bare = 0
    for row in rows:
        seen += 1
        if head is None and seen <= _LOOK and is_header(row):
            head = row
        elif is_entry(row):
            entries += 1
        else:
            bare += is_bare(row)
    return head, seen, entries, bare


def session_of(path: str) -> str:
    """Return the session id that a file's path or name tells: without its folder, its time and `.jsonl`."""
    stem = re.split(r"[/\\]", path)[-1].removesuffix(".jsonl")
    named = _NAMED.fullmatch(stem)
    return named[1] if named else stem
