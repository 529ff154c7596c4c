"""GT4xx, pairing: calls and their results (record contract §6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from geode_traj.contract.kinds import RESULTS
from geode_traj.verify.facts import EventView, Facts
from geode_traj.verify.registry import Hit, event_check, file_check


@file_check("GT401", "warning", "look for the rest of the record, or for what interrupted the tool")
def call_without_result(facts: Facts) -> Iterator[Hit]:
    """A call has no result, so the scope is incomplete.

    Where its session says nothing more after it, the record was cut off there. Where the session went on, the
    tool was interrupted, or its result was not recorded.
    """
    for (session_id, _, _), calls in facts.open.items():
        session = facts.sessions.get(session_id)
        for call in calls:
            went_on = session is not None and session.spoke > (call.place.ordinal or 0)
            why = "interrupted, the session went on" if went_on else "at the end of what its session says"
            yield Hit("tool call lacks a result" + (f": {why}" if session else ""), call.place)


@event_check("GT402", "warning", "its call may have been lost, or carries another id", kinds=RESULTS)
def result_without_call(facts: Facts, event: EventView) -> Iterable[Hit]:
    """A result answers no open call of its session, turn and call id: the scope is incomplete."""
    lone = event.call_id and facts.answered is None
    return (Hit("tool result lacks a call", event.place),) if lone else ()


@event_check("GT403", "warning", "check how the ids were paired", kinds=RESULTS)
def tool_differs(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A result names another tool than the call it answers."""
    call = facts.answered
    tool = event.payload.get("tool")
    if call is not None and call.tool and tool and call.tool != tool:
        yield Hit("the result names another tool than its call", event.place, (call.place,))


@event_check("GT404", "note", "clocks may differ; file order is the order", kinds=RESULTS)
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


@event_check("GT405", "warning", "one of them may be a retry's, or a copy", since="2", kinds=RESULTS)
def second_result(facts: Facts, event: EventView) -> Iterable[Hit]:
    """A result answers a call that was answered before: of its turn, with its call id.

    The first one is paired; this one lacks a call (GT402) and makes the scope incomplete.
    """
    return (Hit("the call was answered before", event.place),) if facts.again else ()


@event_check("GT406", "note", "an empty result would be there, and empty", since="2", kinds=RESULTS)
def missing_result(facts: Facts, event: EventView) -> Iterable[Hit]:
    """A result event has nothing that could be its result: it is missing, not empty.

    Nothing but the tool's name, ids, row fields, figures and marks stands in its payload, or what does is
    null. A payload that says what was cut or left out is GT501's.
    """
    return (Hit("the result is missing", event.place),) if facts.answer == "missing" else ()


@file_check("GT407", "note", "empty output is common; nothing may have been lost", since="2")
def empty_result(facts: Facts) -> Iterator[Hit]:
    """Results are there, and empty: an empty text, list or object, which is not the same as a missing one.

    One finding tells how many there are, at the first.
    """
    if facts.first_empty is not None:
        yield Hit(f"{facts.empty_results} tool result(s) are empty", facts.first_empty)
