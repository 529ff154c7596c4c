"""Scanning a store, and redacting there what an older table of rules let in (design decision 4).

A survey reads every text of every session and has it searched like a file's. Redacting takes one session at a
time: one transaction, the same redaction as an import's, the same numbers. What is rewritten keeps its event
ids, so that a source that has grown is still met as the one it was. At the end the files themselves are
rewritten; an interrupted run is taken up by the next.
"""

from __future__ import annotations

import re
import secrets as random
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.contract import bounds
from geode_traj.contract.ids import COLUMN_BOUNDS, MAX_SESSION_ID, MAX_SOURCE, fit
from geode_traj.errors import WorldError
from geode_traj.jobs.prune import scrubbed
from geode_traj.jobs.scan_known import learned
from geode_traj.jobs.scan_parts import Part, Unscanned
from geode_traj.jobs.scan_report import FailOn, Scanned, report
from geode_traj.jobs.scan_streams import Observer, scan_streams
from geode_traj.jobs.scan_workers import SECONDS, Unit
from geode_traj.migrate.scrub import Scrubber
from geode_traj.model.event import Row
from geode_traj.model.report import Report
from geode_traj.scan.chunks import VIEW, Streams, may_hold
from geode_traj.scan.engine import Scanner
from geode_traj.scan.known import Known
from geode_traj.scan.matching import Span
from geode_traj.scan.numbering import Numbering
from geode_traj.store import blobs, events, opening, rewriting, secrets
from geode_traj.store.schema import as_text, text_or_bytes

_PLAIN: Final = re.compile(r"[0-9A-Fa-f-]{1,64}")
_UNIT: Final = 1 << 16
_LOST: Final = "a body that belongs to it cannot be read"


@dataclass(slots=True)
class Session:
    """What a survey met in one session, or in the tables that are another program's."""

    session_id: Any
    scanned: Scanned
    odd: dict[str, str] = field(default_factory=dict)  # an event's id by what it is called in a report
    ours: bool = True  # tables of another program are looked at, and left alone

    @property
    def events(self) -> set[str]:
        """Return the ids of the events that hold a finding and could be read through."""
        found = {label for label, _ in self.scanned.findings if isinstance(label, str)}
        found -= {one.label for one in self.scanned.unscanned if isinstance(one.label, str)}
        return {self.odd.get(label, label) for label in found}

    @property
    def beside(self) -> bool:
        """Whether anything but events holds a finding."""
        return any(not isinstance(label, str) for label, _ in self.scanned.findings)

    @property
    def cut(self) -> bool:
        """Whether a stream cuts something over several events."""
        return any(found.view == VIEW for _, found in self.scanned.findings)


@dataclass(frozen=True, slots=True)
class StoreScan:
    """The report of a store, and `WorldError` TE501 where a reader keeps rewritten text in SQLite's log."""

    report: Report
    held: WorldError | None = None


def scan_store(
    store: Path,
    scanner: Scanner,
    *,
    redact: bool = False,
    fail_on: FailOn = "high",
    sensitive: Iterable[str] = (),
    jobs: int = 1,
    seconds: float = SECONDS,
    learn: bool = False,
    observer: Observer = lambda _: None,
) -> StoreScan:
    """Scan every text of a store; with `redact`, put placeholders in the place of what is found.

    One entry a session; after redacting it tells what is left, and in `redaction` what was done. `sensitive`
    are the field names that `scanner` was given; `learn`: names of users and hosts that one text shows are
    found in all of them; `observer` is told of the bytes looked through. Raises `WorldError` TE503 without a
    store, TE501 when it stays busy.
    """
    key = random.token_bytes(32)
    found = _survey(store, scanner, key, jobs, seconds, None, learn=learn, observer=observer)
    held = None
    if redact:
        done = _redact(store, found, tuple(sensitive), scanner.known)
        held = done.held
        found = [one for one in found if not one.ours or one.session_id not in done.sessions]
        if done.receipts:  # what was redacted is scanned again
            found += _survey(store, scanner, key, jobs, seconds, set(done.receipts))
        for one in found:
            if one.ours and (receipt := done.receipts.get(one.session_id)):
                one.scanned.extra["redaction"] = receipt.to_json()
                one.scanned.note = receipt.words()
    found = [one for one in found if one.ours or one.scanned.findings or one.scanned.unscanned]
    found.sort(key=lambda one: (not one.ours, as_text(one.session_id)))
    return StoreScan(report([one.scanned for one in found], scanner, fail_on), held)


def _survey(
    store: Path,
    scanner: Scanner,
    key: bytes,
    jobs: int,
    seconds: float,
    only: set[Any] | None,
    *,
    learn: bool = False,
    observer: Observer = lambda _: None,
) -> list[Session]:
    with opening.open_reader(store) as connection, opening.translated(store):
        connection.text_factory = text_or_bytes
        missed: list[tuple[int, Unscanned]] = []
        if learn:
            units = _Survey(store, connection, scanner, only).units()
            scanner, missed = learned(units, scanner, jobs, seconds=seconds, observer=observer)
        survey = _Survey(store, connection, scanner, only)
        for unit, result in scan_streams(
            survey.units(), scanner, key, jobs, seconds=seconds, observer=observer
        ):
            survey.sessions[unit.owner].scanned.add(result)
    for owner, why in missed:
        survey.sessions[owner].scanned.unscanned[why] = None
    return survey.sessions


class _Survey:
    """All texts of a store, as units to be scanned."""

    def __init__(
        self, store: Path, connection: sqlite3.Connection, scanner: Scanner, only: set[Any] | None
    ) -> None:
        self.sessions: list[Session] = []
        self._store = str(store)
        self._db = connection
        self._scanner = scanner
        self._only = only
        # What the filter passes is clean, alone; the publish profile has none.
        self._filter = scanner.may_match if scanner.profile == "import" else None

    def units(self) -> Iterator[Unit]:
        """Yield the texts of all sessions, one session after the other."""
        for session_id in rewriting.session_ids(self._db):
            if self._only is None or session_id in self._only:
                name = _shown(as_text(session_id), self._scanner)
                scanned = Scanned(f"{self._store}#{name}" if name else self._store, file=self._store)
                self.sessions.append(Session(session_id, scanned))
                yield from self._batches(self._parts(self.sessions[-1]))
        if self._only is None:
            others = Scanned(self._store, file=self._store)
            self.sessions.append(Session("", others, ours=False))
            yield from self._batches(map(_beside, rewriting.foreign(self._db)))
            others.note = "; in tables of another program, which are left alone"

    def _batches(self, parts: Iterable[Part]) -> Iterator[Unit]:
        batch: list[Part] = []
        held = 0
        for part in parts:
            clean = self._filter is not None and part.kind == "line" and not self._filter(part.data)
            if clean and not may_hold(part.data):
                continue
            batch.append(part)
            held += len(part.data)
            if held >= _UNIT:
                yield Unit(len(self.sessions) - 1, tuple(batch))
                batch, held = [], 0
        if batch:
            yield Unit(len(self.sessions) - 1, tuple(batch))

    def _parts(self, one: Session) -> Iterator[Part]:
        session_id = one.session_id
        kept = blobs.references(self._db, [session_id])
        yield Part(None, dumps({"session_id": as_text(session_id)}))
        for row in events.read(self._db, [session_id]):
            body = rewriting.body(self._db, row, kept.get(row.event_id, []))
            label = row.event_id
            if not _PLAIN.fullmatch(label):
                label = _shown(label, self._scanner)
                one.odd[label] = row.event_id
            texts: dict[str, Any] = {name: getattr(row, name) or "" for name in rewriting.COLUMNS}
            if body.missing:
                one.scanned.unscanned[Unscanned(label, "", _LOST)] = None
            if body.raw is not None:
                yield Part(label, body.raw.encode(), "raw")
            yield Part(label, dumps({"event_id": row.event_id, **texts, "payload": body.whole}))
        yield from map(_beside, rewriting.beside(self._db, session_id))


def _beside(text: rewriting.Text) -> Part:
    if text.column == "redacted":
        return Part(text.line, text.value if isinstance(text.value, bytes) else text.value.encode(), "raw")
    return Part(None, dumps({text.table: {str(text.row): {text.column: _value(text)}}}))


def _value(text: rewriting.Text) -> Any:
    declared = _declared(text)
    return as_text(text.value) if declared is None else declared


def _declared(text: rewriting.Text) -> dict[str, Any] | None:
    """Return what a source declared as a value, None for any other text."""
    if text.column != "declared_json":
        return None
    whole = rewriting.parsed(as_text(text.value))
    return whole if isinstance(whole, dict) else None


def _shown(text: str, scanner: Scanner) -> str:
    """Return an id as a report names it: nothing that was found in it."""
    for span in reversed(scanner.find(text)):
        text = f"{text[: span.start]}[REDACTED:{span.cls}]{text[span.end :]}"
    return text


@dataclass(slots=True)
class Receipt:
    """What was redacted in one session: events rewritten, other rows, values by class."""

    session_id: Any
    events: int = 0
    rows: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> dict[str, Any]:
        """Return the member `redaction` of the session's row in a scan report."""
        return {"events": self.events, "rows": self.rows, "redactions": dict(sorted(self.counts.items()))}

    def words(self) -> str:
        """Return it for a person."""
        values = ", ".join(f"{name} {count}" for name, count in sorted(self.counts.items()))
        return f"; redacted {values} in {self.events} event(s) and {self.rows} other row(s)"


@dataclass(slots=True)
class _Redacted:
    """What was redacted in a store, by session; `sessions` are the ids that these had before."""

    receipts: dict[Any, Receipt] = field(default_factory=dict)
    sessions: set[Any] = field(default_factory=set)
    held: WorldError | None = None


def _redact(store: Path, found: list[Session], sensitive: tuple[str, ...], known: Known) -> _Redacted:
    done = _Redacted()
    todo = [one for one in found if one.ours and one.scanned.findings]
    with opening.open_writer(store) as connection:
        for one in todo:
            with opening.transaction(connection):
                given = secrets.numbers(connection)
                numbering = Numbering(secrets.key(connection), given)
                receipt = _Rewriting(connection, Scrubber(numbering, sensitive, known), one).run()
                if not receipt.counts:
                    continue
                secrets.write_numbers(connection, numbering.since(len(given)))
                rewriting.mark_pending(connection)
            done.receipts[receipt.session_id] = receipt
            done.sessions.add(one.session_id)
        if rewriting.is_pending(connection):
            done.held = scrubbed(store, connection)
            if done.held is None:
                rewriting.clear_pending(connection)
    return done


@dataclass(slots=True)
class _Cuts:
    """Guides the redaction of an event (`scan.redact.Guide`): what streams cut there, by pointer, goes."""

    spans: dict[str, list[Span]] = field(default_factory=dict)

    def more(self, pointer: str, *, in_key: bool) -> Sequence[Span]:
        """Return what else is to be replaced in a text."""
        return () if in_key else self.spans.get(pointer, ())

    def keeps(self, pointer: str, span: Span, *, in_key: bool) -> bool:
        """Keep nothing."""
        return False


class _Rewriting:
    """The redaction of one session inside its transaction."""

    def __init__(self, connection: sqlite3.Connection, scrubber: Scrubber, one: Session) -> None:
        self._db = connection
        self._scrub = scrubber
        self._one = one
        self._receipt = Receipt(one.session_id)
        self._counts = self._receipt.counts
        self._cuts: defaultdict[int, _Cuts] = defaultdict(_Cuts)

    def run(self) -> Receipt:
        """Redact and return what was done. Texts are read anew: much can have happened since the survey."""
        session_id = self._one.session_id
        kept = blobs.references(self._db, [session_id])
        if self._one.cut:
            self._across(kept)
        rows = [row for event_id in self._one.events if (row := rewriting.row(self._db, event_id))]
        for row in sorted(rows):
            self._event(row, kept.get(row.event_id, []))
        if self._one.beside:
            for text in list(rewriting.beside(self._db, session_id)):
                self._beside(text)
            if isinstance(session_id, str):
                new = self._scrub.text(session_id, self._counts)
                if new != session_id:
                    new = fit(new, MAX_SESSION_ID)
                    rewriting.rename_session(self._db, session_id, new)
                    self._receipt.session_id = new
        return self._receipt

    def _across(self, kept: dict[str, list[tuple[str, str]]]) -> None:
        """Note what streams cut over the events of the session."""
        streams = Streams(self._scrub.scanner)
        found: list[tuple[int, str, Span]] = []
        for row in events.read(self._db, [self._one.session_id]):
            body = rewriting.body(self._db, row, kept.get(row.event_id, []))
            if body.raw is None and not body.missing:
                found += streams.feed(row.id, row.kind, row.turn_id, row.call_id, body.whole)
        for event, where, span in (*found, *streams.end()):
            self._cuts[event].spans.setdefault(where, []).append(span)

    def _event(self, row: Row, kept: list[tuple[str, str]]) -> None:
        before = self._counts.total()
        columns = {}
        for name in rewriting.COLUMNS:
            text = getattr(row, name)
            if isinstance(text, str | bytes):
                text = as_text(text)
                new = self._scrub.text(text, self._counts)
                if new != text:
                    columns[name] = fit(new, COLUMN_BOUNDS.get(name, MAX_SOURCE))
        rewriting.write_columns(self._db, row, columns)
        body = rewriting.body(self._db, row, kept)
        if body.raw is not None:
            text = body.raw.encode("utf-8", "surrogateescape")
            new_raw = self._scrub.raw(text, self._counts)
            if new_raw != text:
                rewriting.write_raw(self._db, row, new_raw.decode("utf-8", "surrogateescape"))
        elif not body.missing:
            payload = self._scrub.payload(body.whole, self._counts, self._cuts.get(row.id))
            if payload is not body.whole:
                bounded = bool(kept) or bounds.examine(body.whole)[0]
                rewriting.write_payload(self._db, row, payload, bounded=bounded)
        self._receipt.events += self._counts.total() > before

    def _beside(self, text: rewriting.Text) -> None:
        before = self._counts.total()
        value = self._redacted(text)
        if value != text.value and self._counts.total() > before:
            rewriting.replace(self._db, text, value)
            self._receipt.rows += 1

    def _redacted(self, text: rewriting.Text) -> str | bytes:
        if text.column == "redacted":
            data = text.value if isinstance(text.value, bytes) else text.value.encode()
            return self._scrub.raw(data, self._counts)
        if isinstance(text.value, bytes):
            return text.value
        declared = _declared(text)
        if declared is not None:
            made = self._scrub.payload(declared, self._counts)
            return rewriting.declared_text({key: made[key] for key in made if key != "_redactions"})
        if text.column == "content_key":
            return self._content_key(text.value)
        return self._scrub.text(text.value, self._counts)

    def _content_key(self, key: str) -> str:
        """Return a key that an early version kept in clear as an import keeps it now: its digest."""
        counts: Counter[str] = Counter()
        if self._scrub.text(key, counts) == key:
            return key
        self._counts.update(counts)
        return rewriting.key_digest(key)
