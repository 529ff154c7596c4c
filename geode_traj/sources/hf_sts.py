"""Session traces in Hugging Face's simple format: a head that names the harness, then one message a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.jsonl import Line
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Item, Loss
from geode_traj.sources.base import Input, Probe
from geode_traj.sources.calls import Calls
from geode_traj.sources.chat.openai import Names, read
from geode_traj.sources.chat.record import Record
from geode_traj.sources.fields import without
from geode_traj.sources.lines import JsonLines
from geode_traj.sources.pi.known import look
from geode_traj.sources.values import epoch_time, iso_time

_NAMES: Final = Names("toolCalls", "toolCallId")
_HEAD: Final[tuple[str, ...]] = ("harness", "name")


class HfSts(JsonLines):
    """One session trace."""

    name = "hf-sts"
    reads = "Hugging Face session traces (simple format) JSONL"
    gives_not = ("an explicit end", "message ids", "turn ids", "the provider", "usage", "errors of tools")

    def detect(self, probe: Probe) -> bool:
        """Match a head that names a harness, or messages without one, where no entry is Pi's."""
        head, seen, entries, bare = look(probe.objects())
        if head is None:
            return not entries and bare * 2 > seen
        return "harness" in head and not entries

    def time_of(self, row: dict[str, Any]) -> float | None:
        """Return a message's time where it can be read."""
        message = row.get("message")
        given = message.get("timestamp") if isinstance(message, dict) else row.get("timestamp")
        return epoch_time(given, unit=0.001) if not isinstance(given, str) else iso_time(given)[0]

    def reader(self, given: Input) -> _Reader:
        """Return a reader of one trace's lines."""
        return _Reader(given)


class _Reader:
    """Reads the lines of one file; a head names the session of what follows it."""

    def __init__(self, given: Input) -> None:
        self._given = given
        self._session = given.default_session
        self._calls = Calls()
        self._time: float | None = None

    def rows(self, line: Line, sha256: str, read_row: Tolerated) -> Iterator[Item]:
        """Yield what a line gives."""
        row: dict[str, Any] = read_row.value
        kind, message = row.get("type"), row.get("message")
        head = kind == "session"
        if head and isinstance(row.get("id"), str) and row["id"]:
            yield from self.end()
            self._session, self._calls, self._time = row["id"], Calls(), None
        record = Record(self._given, line.number, sha256, read_row, self._session)
        record.name = kind if isinstance(kind, str) else ""
        if head:
            record.rest = without(row, "type", *_HEAD)
            if record.rest.get("id") == self._session:
                del record.rest["id"]
            if record.stamp(row.get("timestamp")):
                record.rest.pop("timestamp", None)
            words = {key: row[key] for key in _HEAD if key in row}
            record.event("session.started", words, status="active")
        elif kind == "message" and isinstance(message, dict):
            record.rest = without(row, "type", "message")
            record.stamp(message.get("timestamp"))
            read(record, self._calls, message, line.number, _NAMES)
        else:
            record.unknown()
        yield from record.finish()
        if record.time is not None:
            if self._time is not None and record.time < self._time:
                yield Loss("time_out_of_order")
            self._time = record.time

    def end(self) -> Iterator[Item]:
        """Yield what only the end of a session shows: its open calls."""
        return self._calls.losses()


SOURCE = HfSts()
