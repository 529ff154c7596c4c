"""Small valid trajectories, and what they claim by the slow, independent rules of `tests.reference`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from geode_traj.codec.framed import frame, join
from geode_traj.contract.encoding import encode
from tests.reference import quality as reference

START = datetime(2026, 9, 1, 10, tzinfo=UTC)
Event = dict[str, Any]
_ROW = {
    "model": "", "provider": "", "status": "", "source": "runtime", "session_generation": 1,
    "parent_event_id": None, "source_payload_hash": "0" * 64,
}  # fmt: skip


def event(kind: str, payload: dict[str, Any] | None = None, **fields: Any) -> Event:
    """Return an event without id, ordinal and time, which `numbered` fills in."""
    is_tool = kind.startswith("tool.")
    return {
        "kind": kind,
        "actor": fields.pop("actor", "user" if kind == "message.user" else "agent"),
        "session_id": "s1",
        "turn_id": "" if kind.startswith("session.") else "t1",
        "call_id": "c1" if is_tool else "",
        "payload": {**_ROW, **({"tool": "shell"} if is_tool else {}), **(payload or {})},
        **fields,
    }


def conversation(*between: Event) -> list[Event]:
    """Return a session with a question, one tool's call and result, `between`, an answer and the end."""
    return [
        event("session.started", {"status": "active"}),
        event("message.user", {"content": "What stands in demo.txt?"}),
        event("tool.called", {"arguments": {"command": "cat demo.txt"}}),
        event("tool.completed", {"result": "three lines\n", "status": "ok"}),
        *between,
        event("message.assistant", {"content": "Three lines."}),
        event("session.ended", {"status": "completed"}),
    ]


def numbered(events: list[Event]) -> list[Event]:
    """Return the events with ids, ordinals and times, one second apart, where they have none."""
    return [
        {
            "event_id": f"e{n}",
            "ordinal": n,
            "occurred_at": f"{(START + timedelta(seconds=n)).isoformat()[:-6]}Z",
            **one,
        }
        for n, one in enumerate(events, start=1)
    ]


def document(events: list[Event], **head: Any) -> dict[str, Any]:
    """Return a trajectory that states the truth about its events; `head` replaces members of its head."""
    events = numbered(events)
    doc = {
        "schema_id": "geode.trajectory@1",
        "schema_version": 1,
        "trajectory_id": "demo",
        "captured_at": max((str(one["occurred_at"]) for one in events), default="2026-09-01T10:00:00Z"),
        "source": {"harness": "geode", "run": "s1", "session": "s1", "parents": None},
        "outcome": {"scored": False},
        "privacy": {"review_state": "local"},
        "provenance": {"store": "sessions.db:session_events"},
        "events": events,
        **head,
    }
    declared = doc.get("integrity", {})
    integrity = {**declared, **reference.completeness({**doc, "integrity": declared})}
    doc["integrity"] = {**integrity, "record_count": len(events), "quality": reference.quality(events)}
    return doc


def written(doc: dict[str, Any]) -> bytes:
    """Return a document as a canonical file."""
    opening, closing = frame({key: value for key, value in doc.items() if key != "events"}, encode)
    return opening + b"".join(join(encode(one) for one in doc["events"])) + closing


def trajectory(events: list[Event], **head: Any) -> bytes:
    """Return a canonical file of these events."""
    return written(document(events, **head))
