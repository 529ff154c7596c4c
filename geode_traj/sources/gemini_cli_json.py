"""Older Gemini CLI sessions: `chats/session-<time>-<id>.json`, one document that is rewritten."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import reading, sha256_bytes
from geode_traj.codec.reading import Tolerated
from geode_traj.errors import DataError
from geode_traj.model.event import Event, Item
from geode_traj.sources import values
from geode_traj.sources.base import Input, Probe, Source, Unit
from geode_traj.sources.document import load
from geode_traj.sources.gemini_cli import FAMILY, GIVES_NOT, is_document, unit_key
from geode_traj.sources.gemini_cli.reader import Reader
from geode_traj.sources.gemini_cli.thread import Place, Thread
from geode_traj.sources.parts import inside


class GeminiCliJson(Source):
    """One document: the session's head and its messages."""

    name = "gemini-cli-json"
    reads = "Gemini CLI sessions of older versions, one JSON document"
    family = FAMILY
    mutable = True
    gives_not = (*GIVES_NOT, "what a rewind took back", "replaced states of a message")

    def detect(self, probe: Probe) -> bool:
        """Match one JSON object of a session's head with a list of messages."""
        return is_document(probe)

    def units(self, given: Input) -> Iterator[Unit]:
        """Yield the one unit of the document."""
        read, messages = _load(given)
        times = (read.value.get("startTime"), *(_time(one) for one in messages))
        first = next((time for time, _ in map(values.iso_time, times) if time is not None), None)
        yield Unit(unit_key(_session(read, given), read.value), _digest(read), 1 + len(messages), first)

    def items(self, given: Input) -> Iterator[Item]:
        """Yield the head, then the messages."""
        read, messages = _load(given)
        if _digest(read) != given.sha256:
            raise DataError("TE207", place=given.name)
        met = inside(read, "/messages", messages)
        survey = Thread()
        for number, message in enumerate(messages, start=2):
            if isinstance(message, dict):
                survey.take(message, Place(number, 0, 0))
        reader = Reader(given, _session(read, given), survey, lambda place: met[place.number - 2])
        head = {key: value for key, value in read.value.items() if key != "messages"}
        marks = Tolerated(head, *_of_head(read))
        yield from reader.record(Place(1, 0, 0), sha256_bytes(dumps(head)), marks)
        for number, one in enumerate(met, start=2):
            sha256 = sha256_bytes(dumps(one.value))
            if isinstance(one.value, dict):
                yield from reader.record(Place(number, 0, 0), sha256, one)
            else:
                yield _odd(given, _session(read, given), number, sha256, one.value)
        yield from reader.end()


def _of_head(read: Tolerated) -> tuple[list[str], list[str], dict[str, list[Any]]]:
    """Return what was met while reading the head: pointers and repeated keys outside the messages."""

    def outside(pointer: str) -> bool:
        return not pointer.startswith("/messages/")

    return (
        [one for one in read.escaped if outside(one)],
        [one for one in read.nonfinite if outside(one)],
        {key: earlier for key, earlier in read.duplicates.items() if outside(key)},
    )


def _odd(given: Input, session: str, number: int, sha256: str, value: Any) -> Event:
    """Return a message that is no object, whole."""
    legacy = {"event": "", "line_number": number, "source_digest": given.sha256, "source_path": given.name}
    payload = {"operation": "message", "record": value, "_legacy": legacy}
    return Event("legacy.imported", session, number, sha256, payload, raw=True)


def _load(given: Input) -> tuple[Tolerated, list[Any]]:
    """Read a document whole; raise `DataError` TE208 where it has no messages, else as `load`."""
    with reading(given.path) as stream:
        read = load(stream, given.size, given.name)
    messages = read.value.get("messages") if isinstance(read.value, dict) else None
    if not isinstance(messages, list):
        raise DataError("TE208", name="Gemini CLI", why="messages is missing or no list", place=given.name)
    return read, messages


def _digest(read: Tolerated) -> str:
    return sha256_bytes(dumps([read.value, dict(read.duplicates)]))


def _session(read: Tolerated, given: Input) -> str:
    session = read.value.get("sessionId")
    return session if isinstance(session, str) and session else given.default_session


def _time(message: Any) -> Any:
    return message.get("timestamp") if isinstance(message, dict) else None


SOURCE = GeminiCliJson()
