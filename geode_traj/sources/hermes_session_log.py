"""Hermes's legacy session logs: one JSON object a session, rewritten as it grows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import reading, sha256_bytes
from geode_traj.codec.reading import Tolerated
from geode_traj.errors import DataError
from geode_traj.model.event import Event, Item, Link
from geode_traj.sources.base import Input, Probe, Unit
from geode_traj.sources.document import JsonDocument, load
from geode_traj.sources.hermes import parts, tagged
from geode_traj.sources.hermes.beside import stored_session
from geode_traj.sources.hermes.messages import MessageRow, Messages

_LISTS = ("messages", "conversations")


class HermesSessionLog(JsonDocument):
    """Reads `session_<id>.json`, with chat rows (newer) or in training form (older)."""

    name = "hermes-session-log"
    mutable = True
    reads = "Hermes session logs, one JSON object with messages or conversations"
    gives_not = ("a time zone", "the time of a message (older shape)", "turn ids", "usage", "an explicit end")

    def detect(self, probe: Probe) -> bool:
        """Match one object with session_start, last_updated and message_count at its head or tail."""
        if not probe.start.lstrip().startswith(b"{"):
            return False
        row = next(probe.objects(1), None)
        if row is not None:
            return {"session_start", "last_updated", "message_count"} <= row.keys()
        words = (b'"session_start"', b'"last_updated"', b'"message_count"')
        return all(word in probe.head or word in probe.tail for word in words)

    def records(self, value: Any) -> list[Any]:
        """Return the head, which is a record too, and the messages."""
        return [value, *_list(value)]

    def time_of(self, record: Any) -> float | None:
        """Return when the session, or a message of it, was."""
        if not isinstance(record, dict):
            return None
        return parts.moment(record.get("session_start", record.get("timestamp")))[0]

    def units(self, given: Input) -> list[Unit]:
        """Return the one session of the file: its identity is that of its values, not its bytes."""
        with reading(given.path) as stream:
            value = load(stream, given.size, given.name).value
        if not isinstance(value, dict):
            raise DataError("TE202", why="a session log is one object", place=given.name)
        time = next((time for time in map(self.time_of, self.records(value)) if time is not None), None)
        digest = sha256_bytes(dumps(value))
        return [Unit(_name(value) or given.default_session, digest, len(self.records(value)), time)]

    def document(self, given: Input, read: Tolerated) -> Iterator[Item]:
        """Yield the start, the messages, and the link to the store's own record of the session."""
        value: dict[str, Any] = read.value
        own = given.override or _name(value) or given.default_session
        stored = stored_session(given.path, own)
        session = f"{stored}.log" if stored else own
        yield _started(given, value, read, session)
        model = value["model"] if isinstance(value.get("model"), str) else ""
        if isinstance(value.get("messages"), list):
            messages = Messages(given, session, model=model)
            for place, message in enumerate(value["messages"], start=1):
                yield from messages.take(_row(message, place, read))
            yield from messages.end()
        else:
            yield from _tagged(given, _list(value), session, model)
        if stored:
            yield Link(session, "copy", stored)


def _name(value: dict[str, Any]) -> str:
    return value["session_id"] if isinstance(value.get("session_id"), str) else ""


def _list(value: Any) -> list[Any]:
    found: list[Any] = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), [])
    return found


def _started(given: Input, value: dict[str, Any], read: Tolerated, session: str) -> Event:
    chosen = next((key for key in _LISTS if isinstance(value.get(key), list)), "")
    fields = {key: value[key] for key in value if key not in (chosen, "session_id", "model", "platform")}
    if not isinstance(value.get("model", ""), str):
        fields["model"] = value["model"]
    legacy: dict[str, Any] = {
        "event": "session_log", "line_number": 1, "source_digest": given.sha256, "source_path": given.name,
        "file_digest": given.file_sha256, "fields": fields,
    }  # fmt: skip
    if read.duplicates:
        legacy["duplicates"] = dict(read.duplicates)
    seconds, rule = parts.moment(value.get("session_start"))
    head = [pointer for pointer in read.escaped if not pointer.startswith(f"/{chosen}/")]
    return Event(
        "session.started",
        session,
        1,
        sha256_bytes(dumps([session, value.get("session_start")])),
        {"platform": value.get("platform"), "_legacy": legacy},
        time=seconds,
        key="session",
        status="active",
        model=value["model"] if isinstance(value.get("model"), str) else "",
        escaped=tuple(f"/_legacy/fields{pointer}" for pointer in head),
        time_rule=rule,
    )


def _row(message: Any, place: int, read: Tolerated) -> MessageRow:
    values = message if isinstance(message, dict) else {"value": message}
    start = f"/messages/{place - 1}"
    row = MessageRow(values, place + 1, sha256_bytes(dumps(values)), key=f"message:{place}")
    if read.escaped or read.nonfinite:
        row.escaped = [one.removeprefix(start) for one in read.escaped if one.startswith(start + "/")]
        row.nonfinite = [one.removeprefix(start) for one in read.nonfinite if one.startswith(start + "/")]
    return row


def _tagged(given: Input, turns: list[Any], session: str, model: str) -> Iterator[Event]:
    place, n = -1, 0
    for one in tagged.conversation(turns):
        n = n + 1 if one.place == place else 0
        place = one.place
        legacy: dict[str, Any] = {
            "event": one.kind, "line_number": place + 2, "source_digest": given.sha256,
            "source_path": given.name,
        }  # fmt: skip
        if one.fields:
            legacy["fields"] = one.fields
        yield Event(
            one.kind,
            session,
            place + 2,
            sha256_bytes(dumps(turns[place])),
            {**one.payload, "_legacy": legacy},
            key=f"message:{place + 1}",
            n=n,
            raw=one.raw,
            call_id=one.call_id,
            role=one.role,
            model=model if one.role == "assistant" or one.kind == "tool.called" else "",
        )


SOURCE = HermesSessionLog()
