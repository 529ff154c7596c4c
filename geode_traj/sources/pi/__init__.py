"""Session files of Pi (v1 to v3) and of its kin, OMP and OpenClaw: one JSON object a line, a tree by ids."""

from __future__ import annotations

from typing import Any

from geode_traj.sources.base import Input, Probe
from geode_traj.sources.lines import JsonLines
from geode_traj.sources.pi.known import look
from geode_traj.sources.pi.reader import Reader
from geode_traj.sources.pi.tree import survey
from geode_traj.sources.values import iso_time


class Pi(JsonLines):
    """One session file, with all its branches."""

    name = "pi"
    reads = "Pi (v1-v3), OMP and OpenClaw session JSONL"
    revises = True  # the last entry tells which branch went on
    gives_not = (
        "an explicit end",
        "turn ids",
        "entry ids in v1",
        "how a lineage came about (a fork, or a new session named after another)",
        "which call started a sub-agent",
    )

    def detect(self, probe: Probe) -> bool:
        """Match a head of a session, unless only bare messages of another harness follow; or most entries."""
        head, seen, entries, _ = look(probe.objects())
        if head is None:
            return entries * 2 > seen
        return "harness" not in head or entries > 0

    def time_of(self, row: dict[str, Any]) -> float | None:
        """Return a row's timestamp where it can be read."""
        return iso_time(row.get("timestamp"))[0]

    def reader(self, given: Input) -> Reader:
        """Return a reader of one file's entries, which has looked at the whole tree once."""
        with given.open() as stream:
            return Reader(given, survey(stream, given.size))


SOURCE = Pi()
