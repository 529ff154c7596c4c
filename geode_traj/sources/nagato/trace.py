"""What Nagato's database holds, run by run; names are given, everything else is looked for."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from geode_traj.codec import sqlite_in
from geode_traj.contract import times
from geode_traj.sources import values
from geode_traj.sources.nagato import blobs
from geode_traj.sources.tables import TableRow, rows

_NUMBER: Final = re.compile(r"[+-]?\d{1,20}(?:\.\d{1,12})?", re.ASCII)
_UNITS: Final = ((1e11, 1.0, "s"), (1e14, 1e-3, "ms"), (1e17, 1e-6, "us"), (float("inf"), 1e-9, "ns"))
OWN: Final = frozenset({"run_traces", "trace_events", "trace_blobs", "derived_explanations"})


def moment(value: Any) -> tuple[float | None, str]:
    """Return a time in Unix seconds and how it was read; a number's unit is told by its magnitude."""
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            return values.iso_time(value)
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None, ""
    scale, unit = next((scale, unit) for limit, scale, unit in _UNITS if abs(value) < limit or unit == "ns")
    seconds = value * scale
    return (float(seconds), f"{unit}_by_magnitude") if times.is_calendar(seconds) else (None, "")


class Traces:
    """One database and the folder that its blobs are in."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._db = connection
        self._folder = path.absolute().parent
        self._tables = sqlite_in.tables(connection)
        self._histories = [
            name
            for name, columns in sorted(self._tables.items())
            if name not in OWN and {"role", "content"} <= columns and {"turn_id", "run_id"} & columns
        ]

    def runs(self) -> list[str]:
        """Return the ids of all runs, those included of which only events are left."""
        query = "SELECT run_id FROM run_traces UNION SELECT run_id FROM trace_events"
        return sorted({"" if key is None else str(key) for (key,) in self._db.execute(query)})

    def run(self, key: str) -> TableRow | None:
        """Return the run's own row, if there is one."""
        query = "SELECT * FROM run_traces WHERE coalesce(run_id, '') = ?"
        return next(rows(self._db, "run_traces", query, (key,)), None)

    def history(self, key: str, run: TableRow | None) -> Iterator[TableRow]:
        """Yield the turns of the conversation that belong to a run, by its id or its turn's."""
        turn = run.values.get("message_turn_id") if run else None
        for name in self._histories:
            columns = self._tables[name]
            where = [column for column in ("run_id", "turn_id") if column in columns]
            given = [key if column == "run_id" else turn for column in where]
            test = " OR ".join(f'"{column}" = ?' for column in where)
            quoted = name.replace('"', '""')
            query = f'SELECT * FROM "{quoted}" WHERE {test} ORDER BY rowid'  # noqa: S608 - quoted
            yield from rows(self._db, name, query, given)

    def unlinked(self) -> Iterator[TableRow]:
        """Yield the turns that belong to no run that is there."""
        for name in self._histories:
            columns = self._tables[name]
            tests = []
            if "run_id" in columns:
                tests.append(
                    "coalesce(run_id NOT IN (SELECT run_id FROM run_traces WHERE run_id NOT NULL), 1)"
                )
            if "turn_id" in columns and "message_turn_id" in self._tables["run_traces"]:
                known = "SELECT message_turn_id FROM run_traces WHERE message_turn_id NOT NULL"
                tests.append(f"coalesce(turn_id NOT IN ({known}), 1)")
            quoted = name.replace('"', '""')
            query = f'SELECT * FROM "{quoted}" WHERE {" AND ".join(tests) or 1} ORDER BY rowid'  # noqa: S608
            yield from rows(self._db, name, query)

    def events(self, key: str) -> Iterator[TableRow]:
        """Yield a run's events in their order."""
        query = "SELECT * FROM trace_events WHERE coalesce(run_id, '') = ? ORDER BY seq, id"
        return rows(self._db, "trace_events", query, (key,))

    def blob(self, reference: Any) -> TableRow | None:
        """Return the row of a blob, None where nothing is referenced or the row is gone."""
        if reference is None or "trace_blobs" not in self._tables:
            return None
        query = "SELECT * FROM trace_blobs WHERE id = ?"
        return next(rows(self._db, "trace_blobs", query, (reference,)), None)

    def explanations(self, event_id: Any) -> Iterator[TableRow]:
        """Yield what was derived of an event afterwards."""
        if "event_id" in self._tables.get("derived_explanations", ()):
            query = "SELECT * FROM derived_explanations WHERE event_id = ? ORDER BY id"
            yield from rows(self._db, "derived_explanations", query, (event_id,))

    def body(self, blob: TableRow) -> blobs.Body:
        """Return a blob's body."""
        return blobs.read(self._folder, blob.values)

    def state(self, key: str) -> Iterator[tuple[TableRow | None, str]]:
        """Yield (record, part of the identity) of a run; what is no record of its own comes without one.

        Whether a blob's file is there is part of the identity: one that is found later is worth a new look.
        """
        run = self.run(key)
        if run is not None:
            yield run, run.sha256
        for row in self.history(key, run):
            yield row, row.sha256
        for row in self.events(key):
            yield row, row.sha256
            blob = self.blob(row.values.get("payload_ref"))
            if blob is not None:
                file = blobs.located(self._folder, blob.values.get("storage_path"))
                yield None, f"{blob.sha256}:{file.stat().st_size if file else 'missing'}"
            for told in self.explanations(row.values.get("id")):
                yield None, told.sha256
