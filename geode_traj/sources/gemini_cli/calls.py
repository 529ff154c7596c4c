"""Calls of one session that wait for their results."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from geode_traj.model.event import Loss


class Calls:
    """Pairs calls and results by id and occurrence, and tells what was left open."""

    def __init__(self) -> None:
        self._open: dict[str, deque[tuple[str, int]]] = {}
        self._met: set[str] = set()
        self._prompt = 0

    def prompted(self, number: int) -> None:
        """Note that a person went on with this record."""
        self._prompt = number

    def called(self, call_id: str, tool: str, number: int) -> None:
        """Take a call."""
        self._open.setdefault(call_id, deque()).append((tool, number))

    def answered(self, call_id: str) -> str | None:
        """Return the tool of the first open call of this id, None where none is open."""
        waiting = self._open.get(call_id)
        if not waiting:
            return None
        tool, _ = waiting.popleft()
        if not waiting:
            del self._open[call_id]
        self._met.add(call_id)
        return tool

    def was_answered(self, call_id: str) -> bool:
        """Tell whether a call of this id has its result already."""
        return call_id in self._met

    def losses(self) -> Iterator[Loss]:
        """Yield a loss for each call left open: at the end, or before a person went on."""
        for waiting in self._open.values():
            for _, number in waiting:
                yield Loss("call_interrupted" if self._prompt > number else "call_open_at_end")
