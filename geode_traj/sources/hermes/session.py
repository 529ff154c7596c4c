"""A Hermes session as a whole: its start, what it used, its end, and where it comes from."""

from __future__ import annotations

from typing import Any, Final

from geode_traj.sources import values
from geode_traj.sources.hermes import parts

_TOKENS: Final = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cache_read_tokens",
    "cache_write_tokens": "cache_creation_tokens",
    "reasoning_tokens": "reasoning_tokens",
    "actual_cost_usd": "cost_usd",
}
_TOTALS: Final = (*_TOKENS, "estimated_cost_usd", "message_count", "tool_call_count", "api_call_count")
_PLACED: Final = ("title", "cwd", "parent_session_id")
_DELIBERATE: Final = frozenset(
    """user_exit new_session session_reset session_switch idle daily suspended resume_pending_expired
    branched compression""".split()
)
_ACCIDENTAL: Final = frozenset(
    """agent_close ws_orphan_reap superseded_by_resume startup_orphan_reap tui_shutdown ws_disconnect
    idle_timeout lru_evict""".split()
)
_LINEAGE: Final = {"_branched_from": "fork", "_delegate_from": "parent", "_reset_from": "resume"}


def started(row: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the payload of `session.started` and where its values come from {column: pointer}."""
    payload: dict[str, Any] = {key: row[key] for key in _PLACED if row.get(key) is not None}
    placed = {key: f"/{key}" for key in payload}
    if isinstance(row.get("source"), str):
        payload["platform"] = row["source"]
        placed["source"] = "/platform"
    declared = {key: row[key] for key in _TOTALS if row.get(key) is not None}
    if declared:
        payload["declared_totals"] = declared
        placed |= {key: f"/declared_totals/{key}" for key in declared}
    return payload, placed


def usage(row: dict[str, Any], purpose: Any = None) -> dict[str, Any] | None:
    """Return a `usage.recorded` payload of a row's counters, None where the row has none of them.

    A 0 is the column's default and proves nothing: it is reported as null and named in `reported_default`.
    """
    given = {word: row[column] for column, word in _TOKENS.items() if row.get(column) is not None}
    if not given:
        return None
    zeros = sorted(word for word, count in given.items() if count == 0)
    counts = {word: count for word, count in given.items() if word not in zeros}
    payload = values.usage(**counts, purpose=purpose if isinstance(purpose, str) and purpose else None)
    if zeros:
        payload["reported_default"] = zeros
    if row.get("estimated_cost_usd"):
        payload["estimated_cost_usd"] = row["estimated_cost_usd"]
    return payload


def ended(row: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the payload and the status of `session.ended`: what ended by accident was not completed."""
    reason = row.get("end_reason")
    payload = {"end_reason": reason}
    if not isinstance(reason, str):
        return {**payload, "deliberate": None}, "ended"
    if reason in _DELIBERATE:
        return {**payload, "deliberate": True}, "completed"
    if reason in _ACCIDENTAL:
        return {**payload, "deliberate": False}, "interrupted"
    return {**payload, "deliberate": None}, "ended"


def lineage(row: dict[str, Any], parent_end: Any = None) -> tuple[str, str] | None:
    """Return (kind, session) of the link to the session that this one comes from, None where it has none.

    The marker in `model_config` decides, then how the session was opened, then how its parent ended; a child
    of any other kind goes on where its parent stopped.
    """
    config = parts.embedded(row.get("model_config"))
    for marker, kind in _LINEAGE.items():
        target = config.get(marker) if isinstance(config, dict) else None
        if isinstance(target, str) and target:
            return kind, target
    parent = row.get("parent_session_id")
    if not isinstance(parent, str) or not parent:
        return None
    if row.get("source") in ("subagent", "tool"):
        return "parent", parent
    return "fork" if parent_end == "branched" else "resume", parent


def copied(own: list[bytes], earlier: list[bytes], *, compacted: bool) -> tuple[dict[int, int], int | None]:
    """Return which of a session's rows repeat its parent's {place: parent's place}, and where a summary is.

    Rows are compared by digest. A branch repeats its parent's beginning. What follows a compaction repeats
    some of its beginning, then a summary, then its very end.
    """
    start = 0
    while start < min(len(own), len(earlier)) and own[start] == earlier[start]:
        start += 1
    found = {place: place for place in range(start)}
    if not compacted or start == len(earlier) or start == len(own):
        return found, None
    repeated = _overlap(own[start + 1 :], earlier[start:])
    for place in range(repeated):
        found[start + 1 + place] = len(earlier) - repeated + place
    return found, start


def _overlap(own: list[bytes], earlier: list[bytes]) -> int:
    """Return how many of the first rows of `own` are the last ones of `earlier` (the longest such run)."""
    failure = [0] * len(own)
    length = 0
    for place in range(1, len(own)):
        while length and own[place] != own[length]:
            length = failure[length - 1]
        length += own[place] == own[length]
        failure[place] = length
    length = 0
    for row in earlier:
        if length == len(own) and length:
            length = failure[length - 1]
        while length and own[length] != row:
            length = failure[length - 1]
        length += bool(own) and own[length] == row
    return length
