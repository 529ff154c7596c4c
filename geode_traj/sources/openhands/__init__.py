"""OpenHands conversations of both generations: a document that lists events, or a folder of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Item
from geode_traj.sources.base import Input, Probe, Unit, file_text
from geode_traj.sources.fields import word
from geode_traj.sources.openhands import folder, head
from geode_traj.sources.openhands.events import Events, is_event, time_of
from geode_traj.sources.record import Record
from geode_traj.sources.rewritten import Rewritten, beginning, document, head_of, within

_LISTS: Final = ("items", "history", "events", "trajectory")
_GENERIC: Final = frozenset({"trajectory", "events", "history", "items", "output", "input", "conversation"})


class OpenHands(Rewritten):
    """A list of events, bare or in an object, or a conversation's folder with one file an event."""

    name = "openhands"
    reads = "OpenHands event lists (V0 and SDK), JSON, and conversation folders"
    gives_not = (
        "an explicit end, unless it was stopped",
        "turn ids",
        "session ids, in lists",
        "a time zone",
        "usage of single responses, where only sums are kept",
        "condensed history as the model saw it",
    )

    def detect(self, probe: Probe) -> bool:
        """Match a list of events of either generation, bare or in an object."""
        value = document(probe, lists=True)
        if isinstance(value, dict) and is_event(value):
            return False  # a line of a stream, or a file of a folder
        found = _listed(value)[1]
        return any(map(is_event, found[:8]))

    def claims(self, folder_: Path) -> bool:
        """Match a folder of files that each hold one event, or with such a folder `events` in it."""
        return folder.claims(folder_)

    def problem(self, value: Any) -> str | None:
        """Return what is missing: a list of events."""
        if isinstance(value, list) or _listed(value)[0]:
            return None
        return "no list of events (items, history, events or trajectory)"

    def key(self, given: Input, value: Any) -> str:
        """Return the session with a digest of how it began: lists tell no id."""
        pointer, events = _listed(value)
        own = word(value, "conversation_id") or word(value, "instance_id") if pointer else ""
        return own or f"{_session(given, value)}#{beginning(events[:2])}"

    def count(self, value: Any) -> int:
        """Count the events, and what stands around them."""
        pointer, events = _listed(value)
        return len(events) + bool(pointer)

    def first_time(self, value: Any) -> float | None:
        """Return the first event's time that can be read."""
        times = (time_of(event)[0] for event in _listed(value)[1])
        return next((time for time in times if time is not None), None)

    def run(self, given: Input, read: Tolerated, key: str) -> Iterator[Item]:
        """Yield what stands around the events, the events, and what was used where only that tells."""
        session = _session(given, read.value)
        pointer, events = _listed(read.value)
        ids = frozenset(word(event, "id") for event in events)
        around = None
        metered = False
        if pointer:
            own = {name: item for name, item in read.value.items() if f"/{name}" != pointer}
            around = Record(given, session, 1, f"{key}:head", own, "list", head_of(read, pointer))
            metered = head.is_metered(own)
            yield head.started(around)
        reader = Events(given, session, ids=ids, metered=metered)
        for number, met in enumerate(within(read, pointer, events), 1 + bool(pointer)):
            yield from reader.read(reader.record(number, met))
        yield from reader.end()
        if around is not None and not any("llm_metrics" in one for one in events if isinstance(one, dict)):
            yield from head.used(around)

    def units(self, given: Input) -> Iterator[Unit]:
        """Yield the one unit of a list, or of a folder in its present state."""
        if not given.path.is_dir():
            yield from super().units(given)
            return
        conversation = folder.Conversation(given)
        session, sha256 = conversation.identity()
        yield Unit(session, sha256, conversation.total, conversation.first_time)

    def items(self, given: Input) -> Iterator[Item]:
        """Yield the records of a list or a folder; raise `DataError` TE207 if it is not as it was planned."""
        if not given.path.is_dir():
            yield from super().items(given)
        else:
            yield from folder.Conversation(given).items(given.unit)


def _listed(value: Any) -> tuple[str, list[Any]]:
    """Return the list of events and its JSON pointer: "" for a bare list, or for none."""
    if isinstance(value, list):
        return "", value
    for key in _LISTS:
        if isinstance(value, dict) and isinstance(value.get(key), list):
            return f"/{key}", value[key]
    return "", []


def _session(given: Input, value: Any) -> str:
    """Return a list's session: the override, what is told around it, else its file's or folder's name."""
    own = head.session_of(value) if isinstance(value, dict) else ""
    stem = file_text(given.path.stem)
    if stem in _GENERIC:
        stem = file_text(given.path.absolute().parent.name) or stem
    return file_text(given.override or own or stem)


SOURCE = OpenHands()
