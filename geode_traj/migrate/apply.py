"""Running a plan: one commit a group of sources, one savepoint a source, its receipt inside it.

A crash leaves whole groups or nothing of them; a source that fails is undone alone and the others go on.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final

from geode_traj.codec.files import CHUNK, reading
from geode_traj.errors import DataError, TrajError
from geode_traj.migrate.assemble import GENERATION, PAYLOAD, SESSION, Assembler, Batch
from geode_traj.migrate.plan import Plan, Planned, against
from geode_traj.migrate.scrub import Scrubber
from geode_traj.model.receipt import MigrateReceipt
from geode_traj.scan.numbering import Numbering
from geode_traj.store import blobs, events, imports, opening, secrets

GROUP_SOURCES: Final = 500
GROUP_BYTES: Final = 64 << 20
BATCH_ROWS: Final = 2000
BATCH_BYTES: Final = 8 << 20


def apply(plan: Plan, store: Path, *, sensitive_fields: tuple[str, ...] = ()) -> Iterator[MigrateReceipt]:
    """Run a plan against the store at `store` and yield one receipt a source, after it is committed.

    Nothing is written, and no database made, when the plan imports nothing. Raises `WorldError` TE501 when
    the store stays busy.
    """
    todo = [planned for planned in plan.sources if planned.action == "import"]
    if todo:
        with opening.open_writer(store) as connection:
            for group in _groups(todo):
                with opening.transaction(connection):
                    receipts = _group(connection, group, sensitive_fields)
                yield from receipts
    yield from (planned.receipt() for planned in plan.sources if planned.action != "import")


def _group(
    connection: sqlite3.Connection, group: list[Planned], sensitive_fields: tuple[str, ...]
) -> list[MigrateReceipt]:
    # The numbers are read inside the transaction: another writer may have given some since the last group.
    given = secrets.numbers(connection)
    numbering = Numbering(secrets.key(connection), given)
    scrubber = Scrubber(numbering, sensitive_fields)
    receipts = [_one(connection, planned, scrubber) for planned in group]
    secrets.write_numbers(connection, list(numbering.rows())[len(given) :])
    return receipts


def _groups(todo: list[Planned]) -> Iterator[list[Planned]]:
    group: list[Planned] = []
    size = 0
    for planned in todo:
        if group and (len(group) >= GROUP_SOURCES or size + planned.given.size > GROUP_BYTES):
            yield group
            group, size = [], 0
        group.append(planned)
        size += planned.given.size
    yield group


def _one(connection: sqlite3.Connection, planned: Planned, scrubber: Scrubber) -> MigrateReceipt:
    try:
        with opening.savepoint(connection):
            return _Import(connection, planned, scrubber).run()
    except TrajError as error:
        failed = planned.receipt()
        failed.status, failed.reason, failed.code = "failed", str(error), error.code
        return failed


@dataclass(slots=True)
class _Numbers:
    """How a session's generations in the source map to the store's: `highest` is the store's before."""

    highest: int
    offset: int | None = None


class _Import:
    """The import of one source inside its savepoint."""

    def __init__(self, connection: sqlite3.Connection, planned: Planned, scrubber: Scrubber) -> None:
        if planned.source is None:
            raise RuntimeError("a source without a format is never read")
        self._db = connection
        # A path is content too: what the store keeps of it is redacted like any text.
        self._given = replace(planned.given, name=scrubber.text(planned.given.name, Counter()))
        self._filed = scrubber.text(planned.given.receipt_session, Counter())
        self._planned = replace(planned, given=self._given)
        self._source = planned.source
        self._assembler = Assembler(self._planned, scrubber)
        self._assembler.receipt.source = planned.given.name
        self._sessions: dict[str, _Numbers] = {}
        self._grown = imports.path_known(connection, self._given.name)
        self._given = replace(self._given, grown=self._grown)

    def run(self) -> MigrateReceipt:
        earlier = imports.receipt(self._db, self._given.sha256)
        if earlier is not None:  # another process imported these bytes since the plan was made
            return against(self._planned, earlier).receipt()
        assembler = self._assembler
        with reading(self._given.path) as stream:
            for item in self._source.read(self._given, stream):
                assembler.take(item)
                if len(assembler.batch.rows) >= BATCH_ROWS or assembler.batch.size >= BATCH_BYTES:
                    self._write(assembler.flush())
            self._write(assembler.flush())
            assembler.end()
            self._check_unchanged(stream)
            if self._grown:
                self._forget_healed(stream)
        self._write_receipt()
        return assembler.receipt

    def _write(self, batch: Batch) -> None:
        for session_id in {row[SESSION] for row in batch.rows} - self._sessions.keys():
            self._sessions[session_id] = _Numbers(events.max_generation(self._db, session_id))
        stored = self._stored(batch)
        fresh = []
        for row in batch.rows:
            if row[0] not in stored:
                fresh.append(row)
                continue
            numbers = self._sessions[row[SESSION]]
            if numbers.offset is None:
                numbers.offset = stored[row[0]] - row[GENERATION]
        for numbers in self._sessions.values():
            if numbers.offset is None:
                numbers.offset = 0 if self._source.keeps_ids else numbers.highest
        if any(numbers.offset for numbers in self._sessions.values()):
            for row in fresh:
                row[GENERATION] = max(1, row[GENERATION] + (self._sessions[row[SESSION]].offset or 0))
        new = events.insert(self._db, fresh)
        self._assembler.receipt.new += new
        self._assembler.receipt.known += len(batch.rows) - new
        for row in fresh if batch.bodies else ():
            if row[0] in batch.bodies:
                blobs.write(self._db, row[0], row[SESSION], batch.bodies[row[0]])

    def _stored(self, batch: Batch) -> dict[str, int]:
        """Return {event_id: stored generation} of the batch's records that the store holds already.

        Where neither the path nor any of the sessions was met before, nothing can be stored.
        """
        if not self._grown and not any(numbers.highest for numbers in self._sessions.values()):
            return {}
        aliases = [alias for row in batch.rows for alias in batch.aliases.get(row[0], ())]
        known = events.known(self._db, [*(row[0] for row in batch.rows), *aliases])
        stored: dict[str, int] = {}
        for row in batch.rows:
            if row[0] in known:
                session, generation, payload_json = known[row[0]]
                if self._source.keeps_ids and (session, payload_json) != (row[SESSION], row[PAYLOAD]):
                    raise DataError("TE401", what=f"event {row[0][:64]}", why="stored with other content")
                stored[row[0]] = generation
            for alias in batch.aliases.get(row[0], ()):
                if alias in known and self._same_path(known[alias][2]):
                    stored[row[0]] = known[alias][1]
        return stored

    def _same_path(self, payload_json: str) -> bool:
        """Tell whether a stored event came from this path: GEODE may have imported the file first."""
        try:
            payload = json.loads(payload_json)
        except ValueError:
            return False
        legacy = payload.get("_legacy") if isinstance(payload, dict) else None
        return isinstance(legacy, dict) and legacy.get("source_path") == self._given.name

    def _check_unchanged(self, stream: BinaryIO) -> None:
        """Refuse a source whose planned bytes changed since the plan; one that only grew is fine."""
        stat = os.fstat(stream.fileno())
        if (stat.st_ino, stat.st_mtime_ns) == self._planned.stat:
            return
        if _digest(stream, 0, self._given.size) != self._given.sha256:
            raise DataError("TE207", place=self._given.name)

    def _forget_healed(self, stream: BinaryIO) -> None:
        """Drop damage of an earlier state of this file that has grown into a whole record, or further."""
        damaged = {(line.line, line.sha256) for line in self._assembler.damaged}
        gone = [
            (row_id, line)
            for row_id, line in imports.damaged_of(self._db, self._given.name)
            if (line.line, line.sha256) not in damaged
        ]
        healed = [row_id for row_id, torn in gone if _digest(stream, torn.offset, torn.length) == torn.sha256]
        imports.forget_damaged(self._db, healed)

    def _write_receipt(self) -> None:
        assembler, receipt = self._assembler, self._assembler.receipt
        if not receipt.balanced:
            raise RuntimeError(f"the receipt of {self._source.name} does not balance")
        if receipt.known:
            receipt.status = "extended"
        given = self._given
        imports.write_receipt(self._db, imports.Receipt(given.sha256, given.name, self._filed, receipt.new))
        imports.write_damaged(self._db, assembler.damaged)
        # A file of which nothing was new only repeats what the store knows: it declares nothing once more.
        sessions = {
            session_id: (count.events, assembler.declared.get(session_id, {}) if receipt.new else {})
            for session_id, count in receipt.sessions.items()
        }
        imports.write_sessions(self._db, given.sha256, self._source.name, sessions)


def _digest(stream: BinaryIO, offset: int, length: int) -> str:
    digest = hashlib.sha256()
    stream.seek(offset)
    while length and (chunk := stream.read(min(CHUNK, length))):
        digest.update(chunk)
        length -= len(chunk)
    return digest.hexdigest()
