"""A first look at a text: which rules can find anything in it?

The triggers of the rules make three automata, not one. An automaton has a state for every combination of what
its patterns have begun to see, and those of unlike patterns multiply: building the states of a single one
takes longer than all the rest of scanning some megabytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from geode_traj.contract.gate_filter import Look
from geode_traj.scan.rules import Rule


def whole_in_pieces(rule: Rule) -> bool:
    """Tell whether what a rule finds may be put together from pieces: it is known by its own shape."""
    return not rule.vague and "import" in rule.profiles


class Triggers:
    """The triggers of `rules`, and `more` patterns that stand for no rule."""

    def __init__(self, rules: Iterable[Rule], more: Iterable[bytes]) -> None:
        shapes: list[Rule] = []
        places: list[Rule] = []
        personal: list[Rule] = []
        for rule in rules:
            kind = shapes if whole_in_pieces(rule) else places if "import" in rule.profiles else personal
            kind.append(rule)
        self._shapes: Final = _Group(shapes)
        groups = (self._shapes, _Group(places, more), _Group(personal))
        self._groups: Final = tuple(group for group in groups if group.members)

    def any(self, data: bytes) -> bool:
        """Tell whether any pattern is there."""
        return any(group.look(data) for group in self._groups)

    def shapes(self, data: bytes) -> list[Rule | int]:
        """Return the rules whose trigger is there, as far as they are `whole_in_pieces`."""
        members = self._shapes.members
        return [members[index] for index in self._shapes.look(data)]

    def __call__(self, data: bytes) -> list[Rule | int]:
        """Return the rules whose trigger is there, and for those of `more` that are, their index."""
        return [group.members[index] for group in self._groups for index in group.look(data)]


class _Group:
    """Some rules and the indices of `more`, in the order of one look for their triggers and for `more`."""

    def __init__(self, rules: list[Rule], more: Iterable[bytes] = ()) -> None:
        patterns = [*(rule.trigger for rule in rules), *more]
        self.members: Final[list[Rule | int]] = [*rules, *range(len(patterns) - len(rules))]
        self.look: Final = Look(*patterns)
