"""One assembler for all formats: times, redaction, bounds, blobs, rows, accounting.

A source's items go in; rows ready for `session_events` come out in batches. Generations are numbered as the
source counts them; the store's own numbering is applied when a batch is written (`migrate.apply`).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.contract.bounds import MAX_BYTES, Bodies, cut, examine
from geode_traj.contract.ids import (
    COLUMN_BOUNDS,
    MAX_SESSION_ID,
    MAX_SOURCE,
    MIN_BOUND,
    fit,
    foreign_event_id,
)
from geode_traj.migrate.plan import Planned
from geode_traj.migrate.scrub import Scrubber
from geode_traj.model.event import Damaged, Event, Item, Link, Loss, Session, Skipped
from geode_traj.model.receipt import MigrateReceipt, SessionCount
from geode_traj.sources.base import Input
from geode_traj.store.imports import DamagedLine

BATCH_ROWS: Final = 1000
BATCH_BYTES: Final = 8 << 20
MAX_LISTED_DAMAGE: Final = 10_000
# Positions in a row's values, which follow `Row` without its id.
TIME: Final = 1
SESSION: Final = 2
GENERATION: Final = 3
PAYLOAD: Final = 12
HASH: Final = 13
_BOUNDS: Final = (MAX_SESSION_ID, *COLUMN_BOUNDS.values())
# Columns that are no longer than this all together fit, but for the two with the smallest bound.
_SHORT: Final = COLUMN_BOUNDS["provider"]


@dataclass(slots=True)
class Batch:
    """Assembled values not yet written.

    `rows` are column values of `Row` after `id`; `bodies` {event_id: [(pointer, canonical bytes)]}; `aliases`
    {event_id: other ids its record may be stored under}; `content` {event_id: its content key}; `copied`
    {event_id: sessions it may be copied from}; `size` counts payload and body bytes.
    """

    rows: list[list[Any]] = field(default_factory=list)
    bodies: dict[str, Bodies] = field(default_factory=dict)
    aliases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    content: dict[str, str] = field(default_factory=dict)
    copied: dict[str, tuple[str, ...]] = field(default_factory=dict)
    size: int = 0


@dataclass(slots=True)
class Outcome:
    """What a source gave besides its rows.

    `declared` is {session_id: what the source says of it}; `links` are (session, kind, target), in order.
    """

    receipt: MigrateReceipt
    damaged: list[DamagedLine] = field(default_factory=list)
    declared: dict[str, dict[str, Any]] = field(default_factory=dict)
    links: dict[tuple[str, str, str], None] = field(default_factory=dict)


class Assembler:
    """Turns the items of one source into batches of rows, and its outcome."""

    def __init__(self, planned: Planned, scrubber: Scrubber) -> None:
        self._planned = planned
        self._source = planned.reader
        self._format = self._source.name
        self._scrub = scrubber
        self._may_match = scrubber.may_match
        self._previous: float | None = None
        self._session: str | None = None
        self._batch = Batch()
        self._settled = 0
        self._receipt = MigrateReceipt(
            planned.given.name,
            self._format,
            planned.given.sha256,
            planned.given.file_size,
            "imported",
            total=planned.total,
        )
        self.outcome = Outcome(self._receipt)

    def batches(self, given: Input) -> Generator[Batch]:
        """Yield all that the source holds, batch by batch; then the outcome is complete."""
        for item in self._source.items(given):
            self._take(item)
            if len(self._batch.rows) >= BATCH_ROWS or self._batch.size >= BATCH_BYTES:
                yield self._flush()
        yield self._flush()
        self._settle(self._session or self._planned.given.default_session)

    def _take(self, item: Item) -> None:
        if type(item) is Event:
            self._event(item)
        elif isinstance(item, Damaged):
            self._damage(item)
        elif isinstance(item, Skipped):
            if item.what == "blank":
                self._receipt.blank += item.count
            else:
                self._receipt.foreign += item.count
        elif isinstance(item, Loss):
            self._receipt.losses[item.reason] += item.count
        elif isinstance(item, Session):
            self._declare(item)
        elif isinstance(item, Link):
            session_id, target = map(self._session_id, (item.session_id, item.target))
            self.outcome.links[session_id, item.kind, target] = None

    def _flush(self) -> Batch:
        batch, self._batch = self._batch, Batch()
        return batch

    def _event(self, event: Event) -> None:
        receipt = self._receipt
        if event.n == 0:
            if event.raw:
                receipt.kept_raw += 1
            else:
                receipt.converted += 1
        counts: Counter[str] | None = None
        when = self._time(event)
        if event.escaped:
            event.payload["_escaped"] = list(event.escaped)
        if event.nonfinite:
            event.payload["_nonfinite"] = list(event.nonfinite)
        payload = event.payload
        fits, plain = examine(payload)
        encoded = dumps(payload, plain=plain)
        given = (
            event.session_id, event.turn_id, event.call_id, event.parent_event_id or "", event.role,
            event.status, event.model, event.provider,
        )  # fmt: skip
        # One look at columns and payload together, since asking costs more than reading.
        joined = " ".join(given)
        if self._may_match(joined.encode("utf-8", "replace") + encoded):
            counts = Counter()
            given = tuple(self._scrub.text(text, counts) for text in given)  # type: ignore[assignment]
            payload = self._scrub.payload(payload, counts)
            fits, _ = examine(payload)
            encoded = dumps(payload)
        if counts or len(joined) > _SHORT or len(event.role) > MIN_BOUND or len(event.status) > MIN_BOUND:
            given = tuple(map(fit, given, _BOUNDS))  # type: ignore[assignment]
        session, turn, call, parent, role, status, model, provider = given
        event_id = event.event_id or self._own_id(event, session)
        if len(encoded) > MAX_BYTES or not fits:
            encoded, bodies = cut(payload)
            if bodies:
                self._batch.bodies[event_id] = bodies
                self._batch.size += sum(len(data) for _, data in bodies)
        self._batch.rows.append(
            [
                event_id, when, session, event.generation, turn, call,
                None if event.parent_event_id is None else parent, event.kind, role, status, model, provider,
                encoded.decode(), hashlib.sha256(encoded).hexdigest(),
                fit(event.source or self._format, MAX_SOURCE),
            ]
        )  # fmt: skip
        self._batch.size += len(encoded)
        if event.aliases:
            self._batch.aliases[event_id] = event.aliases
        if event.content_key:
            # The key is the source's text: what the store keeps of it is a digest, like the record's own.
            told = f"{self._format}:{event.content_key}".encode("utf-8", "surrogatepass")
            self._batch.content[event_id] = hashlib.sha256(told).hexdigest()
            if event.copied_from:
                self._batch.copied[event_id] = tuple(map(self._session_id, event.copied_from))
        self._count(session, event, counts)

    def _count(self, session_id: str, event: Event, counts: Counter[str] | None) -> None:
        if session_id != self._session:
            self._session = session_id
            self._settle(session_id)
        session = self._receipt.sessions.get(session_id)
        if session is None:
            session = self._receipt.sessions[session_id] = SessionCount()
        session.events += 1
        session.generations.add(event.generation)
        session.terminal = event.kind == "session.ended"
        if counts:
            session.redactions.update(counts)

    def _time(self, event: Event) -> float:
        """Return the event's time, or the previous record's; for the first record the next one's."""
        if event.time is not None:
            self._previous = event.time
            if event.time_rule:
                self._derived_time(event, event.time_rule)
            return event.time
        rule, seconds = "previous_record", self._previous
        if seconds is None:
            rule, seconds = "next_record", self._planned.first_time
        if seconds is None:
            rule, seconds = "none_in_source", 0.0
        self._derived_time(event, rule)
        return seconds

    def _derived_time(self, event: Event, rule: str) -> None:
        derived = event.payload.get("_derived")
        kept = derived if isinstance(derived, dict) else {}
        event.payload["_derived"] = {**kept, "occurred_at": rule}

    def _declare(self, item: Session) -> None:
        """Keep what a file declares of a session; it is the file's text like any other."""
        counts: Counter[str] = Counter()
        session_id = fit(self._scrub.text(item.session_id, counts), MAX_SESSION_ID)
        declared = self._scrub.payload(item.declared, counts)
        self.outcome.declared[session_id] = {key: declared[key] for key in item.declared}
        self._receipt.sessions.setdefault(session_id, SessionCount()).redactions.update(counts)

    def _session_id(self, text: str) -> str:
        """Return a session id as the store holds it."""
        return fit(self._scrub.text(text, Counter()), MAX_SESSION_ID)

    def _own_id(self, event: Event, session_id: str) -> str:
        key = event.key or str(event.line)
        return foreign_event_id(self._format, session_id, key, event.n, event.record_sha256)

    def _damage(self, item: Damaged) -> None:
        receipt = self._receipt
        receipt.damaged_count += 1
        if len(receipt.damaged) < MAX_LISTED_DAMAGE:
            receipt.damaged.append(
                {
                    "line": item.line,
                    "offset": item.offset,
                    "length": item.length,
                    "sha256": item.sha256,
                    "reason": item.reason,
                }
            )
        given = self._planned.given
        counts: Counter[str] = Counter()
        redacted = self._scrub.raw(item.data, counts) if item.data is not None else None
        session = item.session_id or self._session or ""
        self.outcome.damaged.append(
            DamagedLine(
                given.sha256, given.name, session, item.line, item.offset, item.length, item.sha256,
                item.reason, redacted,
            )
        )  # fmt: skip

    def _settle(self, session_id: str) -> None:
        """Give damage before the first event to the session that follows it, or to the default session."""
        for at in range(self._settled, len(self.outcome.damaged)):
            if not self.outcome.damaged[at].session_id:
                self.outcome.damaged[at] = replace(self.outcome.damaged[at], session_id=session_id)
        self._settled = len(self.outcome.damaged)
