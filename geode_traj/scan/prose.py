"""Names and addresses in prose: an adapter for a recogniser, which is not shipped.

Such recognisers guess. So they see only what users and assistants write, never the output of tools, and what
they find is a question to a person, never a gate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, Protocol

from geode_traj.codec import pointer
from geode_traj.codec.pointer import Trail
from geode_traj.scan.finding import Number, ScanFinding

RULE: Final = "prose_name"
PROSE_KINDS: Final = frozenset({"message.user", "user_message", "message.assistant", "assistant_message"})
_MEMBERS: Final = frozenset({"content", "text"})


class Recogniser(Protocol):
    """Finds names of people and places in a text."""

    def entities(self, text: str) -> Iterable[tuple[int, int, str]]:
        """Return the characters start..end and the kind (`person`, `address`, …) of each."""


def names_in_prose(kind: str, payload: Any, recogniser: Recogniser, number: Number) -> Iterator[ScanFinding]:
    """Yield, for review only, what a recogniser finds in the words of a message; nothing for other kinds."""
    if kind not in PROSE_KINDS:
        return
    stack: list[tuple[Trail, Any]] = [(None, payload)]
    while stack:
        trail, item = stack.pop()
        if isinstance(item, dict):
            stack.extend(((trail, key), item[key]) for key in item if key in _MEMBERS)
        elif isinstance(item, list):
            stack.extend(((trail, index), child) for index, child in enumerate(item))
        elif isinstance(item, str):
            for start, end, what in recogniser.entities(item):
                if 0 <= start < end <= len(item):
                    n = number(RULE, item[start:end])
                    yield ScanFinding(RULE, _class(what), "review", pointer.shown(trail), (start, end), n)


def _class(what: str) -> str:
    return f"{what}_name" if what.isascii() and what.isidentifier() and what.islower() else RULE
