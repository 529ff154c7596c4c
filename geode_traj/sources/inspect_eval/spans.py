"""The spans of a sample: which of them are sub-agents, and which are a scorer's work."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from geode_traj.sources.fields import word

_SCORING = frozenset({"scorer", "scorers"})


@dataclass(frozen=True, slots=True)
class Frame:
    """What holds inside a span: the session, whether a tool or an agent called, whether a scorer works."""

    session_id: str
    inside: bool = False
    aside: bool = False
    child: str = ""
    """The session of the sub-agent that this span itself is."""
    parent: str = ""


class SpanTree:
    """Follows spans as they begin. An agent that a tool or another agent called is a sub-agent.

    The agent that a solver runs is the sample's own. Steps, as older logs have them, nest by their order.
    """

    def __init__(self, session_id: str) -> None:
        self._root = Frame(session_id)
        self._frames: dict[str, Frame] = {}
        self._steps: list[Frame] = []
        self._spawned: dict[str, str] = {}

    def spawns(self, event: dict[str, Any]) -> None:
        """Remember the span of an agent that a tool's call started."""
        span = word(event, "agent_span_id")
        if span:
            self._spawned[span] = word(event, "id")

    def frame(self, event: dict[str, Any]) -> Frame:
        """Return what holds where an event stands."""
        found = self._frames.get(word(event, "span_id"))
        if found is not None:
            return found
        return self._steps[-1] if self._steps else self._root

    def begin(self, event: dict[str, Any]) -> tuple[Frame, str]:
        """Open a span; return its frame and the id of the call that started it, as far as it is known."""
        own, kind = word(event, "id"), word(event, "type")
        above = self._frames.get(word(event, "parent_id"), self._root)
        frame = replace(
            above,
            inside=above.inside or kind in ("tool", "agent"),
            aside=above.aside or kind in _SCORING,
            child="",
        )
        if kind == "agent" and (above.inside or own in self._spawned):
            child = f"{above.session_id}/{own}"
            frame = replace(frame, session_id=child, child=child, parent=above.session_id)
        if own:
            self._frames[own] = frame
        return frame, self._spawned.get(own, "")

    def ended(self, event: dict[str, Any]) -> Frame | None:
        """Return the frame of a span that ends."""
        return self._frames.get(word(event, "id"))

    def step(self, event: dict[str, Any]) -> None:
        """Follow a step of an older log."""
        if event.get("action") == "begin":
            above = self._steps[-1] if self._steps else self._root
            self._steps.append(replace(above, aside=above.aside or word(event, "type") in _SCORING))
        elif self._steps:
            self._steps.pop()
