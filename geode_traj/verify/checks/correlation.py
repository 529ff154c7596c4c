"""GT3xx, correlation: which session, turn and call an event belongs to."""

from __future__ import annotations

from collections.abc import Iterator

from geode_traj.contract.derive import ID_RULES
from geode_traj.contract.kinds import CALLS, RESULTS, TURN_SCOPED
from geode_traj.verify.facts import EventView, Facts
from geode_traj.verify.registry import Hit, event_check, file_check


@event_check("GT301", "warning", "export from the store: it derives turns and says so")
def missing_turn_id(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A turn-scoped event has no turn id, so the scope is incomplete."""
    if not event.turn_id and event.kind in TURN_SCOPED:
        yield Hit("turn-scoped event lacks turn_id", event.place)


@event_check("GT302", "warning", "export from the store: it pairs by order and says so")
def missing_call_id(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A tool event has no call id: it pairs with nothing, and the scope is incomplete."""
    if not event.call_id and (event.kind in CALLS or event.kind in RESULTS):
        yield Hit("tool event lacks call_id", event.place)


@event_check("GT303", "warning", "read the pairing of this result with care")
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
