"""The life of one supervisor inference, and what about many of them is alarming (Stimm).

Rules:

1. `inference_started` makes a running inference; `inference_completed` a completed one, with latency, whether
   the answer was structured, and an action; `trigger_sent` ends it as triggered, `no_action` as no_action.
2. Anything else is out of order: an end before completion, completion without a start (a log whose head was
   rotated away), a second start or completion, an end that contradicts the action.
3. An inference that is completed but never ended is reported, and so is one that never completed.
4. Alerts look at the last 20 completed inferences of an instance. One is given when its condition begins to
   hold, and again only after it ceased: half of at least 10 answers unstructured; 3 latencies beyond
   three times the median of the 5 to 20 before them, and at least one second.

An instance that may be two (several write into one log) is followed, but its order proves nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

STARTED, COMPLETED = "inference_started", "inference_completed"
TRIGGERED, NO_ACTION = "trigger_sent", "no_action"
EVENTS: Final = frozenset({STARTED, COMPLETED, TRIGGERED, NO_ACTION})
_ENDS: Final = {TRIGGERED: "TRIGGER", NO_ACTION: "NO_ACTION"}
WINDOW: Final = 20
MIN_ANSWERS: Final = 10
SHARE: Final = 0.5
MIN_LATENCIES: Final = 5
FACTOR: Final = 3
FLOOR_MS: Final = 1_000
OUTLIERS: Final = 3
MAX_INSTANCES: Final = 256
MAX_OPEN: Final = 10_000

UNSTRUCTURED, SLOW = "unstructured", "slow"


@dataclass(slots=True)
class Open:
    """An inference that has not ended: its last event, the action it came to, and where that stands."""

    event: str
    action: str
    place: Any
    doubtful: bool


@dataclass(slots=True)
class _Instance:
    """The last completed inferences of one instance, and which alerts hold."""

    structured: deque[bool] = field(default_factory=lambda: deque(maxlen=WINDOW))
    latencies: deque[float] = field(default_factory=lambda: deque(maxlen=WINDOW))
    outliers: deque[bool] = field(default_factory=lambda: deque(maxlen=WINDOW))
    holds: set[str] = field(default_factory=set)


class Inferences:
    """Feeds on the observed events of supervisor instances, in order."""

    def __init__(self) -> None:
        self.untold = 0
        self._open: dict[tuple[str, str], Open] = {}
        self._instances: dict[tuple[str, object], _Instance] = {}

    def feed(self, session_id: str, turn_id: str, event: str, payload: dict[str, Any], place: Any) -> str:
        """Take the next event; return what is out of order about it, "" where nothing is."""
        key = (session_id, turn_id)
        before = self._open.get(key)
        doubtful = payload.get("ambiguous_instance") is True
        wrong = _wrong(event, before)
        if event in _ENDS:
            self._open.pop(key, None)
        elif before is None and len(self._open) >= MAX_OPEN:
            self.untold += 1
        else:
            action = payload.get("action")
            self._open[key] = Open(event, action if isinstance(action, str) else "", place, doubtful)
        return "" if doubtful or (before is not None and before.doubtful) else wrong

    def alerts(self, session_id: str, payload: dict[str, Any]) -> Iterator[tuple[str, int, int]]:
        """Take a completed inference; yield (alert, how many, of how many) for each that begins to hold."""
        key = (session_id, payload.get("instance"))
        if key not in self._instances and len(self._instances) >= MAX_INSTANCES:
            self.untold += 1
            return
        instance = self._instances.setdefault(key, _Instance())
        if isinstance(payload.get("structured_json"), bool):
            instance.structured.append(payload["structured_json"])
            count, of = instance.structured.count(False), len(instance.structured)
            if _begins(instance, UNSTRUCTURED, of >= MIN_ANSWERS and count >= SHARE * of):
                yield UNSTRUCTURED, count, of
        latency = payload.get("latency_ms")
        if isinstance(latency, int | float) and not isinstance(latency, bool) and latency >= 0:
            from statistics import median  # loaded where an inference tells its latency

            before = instance.latencies
            usual = median(before) if len(before) >= MIN_LATENCIES else None
            instance.outliers.append(usual is not None and latency >= max(FACTOR * usual, FLOOR_MS))
            before.append(latency)
            count, of = instance.outliers.count(True), len(instance.outliers)
            if _begins(instance, SLOW, count >= OUTLIERS):
                yield SLOW, count, of

    def unfinished(self) -> Iterator[Open]:
        """Yield what never ended, in the order of its start."""
        yield from self._open.values()


def _wrong(event: str, before: Open | None) -> str:
    if event == STARTED:
        return "a running inference starts again" if before is not None else ""
    if before is None:
        return "the start of its inference is not there"
    if event == COMPLETED:
        return "the inference was completed already" if before.event == COMPLETED else ""
    if before.event == STARTED:
        return "the inference ends before it was completed"
    if before.action and before.action != _ENDS[event]:
        return "the end contradicts the action that the inference came to"
    return ""


def _begins(instance: _Instance, alert: str, holds: bool) -> bool:
    """Tell whether an alert holds that did not before."""
    begins = holds and alert not in instance.holds
    (instance.holds.add if holds else instance.holds.discard)(alert)
    return begins
