"""Trajectories made for tests of what a run did: canonical files of a few events that state the truth."""

from __future__ import annotations

from typing import Any

from geode_traj.codec.framed import frame, join
from geode_traj.contract.encoding import encode
from geode_traj.contract.issues import has_issue
from geode_traj.contract.quality import Quality, completeness
from geode_traj.contract.times import iso, parse

START = 1_788_256_800.0


def event(kind: str, at: float, payload: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return an event `at` seconds after the start; `fields` are its own, the row's go into the payload."""
    row = {"model": "", "provider": "", "status": "", "source": "runtime", "session_generation": 1}
    laid = {"parent_event_id": None, "source_payload_hash": "0" * 64}
    return {
        "occurred_at": iso(START + at),
        "kind": kind,
        "actor": "agent",
        "session_id": "s1",
        "turn_id": "" if kind.startswith("session.") else "t1",
        "call_id": "",
        "payload": {**row, **laid, **payload},
        **fields,
    }


def trajectory(events: list[dict[str, Any]], *, end: dict[str, Any] | None = None, **head: Any) -> bytes:
    """Return a file of a session's start, some events and its end, whose payload is `end`."""
    ordered = sorted(events, key=_seconds)
    last = ordered[-1]["occurred_at"] if ordered else iso(START)
    around = [
        event("session.started", 0, {"status": "active"}),
        *ordered,
        {**event("session.ended", 0, {"status": "completed", **(end or {})}), "occurred_at": last},
    ]
    return framed(around, captured_at=last, **head)


def _seconds(one: dict[str, Any]) -> float:
    time = parse(one["occurred_at"])
    assert time is not None
    return time[0]


def framed(events: list[dict[str, Any]], *, captured_at: str, **head: Any) -> bytes:
    """Return a canonical file of exactly these events."""
    numbered = [{**one, "event_id": f"e{n}", "ordinal": n} for n, one in enumerate(events, start=1)]
    quality = Quality()
    for one in numbered:
        issue = has_issue(one["payload"])
        quality.feed(one["kind"], one["session_id"], one["turn_id"], one["call_id"], issue=issue)
    integrity = {
        "record_count": quality.events, **completeness(quality).to_json(), "quality": quality.to_json(),
    }  # fmt: skip
    whole = {
        "schema_id": "geode.trajectory@1",
        "schema_version": 1,
        "trajectory_id": "demo",
        "captured_at": captured_at,
        "source": {"harness": "geode", "run": "s1", "session": "s1", "parents": None},
        "outcome": {"scored": False},
        "integrity": integrity,
        "privacy": {"review_state": "local"},
        "provenance": {"store": "sessions.db:session_events"},
        **head,
    }
    opening, closing = frame(whole, encode)
    return opening + b"".join(join(encode(one) for one in numbered)) + closing


def usage(at: float = 1, **counts: Any) -> dict[str, Any]:
    """Return a `usage.recorded` event."""
    return event("usage.recorded", at, counts)


def operation(name: str, at: float, took: float | None = 1, **fields: Any) -> dict[str, Any]:
    """Return an operation's event, `took` in seconds."""
    more = {} if took is None else {"duration_ms": took * 1000}
    return event("legacy.imported", at, {"operation": name, **more, **fields.pop("payload", {})}, **fields)
