"""Hermes's canonical store `state.db`: SQLite, written all the time, one unit a session."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from geode_traj.codec import sqlite_in
from geode_traj.errors import DataError
from geode_traj.model.event import Item
from geode_traj.sources.base import Input, Probe, Source, Unit
from geode_traj.sources.hermes.reader import Reader
from geode_traj.sources.hermes.store import Database
from geode_traj.sources.tables import digest

_OURS: Final = frozenset({"storage_schema", "session_events", "session_event_imports", "traj_units"})


class HermesState(Source):
    """Reads the sessions of a `state.db` with their messages, usage, delegations and lineage."""

    name = "hermes-state"
    mutable = True
    family = "hermes"
    reads = "Hermes state.db, one unit a session"
    gives_not = (
        "turn ids",
        "usage of a single response",
        "whether a counter of 0 was reported or is the default",
        "images that became text placeholders",
        "rows that a rewind deleted",
    )

    def detect(self, probe: Probe) -> bool:
        """Match tables of sessions and messages with a schema version; GEODE's stores have other marks."""
        found = probe.tables()
        if not _OURS.isdisjoint(found) or "schema_version" not in found:
            return False
        messages = found.get("messages", frozenset())
        return "id" in found.get("sessions", ()) and {"session_id", "role", "content"} <= messages

    def units(self, given: Input) -> Iterator[Unit]:
        """Yield one unit a session: its identity is that of its rows in their canonical form."""
        with sqlite_in.shared(given.path) as connection:
            store = _database(connection)
            for key in store.sessions():
                state = store.state(key)
                yield Unit(key, digest(state.digests), state.total, state.first_time, store.depth(key))

    def items(self, given: Input) -> Iterator[Item]:
        """Yield one session's records."""
        with sqlite_in.shared(given.path) as connection:
            reader = Reader(_database(connection), given)
            yield from reader.items()
            if digest(reader.digests) != given.sha256:
                raise DataError("TE207", place=given.name)


@lru_cache(maxsize=1)
def _database(connection: sqlite3.Connection) -> Database:
    """Return the tables of a snapshot, looked at once for all its units."""
    return Database(connection)


SOURCE = HermesState()
