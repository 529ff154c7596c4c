"""What no word of a payload holds of an event, and how its outcome is called."""

from __future__ import annotations

from typing import Any, Final

from geode_traj.sources.fields import without
from geode_traj.sources.record import Record

_NAMES: Final = ("action", "observation")


def rest_of(record: Record, *placed: str) -> dict[str, Any]:
    """Return an event's members that are not `placed`, nor its kind, nor a time that was read."""
    kind = ["kind"] if isinstance(record.value.get("kind"), str) else _NAMES
    return without(record.value, *kind, *placed, *(["timestamp"] if record.time is not None else []))


def full(fields: dict[str, Any]) -> dict[str, Any]:
    """Return fields without those that hold nothing more."""
    return {key: item for key, item in fields.items() if item != {}}


def outcome(is_error: bool | None) -> str:
    """Return the status of a result."""
    return {True: "error", False: "completed"}.get(is_error, "") if is_error is not None else ""
