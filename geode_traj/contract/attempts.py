"""Attempts of model calls, their starts and ends joined (record contract §13)."""

from __future__ import annotations

import hashlib
from typing import Any


class Attempts:
    """Starts and ends of attempts, joined by session and attempt id; `open` are (place) starts without end.

    A digest stands for each pair of ids, so that an attempt costs little however long its ids are.
    """

    def __init__(self) -> None:
        self.started = self.finished = self.unstarted = self.repeated = 0
        self.open: dict[bytes, Any] = {}
        self._finished: set[bytes] = set()

    def feed(self, session_id: str, attempt_id: str, event: str, place: Any) -> str:
        """Take the next record; return `repeated` or `unstarted` for one that cannot be joined, else ""."""
        name = f"{len(session_id)}:{session_id}{attempt_id}".encode("utf-8", "surrogatepass")
        key = hashlib.blake2b(name, digest_size=16).digest()
        if key in self._finished or (event == "started" and key in self.open):
            self.repeated += 1
            return "repeated"
        if event == "started":
            self.started += 1
            self.open[key] = place
            return ""
        self.finished += 1
        self._finished.add(key)
        if self.open.pop(key, None) is None:
            self.unstarted += 1
            return "unstarted"
        return ""

    def to_json(self) -> dict[str, int]:
        """Return how many started and finished, and what could not be joined."""
        return {
            "started": self.started,
            "finished": self.finished,
            "unfinished": len(self.open),
            "unstarted": self.unstarted,
            "repeated": self.repeated,
        }
