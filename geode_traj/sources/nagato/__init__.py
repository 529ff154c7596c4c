"""Nagato's traces of Hermes runs: SQLite with blobs as files beside it, one unit a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from geode_traj.codec import sqlite_in
from geode_traj.errors import DataError
from geode_traj.model.event import Item
from geode_traj.sources.base import Input, Probe, Source, Unit
from geode_traj.sources.nagato.reader import HISTORY, Reader, history
from geode_traj.sources.nagato.trace import Traces, moment
from geode_traj.sources.tables import digest

_OURS: Final = frozenset({"storage_schema", "session_events"})


class Nagato(Source):
    """Reads runs with their events; a game's channel is the nearest thing to a session, a run is a turn."""

    name = "nagato"
    mutable = True
    continues = True
    reads = "Nagato trace databases with their blobs, one unit a run"
    gives_not = (
        "an explicit end of a session",
        "arguments and results that Hermes left out",
        "usage, unless the run's end reports it",
        "the unit of a numeric time",
    )

    def detect(self, probe: Probe) -> bool:
        """Match tables of runs and of their events."""
        found = probe.tables()
        return (
            "run_id" in found.get("run_traces", ())
            and {"run_id", "seq", "event_type"} <= found.get("trace_events", frozenset())
            and _OURS.isdisjoint(found)
        )

    def units(self, given: Input) -> Iterator[Unit]:
        """Yield one unit a run, and one of the conversation's turns that belong to none."""
        with sqlite_in.shared(given.path) as connection:
            traces = Traces(connection, given.path)
            for key in traces.runs():
                state = list(traces.state(key))
                records = [row for row, _ in state if row is not None]
                told = (row.values.get("created_at", row.values.get("ts")) for row in records)
                first = next((time for time, _ in map(moment, told) if time is not None), None)
                yield Unit(key, digest([part for _, part in state]), len(records), first)
            unlinked = [row.sha256 for row in traces.unlinked()]
            if unlinked:
                yield Unit(HISTORY, digest(unlinked), len(unlinked), None)

    def items(self, given: Input) -> Iterator[Item]:
        """Yield one run's records."""
        with sqlite_in.shared(given.path) as connection:
            traces = Traces(connection, given.path)
            if given.unit == HISTORY:
                found = digest([row.sha256 for row in traces.unlinked()])
                yield from history(traces, given)
            else:
                found = digest([part for _, part in traces.state(given.unit)])
                yield from Reader(traces, given).items()
            if found != given.sha256:
                raise DataError("TE207", place=given.name)


SOURCE = Nagato()
