"""Which turn the lines of a rollout belong to."""

from __future__ import annotations


class Turn:
    """The turn that lines belong to: `told` says that an event opened it, not only a line of context."""

    def __init__(self) -> None:
        self.id = ""
        self.told = False
        self.asked = False

    def open(self, turn_id: str, *, told: bool) -> None:
        """Take a turn's id; a mere context cannot name a turn whose question came before it."""
        if turn_id == self.id or told or not (self.asked or self.told):
            self.asked = self.asked and turn_id == self.id
            self.id, self.told = turn_id, told or self.told

    def ask(self) -> None:
        """Meet a real user message: without events around turns, a second one begins another turn."""
        if self.asked and not self.told:
            self.id = ""
        self.asked = True

    def close(self) -> None:
        """Leave the turn."""
        self.id, self.told, self.asked = "", False, False
