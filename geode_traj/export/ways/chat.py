"""What the formats of plain chat messages share: which events they hold, and why not the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.framed import Document
from geode_traj.export.ways import said
from geode_traj.export.ways.ledger import Ledger
from geode_traj.export.ways.steps import Event, Step, steps

REASONS: Final = {
    "occurred_at": "messages have no time",
    "turn_id": "the format knows no turns",
    "opens_turn": "the format knows no turns",
    "steering": "the format knows no turns",
    "status": "the format has no place for a status",
    "is_error": "the format cannot say that a call failed",
    "response_id": "messages have no id of their response",
    "reasoning.status": "the format cannot say that reasoning was withheld or only previewed",
    "_legacy": "what the source's record held beside this has no place",
    "_redactions": "the placeholders stay in the text; the list of them has no place",
    "_derived": "the format cannot say how a time was read",
    "provider": "messages do not name a provider",
    "tool": "a result does not name its tool: its call does",
}
ABANDONED: Final = "it stands on a branch that was abandoned"
COPIED: Final = "it repeats context, and the format cannot mark that"
CUT: Final = "its body was cut before it was stored"
NO_MESSAGE: Final = "it is no message of the conversation"
KINDS: Final = {
    "usage.recorded": "messages have no usage",
    "session.started": "the format has no start of a session",
    "session.ended": "the format has no end of a session",
    "turn.completed": "the format knows no turns",
    "error.recorded": "the format has no errors",
    "subagent.started": "a sub-agent's conversation is a session of its own",
    "subagent.stopped": "a sub-agent's conversation is a session of its own",
}
HELD: Final = frozenset({"content", "reasoning.text", "operation", "branch", "active_leaf"})
"""Words of a message that any chat holds: what was said and thought, and that it is on the active branch."""
_OPERATIONS: Final = {
    "injected_context": "the format cannot tell the program's own text from a person's",
    "repeated_message": "it says again what another message says",
}


class Turns:
    """The steps of a session that a chat can hold; all other events go into the ledger as left out."""

    def __init__(self, document: Document, ledger: Ledger) -> None:
        self.document = document
        self.ledger = ledger

    def __iter__(self) -> Iterator[Step]:
        for step in steps(self.document):
            reason = _refused(step)
            if reason is None:
                yield step
                continue
            for event in step.events:
                self.left_out(event, reason)

    def left_out(self, event: Event, reason: str) -> None:
        """Enter an event that is not held."""
        self.ledger.left_out(event, reason)


def _refused(step: Step) -> str | None:
    payload = step.first["payload"]
    if step.source in ("other", "usage"):
        return why_not(step.first)
    if step.source == "result":
        return "its call had to be written long before" if step.late else "its call is not there"
    if payload.get("branch") == "abandoned":
        return ABANDONED
    if payload.get("copied_context"):
        return COPIED
    if not step.calls and all(map(is_cut, step.messages)):
        return CUT
    return None


def why_not(event: Event) -> str:
    """Return why an event that is no message has no place in a chat."""
    operation = said.text(event["payload"], "operation")
    return KINDS.get(event["kind"]) or _OPERATIONS.get(operation) or NO_MESSAGE


def is_cut(event: Event) -> bool:
    """Tell whether nothing is left of a payload but the marker that it was too large."""
    payload: dict[str, Any] = event["payload"]
    return payload.get("_truncated") is True and "content" not in payload
