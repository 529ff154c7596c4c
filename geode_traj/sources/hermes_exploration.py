"""Hermes's exploration trees: what a run decided at each step, beside the trajectory of what it said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.jsonl import Line
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Item
from geode_traj.sources.base import Input, Probe
from geode_traj.sources.fields import without
from geode_traj.sources.lines import JsonLines
from geode_traj.sources.record import Record

_TREE: Final = frozenset({"tree_id", "policy_version", "events"})
_OPENING: Final = re.compile(
    rb'\s{0,16}\{\s{0,16}"schema_version"\s{0,16}:\s{0,16}\d{1,9}\s{0,16},\s{0,16}"tree_id"\s{0,16}:'
)


class HermesExploration(JsonLines):
    """Reads `exploration_trees.jsonl` and its kin: a row is a run, called after its digest and its line."""

    name = "hermes-exploration"
    reads = "Hermes exploration trees, JSONL of a run's decisions"
    gives_not = ("session ids", "times", "what was said (only digests of it)", "an explicit end")

    def detect(self, probe: Probe) -> bool:
        """Match first objects of which most are trees of decisions."""
        return probe.mostly(lambda row: row.keys() >= _TREE, limit=8, else_begins=_OPENING)

    def time_of(self, row: dict[str, Any]) -> float | None:
        """Return nothing: trees tell no time."""
        return None

    def reader(self, given: Input) -> _Reader:
        """Return a reader of one file's rows."""
        return _Reader(given)


class _Reader:
    def __init__(self, given: Input) -> None:
        self._given = given

    def rows(self, line: Line, sha256: str, read: Tolerated) -> Iterator[Item]:
        """Yield a tree without its decisions, then each of them (importer decision J2)."""
        session = f"exploration-{sha256[:16]}-{line.number}"
        row: dict[str, Any] = read.value
        record = Record(
            self._given, session, line.number, "", row, "exploration_tree", met=read, sha256=sha256
        )
        decisions = row.get("events")
        if not isinstance(decisions, list):
            yield record.whole("")
            return
        tree = {"operation": "exploration_tree", "record": without(row, "events")}
        yield record.event("legacy.imported", tree)
        for decision in decisions:
            told = {"operation": "exploration_decision", "record": decision}
            yield record.event("legacy.imported", told)

    def end(self) -> tuple[Item, ...]:
        """Return nothing: a file that ends says nothing."""
        return ()


SOURCE = HermesExploration()
