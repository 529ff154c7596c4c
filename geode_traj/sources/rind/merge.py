"""One session's journals in one order: the messages lead, the rest joins them where it belongs.

A tool's message row only says where its result came; the result stands in `tool_calls.jsonl`. Results without
such a row (a crash, a fork), compactions without a boundary and task snapshots come before the first message
that is later than they are, and never before the call that they answer.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, BinaryIO, Final

from geode_traj.codec.files import reading
from geode_traj.codec.jsonl import MAX_LINE, Line, lines
from geode_traj.codec.reading import Tolerated, tolerant
from geode_traj.model.event import Damaged, Item, Loss
from geode_traj.sources.base import Input
from geode_traj.sources.rind.calls import Calls
from geode_traj.sources.rind.events import Maker, Record, word
from geode_traj.sources.rind.folder import JOURNALS, MESSAGES, META, PLAN, Folder, rows
from geode_traj.sources.rind.messages import Messages, announced, special
from geode_traj.sources.rind.pictures import Pictures
from geode_traj.sources.rind.session import head, last_turn, links
from geode_traj.sources.values import epoch_time, iso_time

CALLS, COMPACTIONS, TASKS = JOURNALS[1:]
_ID: Final = {CALLS: "id", COMPACTIONS: "id", TASKS: "task_id"}
# Only lines with one of these tell what other journals' rows wait for.
_TELLING: Final = (b"tool_call", b"compact_id")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row of a journal stands, its id and the key its events get, and when it happened."""

    journal: str
    line: int
    offset: int
    length: int
    id: str
    key: str
    time: float | None


@dataclass(slots=True)
class _Told:
    """What the messages say of other journals: calls announced, results confirmed, compactions marked."""

    announced: Counter[str] = field(default_factory=Counter)
    confirmed: Counter[str] = field(default_factory=Counter)
    compactions: Counter[str] = field(default_factory=Counter)


class Merge:
    """The session unit of one folder; per row of a journal only its place is kept."""

    def __init__(self, given: Input, folder: Folder) -> None:
        self._given = given
        self._folder = folder
        self._maker = Maker(given, folder.session_id)
        self._streams: dict[str, BinaryIO] = {}
        self._told = _Told()
        self._open: dict[tuple[str, str], deque[Place]] = {}
        self._waiting: dict[str, deque[Place]] = {name: deque() for name in JOURNALS[1:]}
        self._queued: set[tuple[str, int]] = set()
        self._tasks: Counter[str] = Counter()
        self._tasks_met: Counter[str] = Counter()
        self._keys: set[tuple[str, str]] = set()
        self._outputs = {name.rpartition("/")[2] for name in folder.outputs()}
        self._expired: set[str] = set()
        self._pictures = Pictures(folder)
        self._calls = Calls(self._maker, self._pictures)
        self._messages = Messages(self._maker, self._pictures, self._calls)
        self._rows = 0

    def items(self) -> Iterator[Item]:
        """Yield the session's events in order, then its links and losses."""
        with ExitStack() as stack:
            for name in JOURNALS:
                if self._folder.has(name):
                    self._streams[name] = stack.enter_context(reading(self._folder.path / name))
            meta = yield from self._document(META)
            if meta is not None:
                yield head(self._maker, meta)
            _tell(self._streams[MESSAGES], self._told)
            for name in JOURNALS[1:]:
                if name in self._streams:
                    yield from self._index(name)
            self._streams[MESSAGES].seek(0)
            yield from rows(self._given, self._streams[MESSAGES], self._message)
            yield from self._due(math.inf)
            plan = yield from self._document(PLAN)
            if plan is not None:
                words = {"operation": "plan", "plan": plan.read.value}
                yield self._maker.event("legacy.imported", plan, words, event="plan")
            if meta is not None:
                yield from last_turn(self._maker, meta, self._messages.turn_ids)
                yield from links(self._maker, meta, self._rows)
            yield from self._pictures.losses()
            if self._expired:
                yield Loss("tool_output_expired", len(self._expired))

    def _document(self, name: str) -> Generator[Item, None, Record | None]:
        """Read a document of the session, damage as itself; one that is there gives a record."""
        if not self._folder.has(name):
            return None
        with reading(self._folder.path / name) as stream:
            data = stream.read(MAX_LINE + 1)
        digest, reason = sha256(data).hexdigest(), "not_json"
        try:
            read = tolerant(data.removeprefix(b"\xef\xbb\xbf")) if len(data) <= MAX_LINE else None
            if read is not None and (name != META or isinstance(read.value, dict)):
                return Record(name, 1, digest, read)
            reason = "line_too_long" if read is None else "not_object"
        except RecursionError:
            reason = "too_deep"
        except ValueError:
            pass
        kept = data if len(data) <= MAX_LINE else None
        yield Damaged(1, 0, len(data), digest, reason, kept, self._folder.session_id)
        return None

    def _index(self, journal: str) -> Iterator[Item]:
        """Note where a journal's rows stand, and whether a message will say where each belongs."""
        told = self._told.confirmed if journal == CALLS else self._told.compactions
        expected = Counter(told) if journal != TASKS else Counter()

        def take(line: Line, _: str, read: Tolerated) -> tuple[Item, ...]:
            own = word(read.value, _ID[journal])
            place = Place(
                journal, line.number, line.offset, line.length, own,
                self._key(journal, own, line.number), _time(journal, read.value),
            )  # fmt: skip
            if journal == TASKS:
                self._tasks[own] += 1
            else:
                self._open.setdefault((journal, own), deque()).append(place)
            if expected[own] > 0:
                expected[own] -= 1
            else:
                self._waiting[journal].append(place)
                self._queued.add((journal, line.number))
            return ()

        yield from rows(self._given, self._streams[journal], take)

    def _key(self, journal: str, own: str, line: int) -> str:
        """Return the key of a row's events: its own id; of a second row by that id, with its line."""
        if not own or (journal, own) not in self._keys:
            self._keys.add((journal, own))
            return own
        return f"{own}@{line}"

    def _message(self, line: Line, digest: str, read: Tolerated) -> Iterator[Item]:
        """Yield what is due before a message, the message, and the row of another journal it points to."""
        row = read.value
        self._rows += 1
        own = word(row, "id")
        record = Record(MESSAGES, line.number, digest, read, self._key(MESSAGES, own, line.number))
        seconds = iso_time(row.get("ts"))[0]
        if seconds is not None:
            yield from self._due(seconds)
        if row.get("role") == "tool":
            place = self._next(CALLS, word(row, "tool_call_id"))
            if place is not None:
                yield from self._row(place)
            yield from self._messages.tool(record, answered=place is not None)
            return
        yield from self._messages.events(record, self._delegated)
        if special(row) == "compact_boundary":
            place = self._next(COMPACTIONS, word(row["meta"], "compact_id"))
            if place is not None:
                yield from self._row(place)

    def _next(self, journal: str, own: str) -> Place | None:
        """Take the next row of another journal by that id, unless it waits for its time."""
        places = self._open.get((journal, own))
        if not places or (journal, places[0].line) in self._queued:
            return None
        return places.popleft()

    def _delegated(self, call_id: str) -> dict[str, Any]:
        """Return the row that will answer a call, to tell which session it was delegated to."""
        places = self._open.get((CALLS, call_id))
        return self._read(places[0]).row if places else {}

    def _due(self, until: float) -> Iterator[Item]:
        """Yield waiting rows that are earlier, the earliest journal first, each journal in its order."""
        while True:
            heads = [queue[0] for queue in self._waiting.values() if queue and self._ready(queue[0], until)]
            if not heads:
                return
            place = min(heads, key=lambda one: -math.inf if one.time is None else one.time)
            self._waiting[place.journal].popleft()
            if place.journal != TASKS:
                self._open[place.journal, place.id].remove(place)
            yield from self._row(place)

    def _ready(self, place: Place, until: float) -> bool:
        if until == math.inf:
            return True
        if place.journal == CALLS and self._told.announced[place.id] and not self._calls.announced[place.id]:
            return False
        return place.time is None or place.time < until

    def _row(self, place: Place) -> Iterator[Item]:
        """Yield what a row of another journal gives."""
        record = self._read(place)
        self._note_output(record.row)
        if place.journal == CALLS:
            yield from self._calls.completed(record)
        elif place.journal == COMPACTIONS:
            words = {"copied_context": True}
            yield self._maker.kept("compaction", record, stamp="created_at", words=words)
        else:
            yield self._task(record, place)

    def _task(self, record: Record, place: Place) -> Item:
        """Return a snapshot of a background task; the last one of its task is its state."""
        self._tasks_met[place.id] += 1
        met, of = self._tasks_met[place.id], self._tasks[place.id]
        which = "last" if met == of else "first" if met == 1 else "between"
        return self._maker.kept(
            "task",
            record,
            words={"snapshot": which},
            time=place.time,
            call_id=word(record.row, "origin_tool_call_id"),
            status=word(record.row, "status"),
        )

    def _note_output(self, row: dict[str, Any]) -> None:
        """Remember an output that a row names and the folder no longer holds."""
        meta = row.get("meta")
        path = meta.get("output_path") if isinstance(meta, dict) else None
        name = path.replace("\\", "/").rpartition("/")[2] if isinstance(path, str) else ""
        if name and name not in self._outputs:
            self._expired.add(name)

    def _read(self, place: Place) -> Record:
        stream = self._streams[place.journal]
        stream.seek(place.offset)
        data = stream.read(place.length)
        return Record(
            place.journal, place.line, sha256(data).hexdigest(), tolerant(data.lstrip(b"\0")), place.key
        )


def _time(journal: str, row: dict[str, Any]) -> float | None:
    """Return when a journal's row happened: a result's end, a task's latest stamp."""
    if journal == TASKS:
        finished = epoch_time(row.get("finished_at"))
        return finished if finished is not None else epoch_time(row.get("started_at"))
    for key in ("ts_end", "ts_start", "created_at"):
        seconds = iso_time(row.get(key))[0]
        if seconds is not None:
            return seconds
    return None


def _tell(stream: BinaryIO, told: _Told) -> None:
    """Read what the messages say of rows in other journals."""
    for line in lines(stream):
        if line.data is None or not any(sign in line.data for sign in _TELLING):
            continue
        try:
            row = tolerant(line.data.lstrip(b"\0")).value
        except (ValueError, RecursionError):
            continue
        if not isinstance(row, dict):
            continue
        if row.get("role") == "tool":
            told.confirmed[word(row, "tool_call_id")] += 1
        elif special(row) == "compact_boundary":
            told.compactions[word(row["meta"], "compact_id")] += 1
        else:
            told.announced.update(word(call, "id") for call in announced(row))
