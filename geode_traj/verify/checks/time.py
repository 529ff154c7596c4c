"""GT6xx, time: UTC with Z, and in a plausible order."""

from __future__ import annotations

from collections.abc import Iterator

from geode_traj.contract.times import parse
from geode_traj.verify.facts import EventView, Facts
from geode_traj.verify.registry import Hit, event_check, file_check


@event_check("GT601", "error", "write UTC times as 2026-01-31T09:30:00Z")
def unreadable_time(facts: Facts, event: EventView) -> Iterator[Hit]:
    """An event's time is no calendar date-time, or names no zone."""
    if event.seconds is None:
        yield Hit("occurred_at is not an ISO 8601 date-time", event.place)
    elif not event.zoned:
        yield Hit("occurred_at names no time zone", event.place)


@event_check("GT602", "note", "file order is the order; time is data")
def decreasing_time(facts: Facts, event: EventView) -> Iterator[Hit]:
    """An event is earlier than the one before it."""
    if event.seconds is not None and facts.previous is not None and event.seconds < facts.previous:
        yield Hit("earlier than the event before it", event.place)


@file_check("GT603", "warning", "captured_at is the greatest event time")
def captured_before_events(facts: Facts) -> Iterator[Hit]:
    """An event happened after the trajectory says it was captured."""
    captured = parse(facts.head["captured_at"])
    if captured is not None and facts.latest is not None and facts.latest > captured[0]:
        yield Hit("captured_at is before the latest event")


@file_check("GT604", "error", "write UTC times as 2026-01-31T09:30:00Z")
def unreadable_head_time(facts: Facts) -> Iterator[Hit]:
    """captured_at or published_at is no calendar date-time, or names no zone."""
    for key in ("captured_at", "published_at"):
        if key in facts.head:
            time = parse(facts.head[key])
            if time is None or not time[1]:
                yield Hit(f"{key} is not an ISO 8601 date-time with a zone")
