"""The records of one session as events, in order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from geode_traj.codec.canonical import dumps
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Item, Link, Loss
from geode_traj.sources import values
from geode_traj.sources.base import Input, file_text
from geode_traj.sources.gemini_cli.message import Messages
from geode_traj.sources.gemini_cli.record import Record, Said
from geode_traj.sources.gemini_cli.thread import (
    KINDS,
    Message,
    Place,
    State,
    Thread,
    carried,
    is_header,
    item,
    key_of,
)

Fetch = Callable[[Place], Tolerated]
"""Reads a state of a message again."""


class Reader:
    """Reads one session a second time, knowing from the first (`survey`) what each message finally is."""

    def __init__(self, given: Input, session: str, survey: Thread, fetch: Fetch) -> None:
        self._given = given
        self._session = session
        self._survey = survey
        self._fetch = fetch
        self._thread = Thread()
        self._messages = Messages()
        self._leaf = survey.leaf() if survey.rewinds else -1
        self._keys: dict[str, int] = {}
        self._began = False
        self._previous: float | None = None

    def record(self, place: Place, sha256: str, read: Tolerated) -> list[Item]:
        """Return what the next record gives: at least one event."""
        record = Record(self._given, self._session, place.number, sha256, read)
        states = self._thread.take(read.value, place)
        if read.duplicates:
            record.items.append(Loss("repeated_key", len(read.duplicates)))
        if "$rewindTo" in read.value and isinstance(read.value["$rewindTo"], str):
            self._rewound(record)
        elif states and states[0].place.item < 0:
            pass
        elif is_header(read.value):
            self._header(record)
        elif "$set" in read.value:
            self._set(record)
        else:
            record.event("legacy.imported", {"operation": "record", "record": read.value}, raw=True)
        for state in states:
            self._state(record, state)
        return record.items

    def end(self) -> Iterator[Item]:
        """Yield what only the end shows."""
        yield from self._messages.calls.losses()

    def _header(self, record: Record) -> None:
        value = record.value
        fields = {key: item for key, item in value.items() if key not in ("startTime", "messages")}
        if fields["sessionId"] == self._session:
            del fields["sessionId"]
        listed = carried(value)
        if listed is None and "messages" in value:
            fields["messages"] = value["messages"]
        words: dict[str, Any] = {} if not listed else {"messages": _ids(listed)}
        time = value.get("startTime")
        if self._began:
            words |= {"operation": "header"}
            record.event("legacy.imported", words, fields, name="header", time=time)
            return
        self._began = True
        for key in ("directories", "summary", "kind"):
            if key in fields:
                words[key] = fields.pop(key)
        record.event("session.started", words, fields, name="header", time=time, status="active")
        parent = _parent(self._given, value)
        if parent and parent != self._session:
            record.items.append(Link(self._session, "parent", parent))

    def _set(self, record: Record) -> None:
        given = record.value["$set"]
        rest = {key: item for key, item in record.value.items() if key != "$set"}
        listed = carried(record.value)
        words: dict[str, Any] = {"operation": "set", "set": given}
        if listed is not None:
            words["set"] = {key: item for key, item in given.items() if key != "messages"}
            words["messages"] = _ids(listed)
        time = given.get("lastUpdated") if isinstance(given, dict) else None
        record.event("legacy.imported", words, rest, name="$set", time=time)

    def _rewound(self, record: Record) -> None:
        words = {
            "operation": "rewind",
            "rewind_to": record.value["$rewindTo"],
            "messages_abandoned": self._thread.rewound,
        }
        rest = {key: item for key, item in record.value.items() if key != "$rewindTo"}
        record.event("legacy.imported", words, rest, name="$rewindTo")

    def _state(self, record: Record, state: State) -> None:
        message = self._survey.messages[state.ordinal]
        if not state.first:
            if state.place.item < 0 or state.changed:
                self._update(record, state, message)
            return
        here = record.read if state.place.item < 0 else item(record.read, state.place.item)
        final = here if message.final == state.place else self._fetch(message.final)
        if not isinstance(final.value.get("type"), str) or final.value["type"] not in KINDS:
            words = {"operation": "message", "record": final.value}
            record.event("legacy.imported", words, time=final.value.get("timestamp"), raw=record.made == 0)
            return
        said = Said(final, self._key(key_of(state.value, state.place)), f"message/{final.value['type']}")
        said.marks = self._marks(message, state.ordinal)
        before = len(record.items)
        self._messages.tell(record, said, self._tokens(message, final), copied=message.copied)
        if final is not here:
            differing = _differing(state.value, final.value)
            first = record.items[before]
            first.payload["_legacy"]["final_state_line"] = message.final.number  # type: ignore[union-attr]
            first.payload["_legacy"]["replaced_state"] = differing  # type: ignore[union-attr]
        self._skewed(record, said)

    def _update(self, record: Record, state: State, message: Message) -> None:
        """Tell of a later state of a message that stands before; of a replaced one, what it said."""
        words: dict[str, Any] = {
            "operation": "message_update",
            "message_id": state.value.get("id"),
            "message_line": message.first.number,
        }
        words["state"] = "final" if state.place == message.final else "replaced"
        if not state.changed:
            words["state"] = "repeated"
        elif state.place != message.final:
            words["replaced_state"] = _differing(state.value, self._fetch(message.final).value)
        record.event("legacy.imported", words, name="message_update", time=state.value.get("timestamp"))

    def _marks(self, message: Message, ordinal: int) -> dict[str, Any]:
        marks: dict[str, Any] = {}
        if message.copied:
            marks["copied_context"] = True
        if self._survey.rewinds and message.said:
            marks["branch"] = "abandoned" if message.abandoned else "active"
            if ordinal == self._leaf:
                marks["active_leaf"] = True
        return marks

    def _tokens(self, message: Message, final: Tolerated) -> Any:
        if message.tokens is None or message.tokens == message.final:
            return final.value.get("tokens")
        return self._fetch(message.tokens).value.get("tokens")

    def _key(self, message_id: str) -> str:
        """Return the key of a message: its id, with a number where a rewind let it be written anew."""
        count = self._keys[message_id] = self._keys.get(message_id, 0) + 1
        return message_id if count == 1 else f"{message_id}~{count}"

    def _skewed(self, record: Record, said: Said) -> None:
        seconds, _ = values.iso_time(said.value.get("timestamp"))
        if seconds is None:
            return
        if self._previous is not None and seconds < self._previous:
            record.items.append(Loss("time_out_of_order"))
        self._previous = seconds


def _differing(state: dict[str, Any], final: dict[str, Any]) -> dict[str, Any]:
    """Return what a replaced state said otherwise than the final one, and which members came only later."""
    return {
        "differing": {
            key: value for key, value in state.items() if key not in final or _differs(value, final[key])
        },
        "added_later": sorted(final.keys() - state.keys()),
        "sha256": hashlib.sha256(dumps(state)).hexdigest(),
    }


def _differs(one: Any, other: Any) -> bool:
    return dumps(one) != dumps(other)


def _ids(listed: list[Any]) -> list[Any]:
    """Return the ids of a list of messages; what has none is kept as it is."""
    return [one["id"] if isinstance(one, dict) and isinstance(one.get("id"), str) else one for one in listed]


def _parent(given: Input, header: dict[str, Any]) -> str:
    """Return the session that a sub-agent's runs under: the program names its folder by it."""
    folder = given.path.absolute().parent
    if header.get("kind") != "subagent" or folder.parent.name != "chats":
        return ""
    return file_text(folder.name)
