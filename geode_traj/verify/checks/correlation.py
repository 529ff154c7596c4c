"""GT3xx, correlation: which session, turn and call an event belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from geode_traj.contract.derive import ID_RULES
from geode_traj.contract.kinds import CALLS, RESULTS, TURN_SCOPED
from geode_traj.verify.facts import EventView, Facts
from geode_traj.verify.registry import Hit, event_check, file_check


@event_check("GT301", "warning", "export from the store: it derives turns and says so", kinds=TURN_SCOPED)
def missing_turn_id(facts: Facts, event: EventView) -> Iterable[Hit]:
    """A turn-scoped event has no turn id, so the scope is incomplete."""
    return () if event.turn_id else (Hit("turn-scoped event lacks turn_id", event.place),)


@event_check(
    "GT302", "warning", "export from the store: it pairs by order and says so", kinds=CALLS | RESULTS
)
def missing_call_id(facts: Facts, event: EventView) -> Iterable[Hit]:
    """A tool event has no call id: it pairs with nothing, and the scope is incomplete."""
    return () if event.call_id else (Hit("tool event lacks call_id", event.place),)


@event_check("GT303", "warning", "read the pairing of this result with care", kinds=CALLS | RESULTS)
def ambiguous_pairing(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A derived call id could have been another: several calls of that tool were open."""
    marks = event.payload.get("_derived")
    if isinstance(marks, dict) and marks.get("ambiguous"):
        yield Hit("the derived pairing is ambiguous", event.place)


@file_check("GT304", "note", "refuse them with --require-native-ids")
def derived_ids(facts: Facts) -> Iterator[Hit]:
    """Some ids were not in the source but derived while exporting, and are marked so."""
    if facts.derived_ids:
        named = {rule: count for rule, count in facts.derived.items() if rule in ID_RULES}
        other = max(0, facts.derived_ids - sum(named.values()))
        told = sorted({**named, "other": other}.items())  # a rule's name is text of the file, but for ours
        rules = ", ".join(f"{rule} {count}" for rule, count in told if count)
        yield Hit(f"{facts.derived_ids} derived id(s): {rules}")


@file_check("GT305", "error", "count `_derived` marks by rule")
def derived_count_false(facts: Facts) -> Iterator[Hit]:
    """`integrity.derived` does not equal the `_derived` marks of the events."""
    claimed = facts.integrity.get("derived")
    if claimed is not None and claimed != dict(facts.derived):
        yield Hit("integrity.derived does not match the events")


@event_check("GT306", "warning", "every event belongs to a session", since="2")
def missing_session_id(facts: Facts, event: EventView) -> Iterable[Hit]:
    """An event has no session id: it cannot be told whose it is, nor paired across sessions."""
    return () if event.session_id else (Hit("event lacks session_id", event.place),)


@event_check("GT307", "note", "sessions that ran at once may; copied or mixed records do too", since="2")
def session_in_another(facts: Facts, event: EventView) -> Iterable[Hit]:
    """A session goes on after events of another one that stands in its middle.

    Told once a session, where it goes on. A sub-agent's session in the middle of the one that started it is
    as it should be, if a `child_session_key` names it.
    """
    between, session = facts.sessions.reentered, facts.sessions.current
    children = facts.agents.children
    if between is None or session.told or between in children or event.session_id in children:
        return ()
    session.told = True
    return (Hit("its session goes on here, with another one in its middle", event.place),)


@event_check(
    "GT308", "warning", "pairs are formed in order; give every call an id of its own", since="2", kinds=CALLS
)
def reused_call_id(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A call has the id of an earlier call of its turn.

    Which result belongs to which of them then hangs on their order alone.
    """
    if facts.again:
        yield Hit("call_id was used by an earlier call of this turn", event.place)


@file_check("GT309", "note", "its parent may stand in another file, or was left out", since="2")
def dangling_parent(facts: Facts) -> Iterator[Hit]:
    """An event names a parent (`parent_event_id`) that is not in the trajectory.

    Told once for each such parent, where it is first named.
    """
    for place in facts.lineage.dangling():
        yield Hit("parent_event_id names no event of this file", place)


@file_check(
    "GT310", "warning", "an event cannot come before itself: check where the ids come from", since="2"
)
def parents_in_a_ring(facts: Facts) -> Iterator[Hit]:
    """Parents lead from an event back to itself, so that no order of them is the first."""
    for place, others in facts.lineage.cycles():
        yield Hit("its parents lead back to it", place, others)


@file_check("GT311", "warning", "it may still run, or its end was not recorded", since="2")
def agent_never_stopped(facts: Facts) -> Iterator[Hit]:
    """A sub-agent was started, and no end of it is recorded in the session that started it.

    Start and end are paired by child session, else by task, else by call id.
    """
    for place in facts.agents.running():
        yield Hit("sub-agent started, but never stopped", place)


@file_check("GT312", "note", "export it together with its parent", since="2")
def child_not_there(facts: Facts) -> Iterator[Hit]:
    """The session of a sub-agent (`child_session_key`) is not in the trajectory."""
    for child, place in facts.agents.children.items():
        if facts.sessions.get(child) is None and not facts.sessions.untold:
            yield Hit("the session of the sub-agent is not in this file", place)


@file_check("GT313", "note", "split the file to have all of it judged", since="2")
def not_all_judged(facts: Facts) -> Iterator[Hit]:
    """There were more sessions, open parents or sub-agents than are remembered at once.

    Those beyond the bound were not judged by GT307 to GT312, GT401's distinction, GT405 and GT606. Quality
    and completeness are exact nevertheless.
    """
    if facts.untold:
        yield Hit(f"{facts.untold} time(s) a session, parent or sub-agent was not followed")
