"""The conversation that a log of states tells: which record says what a message finally is.

A message may be written several times, each time whole; it stands where it was written first, and what it was
last counts. A rewind takes messages back: they are another message if they are written again. `$set` may
carry the whole list that the program goes on with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from geode_traj.codec.canonical import dumps
from geode_traj.codec.reading import Tolerated

KINDS: Final = frozenset({"user", "gemini", "info", "warning", "error"})
_SAID: Final = ("user", "gemini")


class Place(NamedTuple):
    """Where a state of a message stands: a record, and which of the list that the record carries, or -1.

    `offset` and `length` are the record's bytes in a file of lines.
    """

    number: int
    offset: int
    length: int
    item: int = -1


@dataclass(slots=True)
class Message:
    """One message: its first and its final state, the last state that told its tokens, and what became of it.

    `copied`: it was written only when the history was rewritten. `digest` is of the latest state so far.
    """

    first: Place
    final: Place
    tokens: Place | None = None
    abandoned: bool = False
    copied: bool = False
    digest: bytes = b""
    said: bool = False


class State(NamedTuple):
    """One state of a message as a record gives it: the message's number, and whether it is its first."""

    ordinal: int
    first: bool
    changed: bool
    place: Place
    value: dict[str, Any]


class Thread:
    """Follows the records of one session in order."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.rewinds = 0
        self.rewound = 0
        self._known: dict[str, int] = {}
        self._current: dict[str, None] = {}

    def take(self, record: dict[str, Any], place: Place) -> list[State]:
        """Take the next record; return the states of messages that it holds."""
        target = record.get("$rewindTo")
        if isinstance(target, str):
            self._rewind(target)
            return []
        if is_message(record):
            return [self._state(record, place, copied=False)]
        listed = carried(record)
        return [] if listed is None else list(self._listed(listed, place))

    def settle(self) -> None:
        """Forget, after the last record, what only the next one would need."""
        self._known.clear()
        self._current.clear()
        for message in self.messages:
            message.digest = b""

    def leaf(self) -> int:
        """Return the number of the last message that is neither abandoned nor copied, -1 for none."""
        for number in range(len(self.messages) - 1, -1, -1):
            message = self.messages[number]
            if message.said and not message.abandoned and not message.copied:
                return number
        return -1

    def _listed(self, listed: list[Any], place: Place) -> Iterator[State]:
        """Take a list that stands for the conversation: where it leaves messages out, it rewrites it."""
        given = {key_of(one, place) for one in listed if isinstance(one, dict)}
        rewritten = any(key not in given and self.messages[self._known[key]].said for key in self._current)
        current: dict[str, None] = {}
        for index, one in enumerate(listed):
            if isinstance(one, dict) and is_message(one):
                here = place._replace(item=index)
                current[key_of(one, here)] = None
                yield self._state(one, here, copied=rewritten)
        self._current = current

    def _state(self, value: dict[str, Any], place: Place, *, copied: bool) -> State:
        key = key_of(value, place)
        ordinal = self._known.get(key, -1)
        first = ordinal < 0
        if first:
            ordinal = self._known[key] = len(self.messages)
            said = value.get("type") in _SAID
            self.messages.append(Message(place, place, copied=copied, said=said))
        self._current[key] = None
        message = self.messages[ordinal]
        digest = hashlib.sha256(dumps(value)).digest()[:16]
        changed = digest != message.digest
        if changed:
            message.final, message.digest = place, digest
        if value.get("tokens") is not None:
            message.tokens = place
        return State(ordinal, first, changed, place, value)

    def _rewind(self, target: str) -> None:
        """Take back a message and all after it; a message that is not there takes back everything."""
        self.rewinds += 1
        self.rewound = 0
        order = self._current if target in self._current else self._known
        key = ""
        while order and key != target:
            key = next(reversed(order))
            self._current.pop(key, None)
            self.messages[self._known.pop(key)].abandoned = True
            self.rewound += 1


def is_message(record: dict[str, Any]) -> bool:
    """Tell a message from the other records: it has an id, or is of a known kind and says something."""
    if "$set" in record or is_header(record):
        return False
    kind = record.get("type")
    known = isinstance(kind, str) and kind in KINDS and "content" in record
    return known or isinstance(record.get("id"), str)


def key_of(message: dict[str, Any], place: Place) -> str:
    """Return a message's own id; one without is known by its place."""
    own = message.get("id")
    return own if isinstance(own, str) and own else f"#{place.number}.{place.item}"


def is_header(record: dict[str, Any]) -> bool:
    """Tell the record that begins a session."""
    return isinstance(record.get("sessionId"), str) and isinstance(record.get("projectHash"), str)


def carried(record: dict[str, Any]) -> list[Any] | None:
    """Return the list of messages that a record carries, None where it carries none."""
    holder = record.get("$set") if "$set" in record else record
    listed = holder.get("messages") if isinstance(holder, dict) else None
    return listed if isinstance(listed, list) else None


def item(record: Tolerated, number: int) -> Tolerated:
    """Return one of the messages that a record carries, with what a tolerant read met in it."""
    listed = carried(record.value) or []
    if not (record.escaped or record.nonfinite or record.duplicates):
        return Tolerated(listed[number])
    pointer = f"{'/$set' if '$set' in record.value else ''}/messages/{number}/"
    kept = len(pointer) - 1
    return Tolerated(
        listed[number],
        [one[kept:] for one in record.escaped if one.startswith(pointer)],
        [one[kept:] for one in record.nonfinite if one.startswith(pointer)],
        {one[kept:]: earlier for one, earlier in record.duplicates.items() if one.startswith(pointer)},
    )
