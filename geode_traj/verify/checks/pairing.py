"""GT4xx, pairing: calls and their results (record contract §6)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from geode_traj.contract.kinds import RESULTS
from geode_traj.verify.facts import EventView, Facts
from geode_traj.verify.registry import Hit, event_check, file_check


@file_check("GT401", "warning", "at the end of a file this is truncation, before it an interruption")
def call_without_result(facts: Facts) -> Iterator[Hit]:
    """A call has no result, so the scope is incomplete."""
    for call in chain.from_iterable(facts.open.values()):
        yield Hit("tool call lacks a result", call.place)


@event_check("GT402", "warning", "its call may have been lost, or carries another id")
def result_without_call(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A result answers no open call of its session, turn and call id: the scope is incomplete."""
    if event.kind in RESULTS and event.call_id and facts.answered is None:
        yield Hit("tool result lacks a call", event.place)


@event_check("GT403", "warning", "check how the ids were paired")
def tool_differs(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A result names another tool than the call it answers."""
    call = facts.answered
    tool = event.payload.get("tool")
    if call is not None and call.tool and tool and call.tool != tool:
        yield Hit("the result names another tool than its call", event.place, (call.place,))


@event_check("GT404", "note", "clocks may differ; file order is the order")
def result_before_call(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A result's time is before its call's."""
    call = facts.answered
    if (
        call is not None
        and call.seconds is not None
        and event.seconds is not None
        and event.seconds < call.seconds
    ):
        yield Hit("the result is earlier than its call", event.place, (call.place,))
