"""Rows that are no messages: what each is called, and the few that have a kind of their own."""

from __future__ import annotations

from typing import Any, Final

# What a row says of where and when it stands, rather than of what happened.
CONTEXT: Final = frozenset(
    """uuid parentUuid sessionId timestamp isSidechain agentId userType cwd version gitBranch slug entrypoint
    teamName requestId promptId forkedFrom""".split()
)
_KNOWN: Final = frozenset(
    """summary ai-title custom-title agent-name agent-color agent-setting tag last-prompt mode permission-mode
    pr-link file-history-snapshot worktree-state""".split()
)
_INNER: Final = {
    "system": ("subtype",),
    "queue-operation": ("operation",),
    "attachment": ("attachment", "type"),
    "progress": ("data", "type"),
}


def operation(row: dict[str, Any]) -> str:
    """Return what a row records, "" for one of an unknown type."""
    kind = row.get("type")
    if not isinstance(kind, str):
        return ""
    if kind in _KNOWN:
        return kind
    path = _INNER.get(kind)
    if path is None:
        return ""
    inner: Any = row
    for step in path:
        inner = inner.get(step) if isinstance(inner, dict) else None
    return f"{kind}.{inner}" if isinstance(inner, str) and inner else kind


def record(row: dict[str, Any], *placed: str) -> dict[str, Any]:
    """Return a row without its context, its type and what was placed elsewhere."""
    return {
        key: value for key, value in row.items() if key not in CONTEXT and key != "type" and key not in placed
    }


def error_text(row: dict[str, Any]) -> str:
    """Return the message of an API error as far as the row gives one."""
    given = row.get("content")
    if isinstance(given, str):
        return given
    error = row.get("error")
    for _ in range(4):  # {"error": {"error": {"message": …}}}
        if not isinstance(error, dict):
            break
        if isinstance(error.get("message"), str):
            return str(error["message"])
        error = error.get("error")
    return error if isinstance(error, str) else ""
