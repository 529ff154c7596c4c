"""Hook events, rows of `sessions.db:hook_events`, as pure rules (record contract §10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.pointer import below
from geode_traj.codec.reading import loads
from geode_traj.contract.faults import (
    CONTRADICTION,
    HASH,
    NEVER_KEPT,
    OVER_BOUND,
    SHAPE,
    Fault,
    is_count,
    typed,
)
from geode_traj.contract.kinds import CUT_MARK
from geode_traj.errors import DataError

SCHEMA: Final = "geode.hook-event@3"
VERSION: Final = 3
STATUSES: Final = frozenset({"ok", "blocked", "failed", "handler_error"})
RETENTIONS: Final = frozenset({"high_volume", "standard", "audit", "transient"})
TEXTS: Final = (
    "session_key", "run_id", "session_id", "turn_id", "tool_call_id", "llm_call_id", "llm_attempt_id",
    "event", "dispatch_mode", "status", "retention_class", "block_reason", "actor_type", "actor_id", "action",
    "entity_type", "entity_id", "task_id", "level",
)  # fmt: skip
COUNTS: Final = ("handler_count", "handler_error_count")
NEVER: Final = frozenset(
    """api_key args_preview authorization base64 body cognitive_state comment content cookie detail error
    error_msg headers image input kwargs message messages outcome output password prompt query raw_input
    reason response result screenshot secret subject system_prompt text token tool_input user_input""".split()
)
"""Fields that are never kept; `_redacted_fields` lists which there were."""
BLOCKED_BY: Final = "blocked_by:"
MAX_BYTES: Final = 8 << 10
MAX_TEXT: Final = 512
MAX_ITEMS: Final = 32
MAX_DEPTH: Final = 6
_TOO_DEEP: Final = {"_truncated": "max_depth"}


def is_row(row: Mapping[str, Any]) -> bool:
    """Tell whether a record is one of hook events, in a table or in a line."""
    return {"dispatch_mode", "retention_class", "handler_count"} <= row.keys()


def faults(row: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what is wrong in a row; its payload is in `payload_json`, or an object in `payload`."""
    yield from typed(row, TEXTS, ("occurred_at",))
    if row.get("schema_version") != VERSION:
        yield Fault(SHAPE, f"is not {VERSION}", "/schema_version")
    for key, known in (("status", STATUSES), ("retention_class", RETENTIONS)):
        if isinstance(row.get(key), str) and row[key] not in known:
            yield Fault(SHAPE, f"is none of {', '.join(sorted(known))}", f"/{key}")
    if row.get("event") == "":
        yield Fault(SHAPE, "is empty", "/event")
    for key in COUNTS:
        if not is_count(row.get(key)):
            yield Fault(SHAPE, "is not a whole number from 0", f"/{key}")
    yield from _contradictions(row)
    yield from _payload(row)


def _contradictions(row: Mapping[str, Any]) -> Iterator[Fault]:
    handled, failed = row.get(COUNTS[0]), row.get(COUNTS[1])
    if is_count(handled) and is_count(failed) and failed > handled:
        yield Fault(CONTRADICTION, "more handlers failed than there were", "/handler_error_count")
    blocked, reason = row.get("blocked"), row.get("block_reason")
    if blocked not in (0, 1):
        yield Fault(SHAPE, "is neither 0 nor 1", "/blocked")
    elif isinstance(reason, str) and bool(blocked) != reason.startswith(BLOCKED_BY):
        yield Fault(CONTRADICTION, "a dispatch is blocked by somebody, or nobody is named", "/block_reason")


def _payload(row: Mapping[str, Any]) -> Iterator[Fault]:
    payload, encoded, pointer = row.get("payload"), b"", "/payload"
    if "payload_json" in row:
        pointer = "/payload_json"
        try:
            encoded = str(row["payload_json"]).encode("utf-8", "surrogatepass")
            payload = loads(encoded)
        except DataError:
            payload = None
    if not isinstance(payload, dict):
        yield Fault(SHAPE, "is not a JSON object", pointer)
        return
    encoded = encoded or dumps(payload)
    if row.get("payload_hash") != sha256_bytes(encoded):
        yield Fault(HASH, "is not the payload's", "/payload_hash")
    if len(encoded) > MAX_BYTES:
        yield Fault(OVER_BOUND, f"is over {MAX_BYTES} bytes", pointer)
    yield from _values(payload, pointer)


def _values(payload: dict[str, Any], pointer: str) -> Iterator[Fault]:
    """Yield each field that should not be there, and each value that is past a bound."""
    stack: list[tuple[Any, str, int]] = [(payload, pointer, 0)]
    while stack:
        value, where, depth = stack.pop()
        if isinstance(value, str) and len(value) > MAX_TEXT and CUT_MARK not in value[MAX_TEXT:]:
            yield Fault(OVER_BOUND, f"is over {MAX_TEXT} characters", where)
        if depth >= MAX_DEPTH:  # whatever stands there is replaced
            if value != _TOO_DEEP:
                yield Fault(OVER_BOUND, f"stands at depth {MAX_DEPTH}", where)
            continue
        if not isinstance(value, dict | list):
            continue
        if len(value) > MAX_ITEMS + 1:  # the last of a list that was cut says so
            yield Fault(OVER_BOUND, f"holds more than {MAX_ITEMS} items", where)
        if isinstance(value, list):
            stack += [(item, f"{where}/{index}", depth + 1) for index, item in enumerate(value)][::-1]
            continue
        for key in value:
            if key.lower() in NEVER:
                yield Fault(NEVER_KEPT, "a field that is never kept has a value", below(where, key))
        stack += [(item, below(where, key), depth + 1) for key, item in value.items()][::-1]
