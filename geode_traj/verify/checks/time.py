"""GT6xx, time: UTC with Z, in a plausible order, and the source's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from geode_traj.contract.kinds import RESULTS
from geode_traj.contract.times import parse
from geode_traj.verify.facts import EventView, Facts
from geode_traj.verify.registry import Hit, event_check, file_check

_SECONDS: Final = {
    "duration_s": 1.0,
    "duration_seconds": 1.0,
    "elapsed_s": 1.0,
    "duration_ms": 0.001,
    "elapsed_ms": 0.001,
}
SLACK: Final = 1.0
"""Seconds by which a duration may exceed its stamps: they are taken by other clocks, and rounded."""
_SHARE: Final = 0.01


@event_check("GT601", "error", "write UTC times as 2026-01-31T09:30:00Z")
def unreadable_time(facts: Facts, event: EventView) -> Iterable[Hit]:
    """An event's time is no calendar date-time, or names no zone."""
    if event.zoned:
        return ()
    told = "is not an ISO 8601 date-time" if event.seconds is None else "names no time zone"
    return (Hit(f"occurred_at {told}", event.place),)


@event_check("GT602", "note", "file order is the order; time is data")
def decreasing_time(facts: Facts, event: EventView) -> Iterable[Hit]:
    """An event is earlier than the one before it."""
    if event.seconds is None or facts.previous is None or event.seconds >= facts.previous:
        return ()
    return (Hit("earlier than the event before it", event.place),)


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


@file_check("GT605", "note", "what hangs on such times (order, durations) is not known", since="2")
def filled_in_time(facts: Facts) -> Iterator[Hit]:
    """Events have times that are not their source's: it gave none, or none that can be read as it stands.

    The events say so (`_derived.occurred_at`, `_timestamp_missing`, `_timestamp_invalid`). One finding counts
    them by rule, at the first; `naive_as_utc` is a time that named no zone.
    """
    if facts.first_filled is not None:
        rules = ", ".join(f"{rule} {count}" for rule, count in sorted(facts.filled.items()))
        yield Hit(f"{facts.filled.total()} event(s) have no time of their own: {rules}", facts.first_filled)


@event_check(
    "GT606", "note", "one of the two is not what it says", since="2", kinds=RESULTS | {"session.ended"}
)
def duration_disagrees(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A duration is longer than the time between its stamps, by more than a second and a hundredth.

    A result's is compared with its call, that of a session's end with its start. A shorter one is possible:
    a call may wait. Times that were filled in are not compared.
    """
    if _SECONDS.keys().isdisjoint(event.payload):
        return
    call = facts.answered
    begun = facts.sessions.current.since
    if event.kind in RESULTS:
        begun = call.seconds if call is not None and call.timed else None
    if begun is None or event.seconds is None or event.filled or event.seconds < begun:
        return
    span = event.seconds - begun
    for key, unit in _SECONDS.items():
        stated = _number(event.payload.get(key)) * unit
        if stated > span * (1 + _SHARE) + SLACK:
            related = (call.place,) if call is not None else ()
            yield Hit(
                f"{key} is longer than the time between its stamps", event.at(f"/payload/{key}"), related
            )


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    try:
        return float(value)
    except OverflowError:  # an integer beyond any float is longer than everything
        return float("inf")
