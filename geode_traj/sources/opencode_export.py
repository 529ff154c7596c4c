"""OpenCode exports: one JSON document, {info, messages: [{info, parts}]}, whatever the file is called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from geode_traj.codec.files import reading
from geode_traj.codec.reading import Tolerated
from geode_traj.errors import DataError
from geode_traj.model.event import Item
from geode_traj.sources.base import Input, Probe, Source, Unit
from geode_traj.sources.document import load
from geode_traj.sources.opencode.reader import Reader, first_time
from geode_traj.sources.opencode.record import FAMILY, GIVES_NOT, Record
from geode_traj.sources.parts import inside, opening
from geode_traj.sources.tables import digest

_BODY = ("messages", "todos")


class OpenCodeExport(Source):
    """One document: a session with its messages."""

    name = "opencode-export"
    family = FAMILY
    mutable = True
    reads = "OpenCode exports, one JSON document a session"
    gives_not = GIVES_NOT

    def detect(self, probe: Probe) -> bool:
        """Match one JSON object of a session's info and messages that have info and parts."""
        value = opening(probe)
        if not isinstance(value, dict) or not isinstance(value.get("info"), dict):
            return False
        messages = value.get("messages")
        if not isinstance(messages, list):
            return False
        first = next((one for one in messages if isinstance(one, dict)), None)
        if first is None:
            return "id" in value["info"] and bool(value["info"].keys() & {"directory", "projectID"})
        return isinstance(first.get("info"), dict) and "role" in first["info"]

    def units(self, given: Input) -> Iterator[Unit]:
        """Yield the one unit of the document: its session in its present state."""
        read = _load(given)
        records = list(_records(read, given))
        times = (first_time(one.info) for one in records if one.kind in ("session", "message"))
        first = next((time for time in times if time is not None), None)
        yield Unit(
            _session(read, given), digest(one.identity for one in records), len(records), first, rank=1
        )

    def items(self, given: Input) -> Iterator[Item]:
        """Yield the session, then its messages, then its plan."""
        read = _load(given)
        reader = Reader(given, _session(read, given))
        yield from reader.items(_records(read, given))
        if digest(reader.identities) != given.sha256:
            raise DataError("TE207", place=given.name)


def _records(read: Tolerated, given: Input) -> Iterator[Record]:
    value = read.value
    head = {name: item for name, item in value.items() if name not in _BODY}
    plan = value.get("todos")
    if "todos" in value and not isinstance(plan, list):
        head["todos"] = plan
    around = Tolerated(head, *_outside(read))
    yield Record("session", _session(read, given), around)
    for number, one in enumerate(inside(read, "/messages", value["messages"]), start=1):
        if not isinstance(one.value, dict):
            told = Tolerated({"info": one.value}, *_moved(one))
            yield Record("message", f"#{number}", told)
            continue
        info = one.value.get("info")
        own = info.get("id") if isinstance(info, dict) else None
        yield Record("message", own if isinstance(own, str) and own else f"#{number}", one)
    if isinstance(plan, list) and plan:
        yield Record("todo", _session(read, given), Tolerated({"info": plan}))


def _outside(read: Tolerated) -> tuple[list[str], list[str], dict[str, list[Any]]]:
    """Return what was met while reading anything but the messages."""

    def kept(pointer: str) -> bool:
        return not pointer.startswith("/messages/")

    return (
        list(filter(kept, read.escaped)),
        list(filter(kept, read.nonfinite)),
        {one: old for one, old in read.duplicates.items() if kept(one)},
    )


def _moved(read: Tolerated) -> tuple[list[str], list[str], dict[str, list[Any]]]:
    return (
        [f"/info{one}" for one in read.escaped],
        [f"/info{one}" for one in read.nonfinite],
        {f"/info{one}": old for one, old in read.duplicates.items()},
    )


def _load(given: Input) -> Tolerated:
    """Read a document whole; raise `DataError` TE208 where it is no export, else as `load`."""
    with reading(given.path) as stream:
        read = load(stream, given.size, given.name)
    value = read.value
    why = None
    if not isinstance(value, dict) or not isinstance(value.get("info"), dict):
        why = "info is missing or no object"
    elif not isinstance(value.get("messages"), list):
        why = "messages is missing or no list"
    if why:
        raise DataError("TE208", name="OpenCode", why=why, place=given.name)
    return read


def _session(read: Tolerated, given: Input) -> str:
    own = read.value["info"].get("id")
    return own if isinstance(own, str) and own else given.default_session


SOURCE = OpenCodeExport()
