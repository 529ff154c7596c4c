"""Calls that wait for their results, paired by id and occurrence, or by tool where there is no id."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from geode_traj.model.event import Loss


class Calls:
    """The open calls of one session, in order of occurrence."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], deque[tuple[str, int]]] = {}
        self._moved = 0

    def moved_on(self, place: int) -> None:
        """Note that the conversation went on with a prompt or a response at `place` (a growing number)."""
        self._moved = place

    def called(self, call_id: str, tool: str, place: int = 0) -> None:
        """Take a call; `place` is for those who ask what was left open."""
        self._open.setdefault(_key(call_id, tool), deque()).append((tool, place))

    def waits(self, call_id: str) -> bool:
        """Tell whether a call of this id waits for its result."""
        return (call_id, "") in self._open

    def answered(self, call_id: str, tool: str = "") -> str | None:
        """Return the tool of the first open call that a result answers, None for a result without one."""
        waiting = self._open.get(_key(call_id, tool))
        if not waiting:
            return None
        name, _ = waiting.popleft()
        if not waiting:
            del self._open[_key(call_id, tool)]
        return name

    def losses(self) -> Iterator[Loss]:
        """Yield a loss for each call left open: at the end, or before the conversation went on."""
        for waiting in self._open.values():
            for _, place in waiting:
                yield Loss("call_interrupted" if self._moved > place else "call_open_at_end")


def _key(call_id: str, tool: str) -> tuple[str, str]:
    return (call_id, "") if call_id else ("", tool)
