"""Which tool a result is of, where only its call says so."""

from __future__ import annotations

from collections import deque


class OpenCalls:
    """The tools of calls that wait for their results, which name none: by id, in order of occurrence."""

    def __init__(self) -> None:
        self._tools: dict[str, deque[str]] = {}

    def open(self, call_id: str, tool: str) -> None:
        """Remember a call."""
        if call_id:
            self._tools.setdefault(call_id, deque()).append(tool)

    def close(self, call_id: str) -> str:
        """Return the tool of the first open call of this id, "" where there is none."""
        waiting = self._tools.get(call_id)
        if not waiting:
            return ""
        tool = waiting.popleft()
        if not waiting:
            del self._tools[call_id]
        return tool
