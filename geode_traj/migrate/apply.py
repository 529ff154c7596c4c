"""Running a plan: one commit a group of sources, one savepoint a source, its receipt inside it.

A crash leaves whole groups or nothing of them; a source that fails is undone alone and the others go on.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from geode_traj.codec.files import sha256_part
from geode_traj.errors import DataError, TrajError
from geode_traj.migrate.assemble import (
    GENERATION,
    HASH,
    PAYLOAD,
    SESSION,
    TIME,
    Assembler,
    Batch,
    Outcome,
)
from geode_traj.migrate.beside import Beside, worthwhile
from geode_traj.migrate.plan import OLDER, Plan, Planned, against
from geode_traj.migrate.scrub import Scrubber
from geode_traj.model.receipt import MigrateReceipt
from geode_traj.scan.numbering import Numbering
from geode_traj.store import blobs, events, imports, links, opening, revisions, secrets, units

GROUP_SOURCES: Final = 500
GROUP_BYTES: Final = 64 << 20
# What a payload says of a body that stood in a file beside the source, and is not there (any more).
_GONE: Final = '"companion":"missing"'
_DIGEST: Final = re.compile(r'"source_digest":"[0-9a-f]{64}"')


Observer = Callable[[int], None]
"""Told how many more records are assembled, as the import goes on."""


def apply(
    plan: Plan,
    store: Path,
    *,
    sensitive_fields: tuple[str, ...] = (),
    observer: Observer = lambda _: None,
    jobs: int = 1,
) -> Iterator[MigrateReceipt]:
    """Run a plan against the store at `store` and yield one receipt a source, after it is committed.

    `observer` follows the progress. With more than one of `jobs`, a long source is read in a process beside
    the one that writes; the result is the same. Nothing is written, and no database made, when the plan
    imports nothing. Raises `WorldError` TE501 when the store stays busy.
    """
    todo = [planned for planned in plan.sources if planned.action == "import"]
    rest = [planned for planned in plan.sources if planned.action != "import"]
    while todo:
        failed: set[str] = set()
        with opening.open_writer(store) as connection:
            for group in _groups(todo):
                with opening.transaction(connection):
                    receipts = _group(connection, group, sensitive_fields, observer, jobs)
                failed |= {receipt.sha256 or "" for receipt in receipts if receipt.status == "failed"}
                yield from receipts
        # What was left out as the same bytes as a source that then failed is a source of its own.
        twins = [one for one in rest if one.action == "unchanged" and one.given.sha256 in failed]
        rest = [one for one in rest if one not in twins]
        todo = [replace(one, action="import", reason=None) for one in twins]
    yield from (planned.receipt() for planned in rest)


def run(connection: sqlite3.Connection, todo: list[Planned]) -> list[MigrateReceipt]:
    """Run some sources of a plan against an open store, all in one commit, and return their receipts."""
    with opening.transaction(connection):
        return _group(connection, todo, (), lambda _: None, 1)


def _group(
    connection: sqlite3.Connection,
    group: list[Planned],
    sensitive_fields: tuple[str, ...],
    observer: Observer,
    jobs: int,
) -> list[MigrateReceipt]:
    # The numbers are read inside the transaction: another writer may have given some since the last group.
    given = secrets.numbers(connection)
    numbering = Numbering(secrets.key(connection), given)
    scrubber = Scrubber(numbering, sensitive_fields)
    receipts = []
    for planned in group:
        known = len(numbering)
        try:
            with opening.savepoint(connection):
                beside = numbering if jobs > 1 and worthwhile(planned) else None
                receipts.append(_Import(connection, planned, scrubber, observer, beside).run())
        except TrajError as error:
            numbering.forget_since(known)
            failed = planned.receipt()
            failed.status, failed.reason, failed.code = "failed", str(error), error.code
            receipts.append(failed)
    secrets.write_numbers(connection, numbering.since(len(given)))
    return receipts


def _groups(todo: list[Planned]) -> Iterator[list[Planned]]:
    group: list[Planned] = []
    size = 0
    for planned in todo:
        if group and (len(group) >= GROUP_SOURCES or size + planned.given.file_size > GROUP_BYTES):
            yield group
            group, size = [], 0
        group.append(planned)
        size += planned.given.file_size
    yield group


@dataclass(slots=True)
class _Numbers:
    """How a session's generations in the source map to the store's: `highest` is the store's before."""

    highest: int
    offset: int | None = None


class _Import:
    """The import of one source inside its savepoint."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        planned: Planned,
        scrubber: Scrubber,
        observer: Observer,
        beside: Numbering | None,
    ) -> None:
        self._db = connection
        self._observer = observer
        # A path is content too: what the store keeps of it is redacted like any text.
        self._named = planned.given.name
        self._given = replace(planned.given, name=scrubber.text(planned.given.name, Counter()))
        self._filed = scrubber.text(planned.given.receipt_session, Counter())
        self._unit = scrubber.text(planned.given.unit, Counter())
        self._planned = replace(planned, given=self._given)
        self._source = planned.reader
        assembler = Assembler(self._planned, scrubber)
        self._assembler = assembler if beside is None else Beside(assembler, beside)
        self._sessions: dict[str, _Numbers] = {}
        self._grown = imports.path_known(connection, self._given.name)
        self._given = replace(self._given, grown=self._grown)
        self._family = self._source.unit_family
        self._written: list[str] = []
        self._places: list[int] = []
        self._forked: set[str] = set()
        self._revised: dict[str, tuple[str, str, str]] = {}
        self._new = self._known = 0
        self._superseded = False
        self._latest = -math.inf
        self._passed: float | None = None  # the latest time of a unit's state that came from elsewhere
        self._copies: dict[tuple[str, str, str], None] = {}

    def run(self) -> MigrateReceipt:
        now = against(self._planned, self._db)
        if now.action != "import":  # another process imported these bytes since the plan was made
            return now.receipt()
        try:
            with opening.savepoint(self._db):
                self._read()
        except _Older:
            given = self._given
            imports.write_receipt(self._db, imports.Receipt(given.sha256, given.name, self._filed, 0))
            return replace(self._planned, action="unchanged", reason=OLDER).receipt()
        outcome = self._assembler.outcome
        self._complete(outcome.receipt)
        self._write_receipt(outcome)
        return replace(outcome.receipt, source=self._named)

    def _read(self) -> None:
        before = self._supersede() if self._source.mutable else None
        with closing(self._assembler.batches(self._given)) as batches:
            for batch in batches:
                self._write(batch)
        if before is not None:
            if self._passed is not None and self._latest < self._passed:
                raise _Older
            self._account_units(before)
        elif self._grown and self._given.path.is_file():
            self._forget_healed(self._assembler.outcome.damaged)

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
                if self._source.continues:
                    numbers.offset = max(0, numbers.highest - 1)
        if any(numbers.offset for numbers in self._sessions.values()):
            for row in fresh:
                row[GENERATION] = max(1, row[GENERATION] + (self._sessions[row[SESSION]].offset or 0))
        fresh = self._without_copies(fresh, batch)
        new = events.insert(self._db, fresh)
        if self._source.mutable:
            self._written += [row[0] for row in fresh]
            self._latest = max(self._latest, *(row[TIME] for row in batch.rows), -math.inf)
        self._new += new
        self._known += len(batch.rows) - new
        self._observer(len(batch.rows))
        if self._revised:
            revisions.revise(self._db, self._revised.values())
            self._superseded = True
            fresh = [*fresh, *(row for row in batch.rows if row[0] in self._revised)]
            self._revised.clear()
        for row in fresh if batch.bodies else ():
            if row[0] in batch.bodies:
                blobs.write(self._db, row[0], row[SESSION], batch.bodies[row[0]])

    def _without_copies(self, rows: list[list[Any]], batch: Batch) -> list[list[Any]]:
        """Leave out records that another file brought already (a resume repeats them); link the two."""
        if not batch.content:
            return rows
        found = links.known_content(self._db, batch.content.values())
        own = []
        for row in rows:
            content = batch.content.get(row[0], "")
            original = found.get(content)
            sources = batch.copied.get(row[0])
            if original is None or (sources and original not in (row[SESSION], *sources)):
                own.append(row)
                if content and not sources:
                    found[content] = row[SESSION]  # the same file may repeat it
                if sources and row[SESSION] not in self._forked:
                    del batch.content[row[0]]  # what it may be a copy of can still come
            elif original != row[SESSION]:
                self._copies[row[SESSION], "copy", original] = None
                self._forked.add(row[SESSION])
        contents = [(batch.content[row[0]], row[0], row[SESSION]) for row in own if row[0] in batch.content]
        links.remember_content(self._db, contents)
        return own

    def _stored(self, batch: Batch) -> dict[str, int]:
        """Return {event_id: stored generation} of the batch's records that the store holds already.

        Where neither the path nor any of the sessions was met before, nothing can be stored.
        """
        met = self._grown or any(numbers.highest for numbers in self._sessions.values())
        if not met and not self._source.keeps_ids:  # ids that came along may lie under any session
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
                if self._source.revises and self._grown and _revises(payload_json, row[PAYLOAD]):
                    self._revised[row[0]] = (row[PAYLOAD], row[HASH], row[0])
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

    def _forget_healed(self, still: list[imports.DamagedLine]) -> None:
        """Drop damage of an earlier state of this file that has grown into a whole record, or further."""
        damaged = {(line.line, line.sha256) for line in still}
        gone = [
            (row_id, line)
            for row_id, line in imports.damaged_of(self._db, self._given.name)
            if (line.line, line.sha256) not in damaged
        ]
        with self._given.open() as stream:
            healed = [
                row_id
                for row_id, torn in gone
                if sha256_part(stream, torn.offset, torn.length) == torn.sha256
            ]
        imports.forget_damaged(self._db, healed)

    def _supersede(self) -> list[str]:
        """Take out what an earlier state of this unit gave, so that the newest comes whole and in order."""
        earlier = units.event_ids(self._db, self._family, self._unit)
        paths = {self._given.name} if self._grown else set()
        if earlier:
            state = units.state(self._db, self._family, self._unit)
            paths |= {state[1]} if state is not None else set()
            if state is not None and state[1] != self._given.name:
                self._passed = units.latest(self._db, earlier)
            self._places = units.places(self._db, earlier)
            for session_id, generation in events.lowest_generations(self._db, earlier).items():
                self._sessions[session_id] = _Numbers(0, generation - 1)
            units.take_out(self._db, earlier)
        # Damage of the earlier state went with it; what is still damaged is met again.
        damaged = [line for path in sorted(paths) for line in imports.damaged_of(self._db, path)]
        imports.forget_damaged(self._db, [row_id for row_id, _ in damaged])
        return earlier

    def _account_units(self, before: list[str]) -> None:
        """Remember the unit's events; tell new ones from those that an earlier state had given."""
        units.remember(self._db, self._family, self._unit, self._given.sha256, self._written)
        units.keep_places(self._db, self._places, self._written)
        kept = set(before)
        again = sum(event_id in kept for event_id in self._written)
        self._known += again
        self._new -= again
        if before and self._written[: len(before)] != before:
            self._superseded = True

    def _complete(self, receipt: MigrateReceipt) -> None:
        if not receipt.balanced:
            raise RuntimeError(f"the receipt of {self._source.name} does not balance")
        receipt.new, receipt.known, receipt.superseded = self._new, self._known, self._superseded
        if receipt.superseded:
            receipt.status = "superseded"
        elif receipt.known:
            receipt.status = "extended"

    def _write_receipt(self, outcome: Outcome) -> None:
        given, receipt = self._given, outcome.receipt
        imports.write_receipt(self._db, imports.Receipt(given.sha256, given.name, self._filed, receipt.new))
        imports.write_damaged(self._db, outcome.damaged)
        # A file of which nothing was new only repeats what the store knows: it declares nothing once more.
        # A unit that is rewritten speaks anew, even of a session of which it has nothing to declare any more.
        mutable = self._source.mutable
        declared = outcome.declared if receipt.new or not receipt.known or mutable else {}
        if not self._source.keeps_ids:
            imports.forget_declared(self._db, given.name, receipt.sessions if mutable else declared)
        sessions = {
            session_id: (count.events, declared.get(session_id, {}))
            for session_id, count in receipt.sessions.items()
        }
        imports.write_sessions(self._db, given.sha256, self._source.name, sessions)
        links.write(self._db, given.sha256, {**outcome.links, **self._copies})


class _Older(Exception):
    """A unit's state from elsewhere ends before the stored one does."""


def _revises(stored: str, payload_json: str) -> bool:
    """Tell whether a payload says something new, and not only that a file beside the source is gone."""
    if _GONE in payload_json and _GONE not in stored:
        return False
    return _said(stored) != _said(payload_json)


def _said(payload_json: str) -> str:
    """Return a payload without the digest of its file, which every state of a growing file has anew."""
    return _DIGEST.sub("", payload_json)
