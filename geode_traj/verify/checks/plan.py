"""GT1101 to GT1108, plan: what ran against what was declared.

The rules are those of `contract.plan` and `contract.observed`. A plan comes beside the trajectory
(`--plan`), as its `source.plan`, or as payload word `plan` of an event, for the session of that event. Drift
speaks of the run: `verify` fails on it, and the trajectory that tells it truly can still be exported and
released. An operation is named where its plan was given beside the file; else its place in the plan stands
for its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from geode_traj.contract.observed import Pair, Run
from geode_traj.contract.plan import OPERATION, Operation, Plan
from geode_traj.contract.times import is_calendar, iso
from geode_traj.model.finding import Place
from geode_traj.verify.conduct import Declared
from geode_traj.verify.facts import EventView, Facts
from geode_traj.verify.registry import Hit, event_check, file_check

_POINTER = {OPERATION: "/payload/operation"}


@file_check("GT1101", "error", "declare it, or find out why it ran", since="2")
def undeclared(facts: Facts) -> Iterator[Hit]:
    """An operation ran that the plan does not declare.

    Judged for each kind that the plan speaks of: a plan without tools says nothing about tools. The place is
    that of the first run.
    """
    for _, drift in facts.conduct.drifts(facts.head):
        for kind, count, run in drift.undeclared:
            yield Hit(
                f"an undeclared {_word(kind)} ran {count} time(s)", _at(run, _POINTER.get(kind, "/payload"))
            )


@file_check("GT1102", "warning", "work that was skipped or cancelled may leave no event", since="2")
def unobserved(facts: Facts) -> Iterator[Hit]:
    """A declared operation that is not conditional never ran.

    Known holes: speech and transcription, failures before a request was sent, and skipped or cancelled work
    may leave no event. Alone it makes no run inconsistent with its plan.
    """
    for declared, drift in facts.conduct.drifts(facts.head):
        for operation in drift.unobserved:
            yield Hit(f"{_name(drift.plan, operation)} was not observed", _in_plan(declared, operation))


@file_check(
    "GT1103", "error", "declare it as background if it may overlap; else find out why it was early", since="2"
)
def contradicted(facts: Facts) -> Iterator[Hit]:
    """An operation started more than 50 ms before one that it needs had ended.

    Every pair of runs in a turn is judged, retries and repeats too. Background operations may overlap what
    they need. Of one run and one need the worst pair is told, with the observed times and the number of
    pairs.
    """
    for _, drift in facts.conduct.drifts(facts.head):
        for pair in drift.contradicted:
            yield _told(drift.plan, pair)
        more = drift.pairs["contradicted"] - sum(pair.pairs for pair in drift.contradicted)
        if more:
            yield Hit(f"{more} more pair(s) are contradicted")


@file_check("GT1104", "note", "what waited for the earlier run may be out of date", since="2")
def rerun(facts: Facts) -> Iterator[Hit]:
    """A needed operation ran again after what needs it had started.

    An earlier run of it had ended in time, so the order is not contradicted; but the result that was used is
    not the last one.
    """
    for _, drift in facts.conduct.drifts(facts.head):
        for pair in drift.reruns:
            need, name = _name(drift.plan, pair.need), _name(drift.plan, pair.operation)
            yield Hit(f"{need} ran again after {name} had started", _at(pair.need_run), (_at(pair.run),))


@file_check("GT1105", "warning", "correct the plan, or the actor of the operation", since="2")
def other_actor(facts: Facts) -> Iterator[Hit]:
    """An operation was run by another actor than its plan declares."""
    for _, drift in facts.conduct.drifts(facts.head):
        for operation, run in drift.actors:
            yield Hit(f"{_name(drift.plan, operation)} was run by another actor", _at(run))


@event_check("GT1106", "warning", "see `schema geode-traj.plan@1`", since="2")
def malformed(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A plan among the events cannot be read, so nothing is reconciled with it."""
    if facts.conduct.malformed:
        yield Hit(facts.conduct.malformed, event.at("/payload/plan"))


@file_check("GT1107", "warning", "see `schema geode-traj.plan@1`", since="2")
def malformed_head(facts: Facts) -> Iterator[Hit]:
    """`source.plan` cannot be read, so nothing is reconciled with it."""
    facts.conduct.drifts(facts.head)
    if facts.conduct.malformed:
        yield Hit(facts.conduct.malformed, Place(pointer="/source/plan"))


@file_check("GT1108", "warning", "split the trajectory by session", since="2")
def left_out(facts: Facts) -> Iterator[Hit]:
    """More operations ran than are reconciled with a plan; what none of the others was is not told."""
    conduct = facts.conduct
    if conduct.observed.left_out and conduct.drifts(facts.head):
        yield Hit(
            f"{conduct.observed.left_out} run(s) after the first {conduct.observed.runs} were not judged"
        )


def _told(plan: Plan, pair: Pair) -> Hit:
    start, end = _time(pair.run.start), _time(pair.need_run.end)
    early = round(((pair.need_run.end or 0) - (pair.run.start or 0)) * 1000)
    more = f"; {pair.pairs} such pairs" if pair.pairs > 1 else ""
    name, need = _name(plan, pair.operation), _name(plan, pair.need)
    message = f"{name} starts at {start}, {early} ms before {need} ends at {end}{more}"
    return Hit(message, _at(pair.run), (_at(pair.need_run),))


def _time(seconds: Any) -> str:
    return iso(seconds) if is_calendar(seconds) else "an impossible time"


def _word(kind: str) -> str:
    return "sub-agent" if kind == "subagent" else kind


def _name(plan: Plan, operation: Operation) -> str:
    """Say which operation: a name out of the judged file is that file's text and stays out of messages."""
    return operation.name[:80] if plan.named else f"operation {operation.number} of the plan"


def _in_plan(declared: Declared, operation: Operation) -> Place:
    # The given plan is another file: its pointers would mean something else in this one.
    pointer = f"{declared.pointer}/operations/{operation.number - 1}" if declared.pointer else None
    return Place(pointer=pointer)


def _at(run: Run, below: str = "") -> Place:
    return Place(line=run.line, ordinal=run.ordinal, pointer=f"/events/{run.ordinal - 1}{below}")
