"""OpenHands events as JSON lines: one event a line, or one conversation a line as evaluations write them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.jsonl import Line
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event, Item
from geode_traj.sources.base import Input, Probe
from geode_traj.sources.fields import word
from geode_traj.sources.lines import JsonLines
from geode_traj.sources.openhands import head
from geode_traj.sources.openhands.events import Events, is_event, time_of
from geode_traj.sources.record import Record
from geode_traj.sources.rewritten import goes_on, head_of, within

_HISTORY: Final = "history"


class OpenHandsStream(JsonLines):
    """Reads lines of events as they were emitted, and lines of `output.jsonl`, each of them a session."""

    name = "openhands-stream"
    reads = "OpenHands event streams and evaluation outputs, JSONL"
    gives_not = (
        "session ids, in streams",
        "an explicit end, unless it was stopped",
        "turn ids",
        "a time zone",
        "usage of single responses, where only sums are kept",
    )

    def detect(self, probe: Probe) -> bool:
        """Match first objects of which most are events, or conversations; one document is no stream."""
        rows = list(probe.objects(8))
        matched = sum(is_event(row) or _conversation(row) is not None for row in rows)
        if len(rows) == 1 and _conversation(rows[0]) is not None and not goes_on(probe):
            return False
        return matched * 2 > len(rows)

    def time_of(self, row: dict[str, Any]) -> float | None:
        """Return the time of an event, or of a conversation's first."""
        history = _conversation(row)
        return time_of(row if history is None else next(iter(history), None))[0]

    def reader(self, given: Input) -> _Reader:
        """Return a reader of one file's lines."""
        return _Reader(given)


def _conversation(row: dict[str, Any]) -> list[Any] | None:
    history = row.get(_HISTORY)
    told = isinstance(history, list) and (history == [] or any(map(is_event, history[:8])))
    return history if told and "instance_id" in row else None


class _Reader:
    def __init__(self, given: Input) -> None:
        self._given = given
        self._events = Events(given, given.default_session)

    def rows(self, line: Line, sha256: str, read: Tolerated) -> Iterator[Item]:
        """Yield what an event gives, or a conversation."""
        history = _conversation(read.value)
        if history is None:
            yield from self._events.read(self._events.record(line.number, read, sha256))
        else:
            yield from self._whole(line, sha256, read, history)

    def end(self) -> Iterator[Item]:
        """Yield results whose calls never came."""
        yield from self._events.end()

    def _whole(self, line: Line, sha256: str, read: Tolerated, history: list[Any]) -> Iterator[Item]:
        """Yield one line's conversation: the line is the record of all that it gives."""
        own = {key: item for key, item in read.value.items() if key != _HISTORY}
        session = word(own, "instance_id") or f"{self._given.default_session}-{line.number}"
        around = Record(self._given, session, line.number, f"line:{line.number}", own, "output")
        around.met, around.sha256 = head_of(read, f"/{_HISTORY}"), sha256
        around.time, around.time_rule = time_of(next(iter(history), None))
        events = Events(self._given, session, metered=head.is_metered(own))
        made = 0
        for item in self._told(around, events, read, history):
            if isinstance(item, Event):
                item.key, item.n, item.line, item.record_sha256 = around.key, made, line.number, sha256
                item.raw, item.content_key = False, ""
                made += 1
            yield item

    def _told(self, around: Record, events: Events, read: Tolerated, history: list[Any]) -> Iterator[Item]:
        yield head.started(around)
        for place, met in enumerate(within(read, f"/{_HISTORY}", history), 1):
            yield from events.read(events.record(place, met))
        yield from events.end()
        if not any("llm_metrics" in one for one in history if isinstance(one, dict)):
            yield from head.used(around)


SOURCE = OpenHandsStream()
