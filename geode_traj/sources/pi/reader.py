"""The entries of one session file in order."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.jsonl import Line
from geode_traj.codec.reading import Tolerated
from geode_traj.contract.ids import foreign_event_id
from geode_traj.model.event import Event, Item, Link, Loss
from geode_traj.sources.base import Input
from geode_traj.sources.calls import Calls
from geode_traj.sources.chat.record import Record
from geode_traj.sources.fields import text_of, without
from geode_traj.sources.lines import LineFlags
from geode_traj.sources.pi import messages, usage
from geode_traj.sources.pi.known import STATES, SUMMARIES, is_header, session_of
from geode_traj.sources.pi.tree import ABANDONED, ACTIVE, DANGLING, KEPT_LOST, LEAF

_HEAD: Final[tuple[str, ...]] = ("cwd", "version", "harness", "title")
# What an entry says of where it stands, rather than of what happened.
_FRAME: Final[tuple[str, ...]] = ("type", "id", "parentId", "timestamp")
# What a later version of the program changes in old files: it tells no entry from another.
_REWRITTEN: Final = frozenset("id parentId version firstKeptEntryId firstKeptEntryIndex".split())


class Reader:
    """Reads the rows of one file; it keeps the calls that wait for a result."""

    def __init__(self, given: Input, tree: LineFlags) -> None:
        self._given = given
        self._tree = tree
        self._session = given.default_session
        if not given.override and self._session == given.stem:
            self._session = session_of(self._session)
        self._named = False
        self._calls = Calls()
        self._met: Counter[str] = Counter()
        self._time: float | None = None
        self._origin = ""
        self._is_agent = False

    def rows(self, line: Line, sha256: str, read: Tolerated) -> Iterator[Item]:
        """Yield what a row gives: at least one event."""
        row: dict[str, Any] = read.value
        head = is_header(row)
        if head and (row["id"] != self._session or not self._named):
            yield from self.end()
            self._begin(row)
        record = self._record(line.number, row, read)
        flags = self._tree.at(line.number)
        if flags & (ACTIVE | ABANDONED):
            record.branch = "abandoned" if flags & ABANDONED else "active"
        kind = record.name
        message = row.get("message")
        if head:
            self._head(record, row)
        elif kind == "message" and isinstance(message, dict):
            record.rest |= without(row, "type", "timestamp", "message")
            if not messages.read(record, self._calls, message):
                record.unknown()
        else:
            self._entry(record, row, kind, lost=bool(flags & KEPT_LOST))
        first = next(item for item in record.items if isinstance(item, Event))
        if flags & LEAF:
            first.payload["active_leaf"] = True
        if self._given.grown:
            self._known_as(record)
        yield from record.finish()
        if flags & DANGLING:
            yield Loss("dangling_parent")
        if not head:  # a fork's is later than what it repeats
            yield from self._skew(record)

    def end(self) -> Iterator[Item]:
        """Yield what only the end of a session shows: its open calls, and where it came from."""
        yield from self._calls.losses()
        if self._origin:
            yield Link(self._session, "parent" if self._is_agent else "fork", self._origin)

    def _begin(self, row: dict[str, Any]) -> None:
        self._session, self._named = row["id"] or self._session, True
        self._calls, self._met, self._time, self._is_agent = Calls(), Counter(), None, False
        origin = row.get("parentSession", row.get("branchedFrom"))
        origin = session_of(origin) if isinstance(origin, str) else ""
        self._origin = origin if origin != self._session else ""

    def _record(self, number: int, row: dict[str, Any], read: Tolerated) -> Record:
        """Return a record whose identity is what it says, whichever version of the program wrote it."""
        said = {key: value for key, value in row.items() if key not in _REWRITTEN}
        message = row.get("message")
        if isinstance(message, dict) and message.get("role") == "hookMessage":
            said["message"] = {**message, "role": "custom"}
        sha256 = hashlib.sha256(dumps(said)).hexdigest()
        kind, own, stamp = row.get("type"), row.get("id"), row.get("timestamp")
        record = Record(self._given, number, sha256, read, self._session)
        record.name = kind if isinstance(kind, str) else ""
        if isinstance(own, str) and own:
            record.key = own
            record.content_key = f"{own}:{sha256[:16]}" if kind != "session" else ""
        elif isinstance(stamp, str):
            self._met[sha256] += 1
            record.content_key = f"{stamp}:{sha256[:16]}:{self._met[sha256]}"
        if not record.stamp(stamp):
            record.rest["timestamp"] = stamp
        if record.time is None and isinstance(message, dict):
            record.stamp(message.get("timestamp"))
        return record

    def _head(self, record: Record, row: dict[str, Any]) -> None:
        record.rest |= without(row, "type", "timestamp", "provider", "modelId", *_HEAD)
        if row["id"] == record.session_id:
            del record.rest["id"]
        columns: dict[str, Any] = {
            "provider": text_of(row, "provider", record.rest),
            "model": text_of(row, "modelId", record.rest),
        }
        words = {key: row[key] for key in _HEAD if key in row}
        record.event("session.started", words, status="active", **columns)

    def _entry(self, record: Record, row: dict[str, Any], kind: str, *, lost: bool) -> None:
        """Add what an entry gives that is no message."""
        own = without(row, *_FRAME)
        frame = {key: row[key] for key in row if key in ("id", "parentId")}
        columns: dict[str, Any] = {}
        if kind == "custom_message":
            record.rest |= frame
            messages.injected(record, row, own)
            record.rest |= own
        elif kind in SUMMARIES:
            record.rest |= frame
            payload = {"content": own.pop("summary", None), "record": own}
            if lost:
                payload["first_kept"] = "missing"
                record.items.append(Loss("dangling_first_kept_entry"))
            record.kept(kind, payload)
        elif kind == "model_usage":
            record.rest |= frame | without(own, "usage", "purpose", "model", "provider")
            columns = {key: text_of(own, key, record.rest) for key in ("model", "provider")}
            purpose = text_of(own, "purpose", record.rest) or None
            payload, left = usage.payload(own.get("usage"), None, purpose)
            record.rest |= {"usage": left} if left else {}
            record.event("usage.recorded", payload, **columns).payload.pop("branch", None)
        elif kind in STATES:
            record.rest |= frame
            self._is_agent |= kind == "session_init" and bool(own.get("task"))
            if kind == "model_change":
                columns = {
                    "model": text_of(own, "modelId", {}) or text_of(own, "model", {}),
                    "provider": text_of(own, "provider", {}),
                }
            record.kept(kind, {"record": own}, **columns)
        else:
            record.unknown()

    def _skew(self, record: Record) -> Iterator[Item]:
        if record.time is not None:
            if self._time is not None and record.time < self._time:
                yield Loss("time_out_of_order")
            self._time = record.time

    def _known_as(self, record: Record) -> None:
        """Name the ids that entries were stored under before the program gave them ids of their own."""
        for item in record.items:
            if isinstance(item, Event) and record.key:
                old = foreign_event_id("pi", record.session_id, str(record.line), item.n, record.sha256)
                item.aliases = (old,)
