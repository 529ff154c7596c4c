"""Which supervisor instance an inference belongs to, told from `inference_seq` alone.

Every instance counts its inferences from 1, and no line names one. An inference that starts with a number
that is not above the current instance's opens a new one. Several instances may write into one log: that shows
when a number is open twice, or when a line belongs to an instance that is not the current one. Such instances
are told apart as far as their numbers allow, and marked ambiguous from there on.

What a line is given depends on the lines before it alone, so that a log that grows keeps what it gave.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

STARTED: Final = "inference_started"
COMPLETED: Final = "inference_completed"
TERMINAL: Final = frozenset({"trigger_sent", "no_action"})
# Instances that a line may still belong to; of older ones only the open inferences are counted.
_LIVE: Final = 64


@dataclass(slots=True)
class Instance:
    """One supervisor instance: its number in the log from 1, its last inference, the open ones by stage."""

    number: int
    seq: int
    open: dict[int, str] = field(default_factory=dict)
    ambiguous: bool = False


class Instances:
    """Feeds on the observed events of one log in order."""

    def __init__(self) -> None:
        self.without_start = 0
        self._count = 0
        self._live: list[Instance] = []
        self._left: Counter[str] = Counter()
        self._ambiguous = 0

    def place(self, event: str, seq: int | None) -> tuple[Instance, bool]:
        """Return the instance of an event, and whether the event is the first of it."""
        if not self._live:
            instance, opened = self._open(seq or 0), True
        elif seq is None:
            return self._live[-1], False
        elif event == STARTED:
            instance, opened = self._start(seq)
        else:
            instance, opened = self._belongs(seq), False
        if seq is not None:
            self._advance(instance, event, seq)
        return instance, opened

    def unfinished(self) -> Counter[str]:
        """Return how many inferences were left open, by the last event they had."""
        counts = Counter(self._left)
        for instance in self._live:
            counts.update(instance.open.values())
        return counts

    def ambiguous(self) -> int:
        """Return how many instances could not be told apart for certain."""
        return self._ambiguous

    def _start(self, seq: int) -> tuple[Instance, bool]:
        current = self._live[-1]
        if seq == current.seq + 1:
            return current, False
        # An instance counts without gaps: one that expects this number fits better than the current one.
        expecting = next((one for one in reversed(self._live) if one.seq + 1 == seq and seq > 1), None)
        if expecting is not None:
            self._mark(current, expecting)
            return expecting, False
        if seq > current.seq:
            return current, False
        doubled = [one for one in self._live if seq in one.open]
        opened = self._open(seq)
        if doubled:
            self._mark(opened, *doubled)
        return opened, True

    def _belongs(self, seq: int) -> Instance:
        current = self._live[-1]
        holders = [one for one in self._live if seq in one.open]
        if not holders:
            return current
        if len(holders) > 1 or holders[0] is not current:
            self._mark(current, *holders)
        return holders[0]

    def _advance(self, instance: Instance, event: str, seq: int) -> None:
        known = seq in instance.open
        instance.seq = max(instance.seq, seq)
        if event == STARTED:
            instance.open[seq] = STARTED
        elif event == COMPLETED:
            self.without_start += not known
            instance.open[seq] = COMPLETED
        elif event in TERMINAL:
            self.without_start += not known
            instance.open.pop(seq, None)

    def _open(self, seq: int) -> Instance:
        self._count += 1
        opened = Instance(self._count, seq)
        self._live.append(opened)
        if len(self._live) > _LIVE:
            self._left.update(self._live.pop(0).open.values())
        return opened

    def _mark(self, *instances: Instance) -> None:
        for one in instances:
            self._ambiguous += not one.ambiguous
            one.ambiguous = True
