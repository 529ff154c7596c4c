"""GT2xx, identity: event ids and ordinals (record contract §6)."""

from __future__ import annotations

from collections.abc import Iterable

from geode_traj.contract.ids import COLUMN_BOUNDS, MAX_EVENT_ID, MAX_SESSION_ID
from geode_traj.verify.facts import EventView, Facts
from geode_traj.verify.registry import Hit, engine_check, event_check

_BOUNDS = (
    ("event_id", MAX_EVENT_ID),
    ("session_id", MAX_SESSION_ID),
    ("turn_id", COLUMN_BOUNDS["turn_id"]),
    ("call_id", COLUMN_BOUNDS["call_id"]),
)
_LEAST = min(bound for _, bound in _BOUNDS)


@event_check("GT201", "error", "give every event an id of its own")
def repeated_event_id(facts: Facts, event: EventView) -> Iterable[Hit]:
    """An event id stands twice in the trajectory.

    Ids are what proofs, parents and corrections refer to; a repeated one makes the file invalid.
    """
    return (Hit("event_id was used by an earlier event", event.place),) if facts.lineage.repeats else ()


@event_check("GT202", "error", "number the events 1, 2, 3, … in file order")
def ordinal_out_of_order(facts: Facts, event: EventView) -> Iterable[Hit]:
    """Ordinals are not exactly 1 to n in file order.

    A gap means an event was taken out, a repeat that one was put in.
    """
    ordinal, before = event.value["ordinal"], facts.ordinal
    if ordinal == event.position:
        return ()
    told = "ordinals do not begin with 1" if event.position == 1 else "there is a gap before it"
    if before and ordinal <= before:
        told = "it repeats the one before" if ordinal == before else "ordinals go back"
    elif before and ordinal == before + 1:
        told = "it follows an earlier fault"
    return (Hit(f"ordinal is not {event.position}: {told}", event.place),)


@event_check("GT203", "error", "ids are at most 128 (event) or 256 characters")
def id_too_long(facts: Facts, event: EventView) -> Iterable[Hit]:
    """An id is longer than the store's columns hold (record contract §3)."""
    value = event.value
    if len(value["event_id"]) <= _LEAST and len(event.session_id + event.turn_id + event.call_id) <= _LEAST:
        return ()
    return [
        Hit(f"{key} is longer than {bound} characters", event.at(f"/{key}"))
        for key, bound in _BOUNDS
        if len(value[key]) > bound
    ]


@engine_check("GT205", "note")
def dated_schema() -> None:
    """The file is a dated trajectory, `geode.trajectory@YYYY-MM-DD`, judged in its normalised form.

    Dated publications are never changed: they are read as `geode.trajectory@1` in memory (record contract
    §7), and ordinals, ids and reasons in the report are those of that form.
    """
