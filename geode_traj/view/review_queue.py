"""The findings of a review as one reviewer goes through them: what waits, what shares a value, what is left.

It is brought up to date whenever the journal has grown, by whomever, and only by what is new in it.
"""

from __future__ import annotations

from typing import Final

from geode_traj.review.folder import Found
from geode_traj.review.state import UNDECIDED, State, expanded, fixed_outcome

Event = tuple[str, int | None]
"""A trajectory's name, and an event's ordinal (None: what stands around the events)."""


class Queue:
    """The findings in order; `left` counts the undecided ones."""

    def __init__(self, state: State, reviewer: str) -> None:
        self.state: Final = state
        self.reviewer: Final = reviewer
        self.findings: Final = state.review.findings
        self.events: Final = {one.path: one.events for one in state.review.begun.candidates}
        self.wanted: Final = state.wanted()
        self._by_value: dict[int, list[Found]] = {}
        self._by_event: dict[Event, list[Found]] = {}
        for one in self.findings:
            self._by_value.setdefault(one.value, []).append(one)
            self._by_event.setdefault((one.path, one.ordinal), []).append(one)
        self._taken = 0
        self._undecided = bytearray()
        self.left = 0
        self._count()

    def refresh(self) -> None:
        """Take in what was appended to the journal since, by anybody."""
        journal = self.state.review.journal
        journal.refresh()
        self.state.refresh()
        new = journal.entries[self._taken :]
        if any(entry.kind in ("undo", "rejection") for entry in new):
            self._count()
            return
        self._taken = len(journal.entries)
        for entry in new:
            if entry.kind == "decision":
                for id_ in expanded(entry.body["findings"]):
                    self._undecided[id_ - 1] = self._is_undecided(self.findings[id_ - 1])
        self.left = self._undecided.count(1)

    def waiting(self, start: int) -> int | None:
        """Return the index of the next finding that waits for this reviewer, from `start` on and round."""
        for low, high in ((start, len(self.findings)), (0, start)):
            at = self._undecided.find(1, low, high)
            while at >= 0:
                if self.state.waits_for(self.findings[at], self.reviewer):
                    return at
                at = self._undecided.find(1, at + 1, high)
        return None

    def of_event(self, path: str, ordinal: int | None) -> list[Found]:
        """Return what was found in an event."""
        return self._by_event.get((path, ordinal), [])

    def sharing(self, found: Found) -> list[Found]:
        """Return all findings of the same value, the given one among them."""
        return self._by_value[found.value]

    def fixed(self, found: Found) -> str | None:
        """Return why nobody decides about a finding, None where somebody does."""
        rejected = self.state.rejected.get(found.path)
        if rejected is not None:
            return f"{found.path} is left out, says {rejected.body['reviewer']}: undo that first"
        outcome = fixed_outcome(self.state.review.policy, found)
        if outcome is None:
            return None
        becomes = "replaced" if outcome.kind == "redact" else f"published as it is ({outcome.reason})"
        return f"the policy has fixed that it is {becomes}"

    def seen_percent(self, path: str) -> int:
        """Return how much of a trajectory was on somebody's screen, in percent of its events."""
        events = self.events[path]
        return 100 * self.state.covered(path) // events if events else 100

    def _count(self) -> None:
        self._taken = len(self.state.review.journal.entries)
        self._undecided = bytearray(self._is_undecided(one) for one in self.findings)
        self.left = self._undecided.count(1)

    def _is_undecided(self, found: Found) -> bool:
        return self.state.outcome(found).kind == UNDECIDED
