"""OpenCode's store `opencode.db`: SQLite, written all the time, one unit a session."""

from __future__ import annotations

from collections.abc import Iterator

from geode_traj.codec import sqlite_in
from geode_traj.errors import DataError
from geode_traj.model.event import Item
from geode_traj.sources.base import Input, Probe, Source, Unit
from geode_traj.sources.opencode.database import Database
from geode_traj.sources.opencode.reader import Reader, first_time
from geode_traj.sources.opencode.record import FAMILY, GIVES_NOT
from geode_traj.sources.tables import digest


class OpenCodeDatabase(Source):
    """Reads the sessions of a store with their messages, parts, plans and sub-agents."""

    name = "opencode"
    family = FAMILY
    mutable = True
    reads = "OpenCode opencode.db, one unit a session"
    gives_not = GIVES_NOT

    def detect(self, probe: Probe) -> bool:
        """Match tables of sessions, their messages, and the parts of those."""
        found = probe.tables()
        return (
            "id" in found.get("session", ())
            and {"id", "session_id", "data"} <= found.get("message", frozenset())
            and {"message_id", "data"} <= found.get("part", frozenset())
        )

    def units(self, given: Input) -> Iterator[Unit]:
        """Yield one unit a session: its identity is that of its rows in their canonical form."""
        with sqlite_in.shared(given.path) as connection:
            store = Database(connection)
            for key in store.sessions():
                identities, first = [], None
                for record in store.records(key):
                    identities.append(record.identity)
                    if first is None and record.kind in ("session", "message"):
                        first = first_time(record.info)
                # The store is what older folders and exports were copied into, or are copied from.
                if identities:
                    yield Unit(key, digest(identities), len(identities), first, rank=2)

    def items(self, given: Input) -> Iterator[Item]:
        """Yield one session's records."""
        with sqlite_in.shared(given.path) as connection:
            reader = Reader(given, given.unit or given.default_session)
            yield from reader.items(Database(connection).records(given.unit))
            if digest(reader.identities) != given.sha256:
                raise DataError("TE207", place=given.name)


SOURCE = OpenCodeDatabase()
