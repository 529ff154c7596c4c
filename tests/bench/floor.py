"""The least an import can cost: SHA-256 of the bytes, JSON parsed, the same rows put into the same tables.

No check, no redaction, no id, no accounting: only what no importer of these files into this store can go
without, each done by the fastest tool there is. The rows come ready from a store that the import made, a
batch at a time and off the clock.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import orjson

from geode_traj.codec.files import CHUNK
from geode_traj.migrate.assemble import BATCH_ROWS
from geode_traj.model.event import Row
from geode_traj.store import events, opening
from tests.bench.clock import Clock


def floor(source: Path, made: Path, store: Path, clock: Clock) -> int:
    """Put the rows of the store `made`, which `source` gave, into a new `store`; return how many."""
    put = 0
    rows = _rows(made)
    with clock:
        digest = hashlib.sha256()
        with source.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
        writer = opening.open_writer(store)
        connection = writer.__enter__()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("SAVEPOINT source")
    with source.open("rb") as stream:
        for batch in rows:
            with clock:
                for line in islice(stream, len(batch)):
                    orjson.loads(line)
                put += events.insert(connection, batch)
        if stream.readline():
            raise RuntimeError("the source has more lines than the store has rows")
    with clock:
        connection.execute("RELEASE source")
        connection.execute("COMMIT")
        writer.__exit__(None, None, None)
    return put


def _rows(store: Path) -> Iterator[list[tuple[object, ...]]]:
    query = f"SELECT {', '.join(Row._fields[1:])} FROM session_events ORDER BY id"
    connection = sqlite3.connect(store)
    try:
        cursor = connection.execute(query)
        while batch := cursor.fetchmany(BATCH_ROWS):
            yield batch
    finally:
        connection.close()
