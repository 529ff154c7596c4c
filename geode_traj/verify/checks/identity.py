"""GT2xx, identity: event ids and ordinals (record contract §6)."""

from __future__ import annotations

from collections.abc import Iterator

from geode_traj.verify.facts import EventView, Facts
from geode_traj.verify.registry import Hit, event_check, file_check


@event_check("GT201", "error", "give every event an id of its own")
def repeated_event_id(facts: Facts, event: EventView) -> Iterator[Hit]:
    """An event id stands twice in the trajectory.

    Ids are what proofs, parents and corrections refer to; a repeated one makes the file invalid.
    """
    if facts.repeats_id:
        yield Hit("event_id was used by an earlier event", event.place)


@event_check("GT202", "error", "number the events 1, 2, 3, … in file order")
def ordinal_out_of_order(facts: Facts, event: EventView) -> Iterator[Hit]:
    """Ordinals are not exactly 1 to n in file order.

    A gap means an event was taken out, a repeat that one was put in.
    """
    if event.value["ordinal"] != event.position:
        yield Hit(f"ordinal is not {event.position}", event.place)


@event_check("GT203", "error", "ids are at most 128 (event) or 256 characters")
def id_too_long(facts: Facts, event: EventView) -> Iterator[Hit]:
    """An id is longer than the store's columns hold (record contract §3)."""
    bounds = (("event_id", 128), ("session_id", 256), ("turn_id", 256), ("call_id", 256))
    for key, bound in bounds:
        if len(event.value[key]) > bound:
            yield Hit(f"{key} is longer than {bound} characters", event.place)


@file_check("GT205", "note")
def dated_schema(facts: Facts) -> Iterator[Hit]:
    """The file is a dated trajectory, `geode.trajectory@YYYY-MM-DD`, judged in its normalised form.

    Dated publications are never changed: they are read as `geode.trajectory@1` in memory (record contract
    §7), and ordinals, ids and reasons in the report are those of that form. Reported by the engine.
    """
    return iter(())
