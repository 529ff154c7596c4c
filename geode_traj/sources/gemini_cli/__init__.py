"""Gemini CLI sessions: `chats/session-<time>-<id>.jsonl`, a log of the states of messages.

A message is written again, whole, whenever something of it changes; `$set` changes the session's head or
brings the list of messages that the program goes on with; `$rewindTo` takes messages back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from geode_traj.codec.files import reading
from geode_traj.codec.jsonl import Line, lines
from geode_traj.codec.reading import Tolerated, tolerant
from geode_traj.errors import DataError
from geode_traj.model.event import Item
from geode_traj.sources import values
from geode_traj.sources.base import Input, Probe, Unit
from geode_traj.sources.gemini_cli.reader import Reader
from geode_traj.sources.gemini_cli.thread import KINDS, Place, Thread, is_header, item
from geode_traj.sources.lines import JsonLines
from geode_traj.sources.parts import opening

FAMILY: Final = "gemini-cli"
GIVES_NOT: Final = (
    "an explicit end",
    "turn ids",
    "cost",
    "reasoning in full (summaries of thoughts)",
    "cache creation tokens",
    "tool output past what the program kept of it",
    "the time of a call apart from its result's",
)
_LONG: Final = re.compile(rb'\s*\{\s*"(?:sessionId"\s*:\s*"[^"]{1,256}"\s*,\s*"projectHash"|\$set"\s*:\s*\{)')


class GeminiCli(JsonLines):
    """One log: a session, or that of a sub-agent."""

    name = "gemini-cli"
    reads = "Gemini CLI session logs, JSONL"
    family = FAMILY
    mutable = True  # a later line replaces a message that an earlier one wrote
    gives_not = GIVES_NOT

    def detect(self, probe: Probe) -> bool:
        """Match lines of which most are records of a session, one at least unmistakably."""
        if is_document(probe):
            return False
        seen = matched = 0
        sure = False
        for row in probe.objects():
            seen += 1
            known = _is_sure(row) or _is_message(row)
            matched += known
            sure = sure or _is_sure(row)
        if not seen:
            return probe.begins(_LONG)
        return sure and matched * 2 > seen

    def time_of(self, row: dict[str, Any]) -> float | None:
        """Return the time of a header, a message or a change."""
        head = row.get("$set")
        told = (row.get("startTime"), row.get("timestamp"))
        changed = (head.get("startTime"), head.get("lastUpdated")) if isinstance(head, dict) else ()
        times = (values.iso_time(time)[0] for time in (*told, *changed))
        return next((time for time in times if time is not None), None)

    def units(self, given: Input) -> Iterator[Unit]:
        """Yield the file's one unit; a document that the program moved into a log goes before it."""
        (whole,) = super().units(given)
        head = _head(given)
        session = head.get("sessionId") or given.default_session
        yield Unit(unit_key(session, head), whole.sha256, whole.total, whole.first_time, rank=1)

    def reader(self, given: Input) -> _Lines:
        """Return a reader that has gone through the whole file once."""
        return _Lines(given)


class _Lines:
    """Reads the lines of one log."""

    def __init__(self, given: Input) -> None:
        self._given = given
        head = _head(given)
        survey = Thread()
        for line, read in _records(given):
            survey.take(read.value, _place(line))
        survey.settle()
        self._reader = Reader(given, head.get("sessionId") or given.default_session, survey, self._fetch)

    def rows(self, line: Line, sha256: str, read: Tolerated) -> Iterable[Item]:
        """Return what a row gives."""
        return self._reader.record(_place(line), sha256, read)

    def end(self) -> Iterable[Item]:
        """Return what only the end of the file shows."""
        return self._reader.end()

    def _fetch(self, place: Place) -> Tolerated:
        """Read a state of a message again; refuse a file that has changed meanwhile."""
        with reading(self._given.path) as stream:
            stream.seek(place.offset)
            data = stream.read(place.length)
        try:
            read = tolerant(data.lstrip(b"\0"))
            return read if place.item < 0 else item(read, place.item)
        except (ValueError, RecursionError, IndexError, TypeError, AttributeError):
            raise DataError("TE207", place=self._given.name) from None


def _place(line: Line) -> Place:
    return Place(line.number, line.offset, line.length)


def _records(given: Input) -> Iterator[tuple[Line, Tolerated]]:
    """Yield the lines that are records, as they will be read again."""
    with reading(given.path) as stream:
        for line in lines(stream, size=given.size):
            try:
                read = tolerant((line.data or b"").lstrip(b"\0"))
            except (ValueError, RecursionError):
                continue
            if isinstance(read.value, dict):
                yield line, read


def _head(given: Input) -> dict[str, Any]:
    """Return the record that tells which session it is: the header, else the first change that names it."""
    for _, read in _records(given):
        if is_header(read.value):
            return dict(read.value)
        changed = read.value.get("$set")
        if isinstance(changed, dict) and isinstance(changed.get("sessionId"), str):
            return dict(changed)
    return {}


def unit_key(session: str, head: dict[str, Any]) -> str:
    """Return what stays the same while a session is written: its id, its beginning, and whose it is."""
    start = head.get("startTime")
    key = f"{session}@{start}" if isinstance(start, str) else session
    return f"{key}/subagent" if head.get("kind") == "subagent" else key


def is_document(probe: Probe) -> bool:
    """Tell a session that is one JSON object, its head and its messages, from a log that begins with one."""
    value = opening(probe)
    first, _, rest = probe.start.lstrip().partition(b"\n")
    return (
        isinstance(value, dict)
        and isinstance(value.get("sessionId"), str)
        and isinstance(value.get("messages"), list)
        and (isinstance(value.get("projectHash"), str) or isinstance(value.get("startTime"), str))
        and all(isinstance(one, dict) and "type" in one for one in value["messages"][:1])
        and not (rest.strip() and _is_whole(first))
    )


def _is_whole(line: bytes) -> bool:
    try:
        tolerant(line)
    except (ValueError, RecursionError):
        return False
    return True


def _is_message(row: dict[str, Any]) -> bool:
    kind = row.get("type")
    return isinstance(row.get("id"), str) and isinstance(kind, str) and kind in KINDS and "content" in row


def _is_sure(row: dict[str, Any]) -> bool:
    """Tell a row that no other format has."""
    if is_header(row) and "uuid" not in row:
        return True
    if isinstance(row.get("$rewindTo"), str) or isinstance(row.get("$set"), dict):
        return True
    return _is_message(row) and row["type"] == "gemini"


SOURCE = GeminiCli()
