"""Values of the protocol: attributes, times in nanoseconds, ids."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from geode_traj.codec.files import sha256_bytes
from geode_traj.export.ways.words import derived_marks

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_INT: Final = 1 << 63
_NONE: Final = "none_in_source"


def attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return attributes in the protocol's form, sorted; None and "" leave one out."""
    return [
        {"key": key, "value": wrapped}
        for key, value in sorted(values.items())
        if value not in (None, "", []) and (wrapped := _value(value)) is not None
    ]


def _value(value: Any) -> dict[str, Any] | None:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)} if -_MAX_INT <= value < _MAX_INT else None
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": str(value)}


def nanoseconds(event: dict[str, Any]) -> int:
    """Return an event's time since 1970; 0, the protocol's word for unknown, where there is none."""
    if derived_marks(event).get("occurred_at") == _NONE:
        return 0
    passed = datetime.fromisoformat(event["occurred_at"]) - _EPOCH
    return max(0, passed // timedelta(microseconds=1) * 1000)


def trace_id(session_id: str) -> str:
    """Return the id of a session's trace, 16 bytes in hex."""
    return sha256_bytes(f"trace:{session_id}".encode())[:32]


def span_id(what: str, key: str) -> str:
    """Return the id of a span, 8 bytes in hex."""
    return sha256_bytes(f"{what}:{key}".encode())[:16]


def span(
    ids: dict[str, str], name: str, kind: int, events: Iterable[dict[str, Any]], values: dict[str, Any]
) -> dict[str, Any]:
    """Return a span over the times of some events; `ids` are those of trace, span and parent."""
    times = [nanoseconds(event) for event in events]
    known = [time for time in times if time] or [0]
    return {
        **ids,
        "name": name,
        "kind": kind,
        "startTimeUnixNano": str(min(known)),
        "endTimeUnixNano": str(max(known)),
        "attributes": attributes(values),
    }
