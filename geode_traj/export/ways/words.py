"""The words of an exported event: what of it says something, and what only checks it against the store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

CHECKING: Final = (
    "_derived",
    "_legacy",
    "actor",
    "event_id",
    "kind",
    "ordinal",
    "parent_event_id",
    "session_generation",
    "session_id",
    "source",
    "source_payload_hash",
)
"""Words that place an event in its store, or follow from the rest of it: no loss where they are left out.

What `_legacy` keeps of a record besides its place, and what `_derived` says of a time, are words too.
"""
NAIVE: Final = "naive_as_utc"
"""How a time was read that came without a zone; any other rule means that it is a neighbour's."""
_PLACE: Final = frozenset({"event", "line_number", "source_digest", "source_path", "file_digest"})


def derived_marks(event: dict[str, Any]) -> dict[str, Any]:
    """Return which fields of an event were derived, and how."""
    derived = event["payload"].get("_derived")
    return derived if isinstance(derived, dict) else {}


def time(event: dict[str, Any]) -> str:
    """Return an event's time as its source gave it, "" where it gave none and a neighbour's stands there."""
    rule = derived_marks(event).get("occurred_at", NAIVE)
    return str(event["occurred_at"]) if rule == NAIVE else ""


def words(event: dict[str, Any]) -> Iterator[str]:
    """Yield the words of an event that say something: time and ids, then its payload's, each once.

    Null, "" and an empty list or object say nothing. `reasoning`, `_legacy` and `_derived` are told part by
    part; that there is no reasoning (`unavailable`) says nothing, nor that it is present beside its text. An
    id or a time that was derived from others can be derived again.
    """
    payload = event["payload"]
    derived = derived_marks(event)
    if time(event):
        yield "occurred_at"
    for key in ("turn_id", "call_id"):
        if event[key] and key not in derived:
            yield key
    if derived.get("occurred_at") == NAIVE:
        yield "_derived.occurred_at"
    for key, value in payload.items():
        if _is_empty(value):
            continue
        if key == "reasoning" and isinstance(value, dict):
            yield from _reasoning(value)
        elif key == "_legacy" and isinstance(value, dict):
            yield from (
                f"_legacy.{part}"
                for part, held in value.items()
                if part not in _PLACE and not _is_empty(held)
            )
        elif key not in CHECKING:
            yield key


def _reasoning(value: dict[str, Any]) -> Iterator[str]:
    for part, held in value.items():
        if part == "status":
            plain = ("unavailable", "present") if value.get("text") else ("unavailable",)
            if held not in plain:
                yield "reasoning.status"
        elif not _is_empty(held):
            yield f"reasoning.{part}"


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", [], {})
