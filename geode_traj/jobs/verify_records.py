"""Verifying GEODE's records, a JSON object a line: run events, hook events, usage and evidence ledgers.

The file is streamed; of earlier records only digests of ids, and the last number of each session, are kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from geode_traj.codec import schema
from geode_traj.codec.files import reading, sha256_file
from geode_traj.codec.jsonl import Line, lines
from geode_traj.codec.reading import tolerant
from geode_traj.contract import hook_events, ledgers
from geode_traj.contract.faults import SHAPE, Fault, is_number
from geode_traj.jobs.found import Found
from geode_traj.model.finding import Place
from geode_traj.sources.base import Probe
from geode_traj.verify import Verified

RUN_EVENT: Final = "geode.run-event@1"
_TRUNCATED: Final = "projection.truncated"
_MAX_SESSIONS: Final = 10_000
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of records: what it is called, how one is told from others, what is wrong in one.

    `number` and `own_id` name the members that count the records of a session up, and that tell them apart.
    """

    schema_id: str
    matches: Callable[[Row], bool]
    faults: Callable[[Row], Iterable[Fault]]
    number: str = ""
    own_id: str = ""


def _run_event_faults(row: Row) -> Iterator[Fault]:
    for pointer, message in schema.problems(RUN_EVENT, row):
        yield Fault(SHAPE, message, pointer)


RUN_EVENTS: Final = Kind(
    RUN_EVENT, lambda row: row.get("schema_id") == RUN_EVENT, _run_event_faults, "ordinal", "event_id"
)
HOOK_EVENTS: Final = Kind(hook_events.SCHEMA, hook_events.is_row, hook_events.faults, "id")
LEDGERS: Final = (
    HOOK_EVENTS,
    Kind(ledgers.EVIDENCE, ledgers.is_evidence, ledgers.evidence_faults, "seq"),
    Kind(ledgers.USAGE, ledgers.is_usage, ledgers.usage_faults),
)


def kind_of(probe: Probe) -> Kind | None:
    """Return the ledger that most of a file's first records belong to, None for no ledger."""
    rows = list(probe.objects())
    for kind in LEDGERS:
        if sum(map(kind.matches, rows)) * 2 > len(rows):
            return kind
    return None


def verify_ledger(path: Path, kind: Kind) -> Verified:
    """Verify a ledger; raise `WorldError` TE201 where it cannot be read."""
    sha256, size = sha256_file(path)
    found = Found(str(path), sha256, size, kind.schema_id)
    records = judge_file(path, kind, found)
    return found.result(str(path), records)


def judge_file(path: Path, kind: Kind, found: Found, *, damage: bool = True) -> int:
    """Judge each line of a file and return how many records it holds; `damage`: tell what cannot be read."""
    judge = Judge(kind, found)
    with reading(path) as stream:
        for line in lines(stream):
            value = _value(line)
            if isinstance(value, dict):
                judge.record(value, Place(found.file, line=line.number))
            elif damage and value is not _BLANK:
                place = Place(found.file, line=line.number, span=(line.offset, line.offset + line.length))
                found.add("GT151", f"damaged: {_reason(line, value)}", place)
                found.partial = True
    return judge.records


_BLANK: Final = object()
_DAMAGED: Final = object()


def _value(line: Line) -> object:
    if line.data is None:
        return _DAMAGED
    if not line.data or line.data.isspace():
        return _BLANK
    try:
        return tolerant(line.data).value
    except (ValueError, RecursionError):
        return _DAMAGED


def _reason(line: Line, value: object) -> str:
    if line.data is None:
        return "line_too_long"
    if value is not _DAMAGED:
        return "not_object"
    return "not_json" if line.ended else "torn_tail"


class Judge:
    """Judges records of one kind in order; `records` counts them."""

    def __init__(self, kind: Kind, found: Found) -> None:
        self.records = 0
        self._kind = kind
        self._found = found
        self._numbers: dict[bytes, float] = {}
        self._ids: set[bytes] = set()

    def record(self, row: Row, place: Place) -> None:
        """Judge the next record, which stands at `place`."""
        self.records += 1
        for fault in self._kind.faults(row):
            self._add(fault, place)
        if self._kind is RUN_EVENTS:
            self._compaction(row, place)
        number, own_id = row.get(self._kind.number), row.get(self._kind.own_id)
        if is_number(number):
            key = _digest(row.get("session_id") if self._kind is not HOOK_EVENTS else "")
            if number <= self._numbers.get(key, -1):
                self._add(Fault("GT165", "not above the one before", f"/{self._kind.number}"), place)
            if key in self._numbers or len(self._numbers) < _MAX_SESSIONS:
                self._numbers[key] = number
        if isinstance(own_id, str):
            key = _digest(own_id)
            if key in self._ids:
                self._add(Fault("GT166", "an earlier record has this id", f"/{self._kind.own_id}"), place)
            self._ids.add(key)

    def _compaction(self, row: Row, place: Place) -> None:
        if row.get("kind") != _TRUNCATED:
            return
        payload = row.get("payload")
        dropped = payload.get("dropped_rows") if isinstance(payload, dict) else None
        count = dropped if type(dropped) is int and dropped > 0 else "an unknown number of"
        self._found.partial = True
        self._add(Fault("GT164", f"{count} earlier row(s) are gone"), place)

    def _add(self, fault: Fault, place: Place) -> None:
        where = Place(place.file, place.line, place.ordinal, pointer=fault.pointer or None)
        self._found.add(fault.code, fault.message, where)


def _digest(text: object) -> bytes:
    return hashlib.blake2b(str(text).encode("utf-8", "surrogatepass"), digest_size=16).digest()
