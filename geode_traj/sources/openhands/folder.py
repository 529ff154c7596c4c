"""A conversation as a folder: one file an event, in `events/`, and files about it beside them."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from geode_traj.codec.files import reading
from geode_traj.codec.jsonl import MAX_LINE
from geode_traj.codec.reading import Tolerated, tolerant
from geode_traj.errors import DataError, TrajError
from geode_traj.model.event import Damaged, Item, Loss, Session
from geode_traj.sources.base import Input, file_text
from geode_traj.sources.openhands import head
from geode_traj.sources.openhands.events import Events, is_event, time_of
from geode_traj.sources.record import Record

_EVENTS: Final = "events"
_HEADS: Final = ("base_state.json", "meta.json", "metadata.json")
_EVENT: Final = re.compile(r"(?:event-(\d{5,12})-([0-9a-zA-Z-]{8,64})|(\d{1,12}))\.json", re.ASCII)
_LOOKED_AT: Final = 256


@dataclass(slots=True)
class Folder:
    """The files of one conversation: those about it, those of its events by (index, name), the others."""

    path: Path
    heads: list[str] = field(default_factory=list)
    events: list[tuple[int, str]] = field(default_factory=list)
    below: str = ""
    unread: int = 0

    @classmethod
    def open(cls, path: Path) -> Folder:
        """Return what a folder holds; raise `DataError` TE208 where no event is in it."""
        folder = cls(path)
        folder.below = f"{_EVENTS}/" if (path / _EVENTS).is_dir() else ""
        for name in _names(path):
            if name in _HEADS and (path / name).is_file():
                folder.heads.append(name)
            elif folder.below and name != _EVENTS:
                folder.unread += 1
        for name in _names(path / folder.below):
            index = _index(name)
            if index is not None and (path / folder.below / name).is_file():
                folder.events.append((index, name))
            elif name not in folder.heads and not name.endswith(".lock"):
                folder.unread += 1
        folder.events.sort()
        if not folder.events:
            raise DataError("TE208", name="openhands", why="no events in the folder", place=str(path))
        return folder

    @property
    def names(self) -> list[str]:
        """The files that are read, in order."""
        return [*self.heads, *(self.below + name for _, name in self.events)]

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the events that are there, as their files' names tell."""
        found = (_EVENT.fullmatch(name) for _, name in self.events)
        return frozenset(match[2] for match in found if match and match[2])

    @property
    def missing(self) -> int:
        """How many events are not there, by the numbers of those that are."""
        return self.events[-1][0] + 1 - len({index for index, _ in self.events})


def _names(path: Path) -> list[str]:
    return sorted((one.name for one in path.iterdir()), key=os.fsencode)


def claims(path: Path) -> bool:
    """Tell by content whether a folder is a conversation."""
    below = path / _EVENTS
    try:
        where = below if below.is_dir() else path
        with os.scandir(where) as entries:
            names = [entry.name for entry in islice(entries, _LOOKED_AT) if _index(entry.name) is not None]
        found = (_read(where / name)[1] for name in sorted(names)[:4])
        return any(read is not None and is_event(read.value) for read in found)
    except (OSError, TrajError):
        return False


def _index(name: str) -> int | None:
    found = _EVENT.fullmatch(name)
    return int(found[1] or found[3]) if found else None


def _read(path: Path) -> tuple[bytes, Tolerated | None, str]:
    """Return a file's bytes, what they hold, and why that is nothing."""
    with reading(path) as stream:
        data = stream.read(MAX_LINE + 1)
        if len(data) > MAX_LINE:
            return data, None, "line_too_long"
    try:
        return data, tolerant(data.removeprefix(b"\xef\xbb\xbf")), ""
    except RecursionError:
        return data, None, "too_deep"
    except ValueError:
        return data, None, "not_json" if not data or data.strip(b"\0 \t\r\n") else "nul_block"


class Conversation:
    """Reads one folder."""

    def __init__(self, given: Input) -> None:
        self._given = given
        self._folder = Folder.open(given.path)
        self._digest = hashlib.sha256()
        self.first_time: float | None = None

    @property
    def total(self) -> int:
        """Its records: one a file."""
        return len(self._folder.names)

    def identity(self) -> tuple[str, str]:
        """Return the conversation's id and the digest of its files; `first_time` is known then."""
        session = ""
        for name in self._folder.names:
            read = self._next(name)[1]
            if name in self._folder.heads:
                session = session or head.session_of(read.value if read else None)
            elif read is not None and self.first_time is None:
                self.first_time = time_of(read.value)[0]
        return self._given.override or session or _called(self._given.path), self._digest.hexdigest()

    def _next(self, name: str) -> tuple[bytes, Tolerated | None, str]:
        data, read, why = _read(self._folder.path / name)
        self._digest.update(os.fsencode(name) + b"\0" + hashlib.sha256(data).digest())
        return data, read, why

    def items(self, session: str) -> Iterator[Item]:
        """Yield what its files hold, then what is not there; raise `DataError` TE207 if it changed."""
        folder, metered = self._folder, False
        heads: list[Record] = []
        for number, name in enumerate(folder.heads, 1):
            data, read, why = self._next(name)
            if read is None or not isinstance(read.value, dict):
                yield _damaged(number, data, why or "not_object", session)
                continue
            record = Record(self._at(name), session, number, name, read.value, name, read)
            metered = metered or head.is_metered(read.value)
            yield record.whole(name, raw=False) if heads else head.started(record)
            heads.append(record)
        events = Events(self._given, session, ids=folder.ids, metered=metered)
        for number, (_, name) in enumerate(folder.events, len(folder.heads) + 1):
            data, read, why = self._next(folder.below + name)
            if read is None or not isinstance(read.value, dict):
                last = name == folder.events[-1][1] and why == "not_json"
                yield _damaged(number, data, "torn_tail" if last else why or "not_object", session)
                continue
            record = events.record(number, read)
            record.given = self._at(folder.below + name)
            yield from events.read(record)
        yield from events.end()
        for record in heads:
            yield from head.used(record)
        yield from self._missing(session)
        if self._digest.hexdigest() != self._given.sha256:
            raise DataError("TE207", place=self._given.name)

    def _at(self, name: str) -> Input:
        return replace(self._given, name=f"{self._given.name}/{file_text(name)}")

    def _missing(self, session: str) -> Iterator[Item]:
        if self._folder.unread:
            yield Loss("file_not_read", self._folder.unread)
        missing = self._folder.missing
        if missing > 0:
            yield Loss("event_missing", missing)
            yield Session(session, {"scope": [f"{missing} event(s) are missing from the folder"]})


def _called(path: Path) -> str:
    """Return a folder's name, or that of the folder above events that stand alone."""
    path = path.absolute()
    return file_text(path.parent.name if path.name == _EVENTS else path.name)


def _damaged(number: int, data: bytes, why: str, session: str) -> Damaged:
    kept: Any = data if len(data) <= MAX_LINE else None
    return Damaged(number, 0, len(data), hashlib.sha256(data).hexdigest(), why, kept, session)
