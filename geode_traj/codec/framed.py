r"""Trajectory files, line-framed: one event a line between two lines that hold the rest.

`{…,"events":[` newline, one event a line with `,` after all but the last, newline, `],…}` newline. Such a
file is read, checked and written with one event in memory. Any other JSON layout is read whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.jsonl import MAX_LINE, lines
from geode_traj.codec.reading import loads
from geode_traj.errors import DataError

MAX_WHOLE: Final = 64 << 20
"""Bytes of a document that is read whole: its values can take twenty times as much memory."""

_OPENING: Final = b'"events":['


@dataclass(frozen=True, slots=True)
class EventText:
    """One event as it stands in the file: ordinal from 1, its value, its bytes if line-framed, where."""

    ordinal: int
    value: Any
    data: bytes | None = None
    line: int | None = None
    offset: int | None = None


@dataclass(slots=True)
class Document:
    """A trajectory file being read: iterate `events`; `head` (all but events) is complete only afterwards.

    `framed` tells the layout. Reading raises `DataError` TE202 to TE204 and TE209 with the file's place.
    """

    framed: bool
    events: Iterator[EventText]
    head: dict[str, Any] = field(default_factory=dict)


def is_framed(first_line: bytes) -> bool:
    """Tell from the first line (without its end) whether a file is line-framed."""
    return first_line.startswith(b"{") and first_line.endswith(_OPENING)


def read(stream: BinaryIO, *, place: str = "", size: int | None = None) -> Document:
    """Start reading a trajectory from a seekable stream, its first `size` bytes if given."""
    first = stream.readline(MAX_LINE if size is None else min(MAX_LINE, size))
    stream.seek(0)
    if is_framed(first.rstrip(b"\r\n")):
        document = Document(True, iter(()))
        document.events = _framed_events(stream, document, place, size)
        return document
    head, events = _whole(stream, place, size)
    return Document(False, _numbered(events), head)


def _numbered(events: list[Any], done: int = 0) -> Iterator[EventText]:
    """Yield events as they are asked for, since as many objects more would take as much memory again."""
    for ordinal in range(done, len(events)):
        yield EventText(ordinal + 1, events[ordinal])


def _whole(stream: BinaryIO, place: str, size: int | None) -> tuple[dict[str, Any], list[Any]]:
    data = stream.read(MAX_WHOLE + 1 if size is None else min(MAX_WHOLE + 1, size))
    if len(data) > MAX_WHOLE:
        raise DataError("TE203", limit=MAX_WHOLE, place=place)
    value = loads(data, place=place)
    if not isinstance(value, dict) or not isinstance(value.get("events"), list):
        raise DataError("TE202", why="not an object with a list of events", place=place)
    events = value.pop("events")
    return value, events


def _framed_events(stream: BinaryIO, document: Document, place: str, size: int | None) -> Iterator[EventText]:
    done = 0
    try:
        for text in _lined_events(stream, document, place, size):
            done = text.ordinal
            yield text
        return
    except DataError as error:
        if error.code != "TE202" or done > 1:
            raise
        torn = error
    # The file may only begin like a framed one: its first events show that, before much is read.
    stream.seek(0)
    try:
        head, events = _whole(stream, place, size)
    except DataError:
        raise torn from None
    document.framed = False
    document.head.update(head)
    yield from _numbered(events, done)


def _lined_events(stream: BinaryIO, document: Document, place: str, size: int | None) -> Iterator[EventText]:
    head = b""
    ordinal = 0
    comma = True
    tail_seen = False
    for line in lines(stream, size=size):
        here = f"{place}:{line.number}"
        if line.data is None:
            raise DataError("TE203", limit=MAX_LINE, place=here)
        if line.number == 1:
            head = line.data
            if "events" not in loads(head + b"]}", place=here):  # a list deeper down, or a longer name
                raise DataError("TE202", why="the events do not stand in the document itself", place=here)
        elif tail_seen:
            if line.data.strip():
                raise DataError("TE202", why="text after the end of the document", place=here)
        elif line.data.startswith(b"]"):
            if ordinal and comma:
                raise DataError("TE202", why="a comma before the end of the events", place=here)
            document.head.update(loads(head + line.data, place=here))
            document.head.pop("events")
            tail_seen = True
        else:
            if not comma:
                raise DataError("TE202", why="no comma between two events", place=here)
            comma = line.data.endswith(b",")
            data = line.data[:-1] if comma else line.data
            ordinal += 1
            yield EventText(ordinal, loads(data, place=here), data, line.number, line.offset)
    if not tail_seen:
        raise DataError("TE202", why="the file ends before its events do", place=place)


def frame(head: dict[str, Any], encode: Callable[[dict[str, Any]], bytes] = dumps) -> tuple[bytes, bytes]:
    """Return the two lines around the events, canonical; `head` holds all but events and is not changed."""
    before = {key: value for key, value in head.items() if key < "events"}
    after = {key: value for key, value in head.items() if key > "events"}
    opening = encode(before)[:-1] + (b"," if before else b"") + _OPENING + b"\n"
    closing = b"]" + (b"," if after else b"") + encode(after)[1:] + b"\n"
    return opening, closing


def join(encoded: Iterable[bytes]) -> Iterator[bytes]:
    """Put encoded events on lines of their own, commas between them."""
    pending: bytes | None = None
    for data in encoded:
        if pending is not None:
            yield pending + b",\n"
        pending = data
    if pending is not None:
        yield pending + b"\n"
