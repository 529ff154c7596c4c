"""GT1110 to GT1114, the life of supervisor inferences, and alarms about many of them (Stimm).

The rules, windows and limits are those of `contract.inference`. They speak of the run, not of the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from geode_traj.contract.inference import COMPLETED, SLOW, UNSTRUCTURED
from geode_traj.verify.facts import EventView, Facts
from geode_traj.verify.registry import Hit, event_check, file_check

_KINDS: Final = frozenset({"legacy.imported", "message.assistant", "turn.completed"})


@file_check(
    "GT1110", "warning", "the push into the agent's context may have failed, or the log was cut", since="2"
)
def no_terminal_event(facts: Facts) -> Iterator[Hit]:
    """An inference was completed, and neither triggered nor ended without action."""
    for open_ in facts.conduct.inferences.unfinished():
        if open_.event == COMPLETED:
            yield Hit("a completed inference has no terminal event", open_.place)


@file_check("GT1111", "warning", "the backend may have failed, or the log was cut", since="2")
def never_completed(facts: Facts) -> Iterator[Hit]:
    """An inference was started and never completed."""
    for open_ in facts.conduct.inferences.unfinished():
        if open_.event != COMPLETED:
            yield Hit("a running inference was never completed", open_.place)


@event_check("GT1112", "warning", "a rotated log or several writers can cause it", since="2", kinds=_KINDS)
def out_of_order(facts: Facts, event: EventView) -> Iterator[Hit]:
    """An inference's event does not follow from the state that the inference is in.

    started, then completed, then trigger_sent or no_action as the action says; each once.
    """
    if facts.conduct.inference:
        yield Hit(facts.conduct.inference, event.place)


@event_check("GT1113", "warning", "look at the backend's prompt and output format", since="2", kinds=_KINDS)
def unstructured(facts: Facts, event: EventView) -> Iterator[Hit]:
    """At least half of the last inferences gave no structured answer.

    Of the last 20 of an instance, 10 at least. Told when it begins to hold.
    """
    for alert, count, of in facts.conduct.alerts:
        if alert == UNSTRUCTURED:
            yield Hit(f"{count} of the last {of} answers are not structured", event.place)


@event_check("GT1114", "warning", "look at the backend's load", since="2", kinds=_KINDS)
def slow(facts: Facts, event: EventView) -> Iterator[Hit]:
    """Latencies far above the usual are repeated.

    Three of the last 20 of an instance beyond three times the median before them, and one second at least.
    Told when it begins to hold.
    """
    for alert, count, of in facts.conduct.alerts:
        if alert == SLOW:
            yield Hit(f"{count} of the last {of} latencies are outliers", event.place)
