"""Codex rollouts: `rollout-<time>-<thread id>.jsonl`, one JSON object a line."""

from __future__ import annotations

import re
from typing import Any, Final

from geode_traj.sources import values
from geode_traj.sources.base import Input, Probe
from geode_traj.sources.codex.reader import Reader
from geode_traj.sources.codex.rollback import abandoned
from geode_traj.sources.lines import JsonLines

_TYPES: Final = frozenset("session_meta turn_context response_item event_msg compacted world_state".split())
# A first line may be longer than what is looked at: its beginning tells, too.
_BEGIN: Final = re.compile(
    rb'\s*\{(?:"(?:timestamp|ordinal)"\s*:\s*(?:"[^"]{0,40}"|\d+)\s*,\s*)*'
    rb'"type"\s*:\s*"(?:' + "|".join(sorted(_TYPES)).encode() + rb')"\s*,\s*"payload"\s*:\s*\{'
)


class Codex(JsonLines):
    """One rollout file: the session of one thread, with what it copied from the thread it was forked of."""

    name = "codex"
    reads = "Codex rollout JSONL"
    revises = True  # a rollback says of earlier turns that they were abandoned
    gives_not = (
        "an explicit end of the session",
        "ids of lines (byte offsets stand for them)",
        "reasoning in full (summaries, or encrypted)",
        "results of hosted tools",
        "cost",
        "where a fork's copied history ends, in older files, unless its parent was imported before it",
    )

    def detect(self, probe: Probe) -> bool:
        """Match when most of the first objects are lines of a rollout, or the first line begins as one."""
        return probe.mostly(
            lambda row: row.get("type") in _KNOWN and isinstance(row.get("payload"), dict),
            else_begins=_BEGIN,
        )

    def time_of(self, row: dict[str, Any]) -> float | None:
        """Return a line's time."""
        return values.iso_time(row.get("timestamp"))[0]

    def reader(self, given: Input) -> Reader:
        """Return a reader of one file's lines, which knows what a rollback in it abandoned."""
        return Reader(given, abandoned(given))


_KNOWN: Final = tuple(sorted(_TYPES))  # asked with whatever stands there, hashable or not
SOURCE = Codex()
