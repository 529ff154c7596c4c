"""One session read record by record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from geode_traj.codec.reading import tolerant
from geode_traj.model.event import Item, Link, Loss
from geode_traj.sources import values
from geode_traj.sources.base import Input
from geode_traj.sources.opencode.messages import Messages
from geode_traj.sources.opencode.record import Record, Teller

_TOTALS: Final = (
    "cost", "tokens_input", "tokens_output", "tokens_reasoning", "tokens_cache_read", "tokens_cache_write",
)  # fmt: skip
_PARENT: Final = ("parentID", "parent_id")


class Reader:
    """Reads one session; `identities` are those of the records met, in order."""

    def __init__(self, given: Input, session: str) -> None:
        self.identities: list[str] = []
        self._given = given
        self._session = session
        self._messages = Messages()
        self._revert: dict[str, Any] = {}
        self._undone = False
        self._number = 0
        self._keys: Counter[tuple[str, str]] = Counter()
        self._said: Counter[str] = Counter()
        self._previous: float | None = None

    def items(self, records: Iterable[Record]) -> Iterator[Item]:
        """Yield what the records give, one event at least or damage for each."""
        head: Teller | None = None
        for record, following in _with_next(records):
            self.identities.append(record.identity)
            self._number += 1
            teller = Teller(self._given, self._session, self._number, record, self._key(record))
            if record.reason:
                yield teller.damage()
                continue
            if record.read.duplicates:
                yield Loss("repeated_key", len(record.read.duplicates))
            if record.kind == "session":
                head = teller
                yield from self._head(teller)
            elif record.kind == "message":
                yield from self._message(teller, following)
            else:
                self._beside(teller)
            yield from teller.events
        if head is not None:
            yield from self._children(head)
        yield from self._messages.tools.losses()

    def _key(self, record: Record) -> str:
        """Return a record's id, with a number where another has it already."""
        place = record.kind, record.key
        self._keys[place] += 1
        return record.key if self._keys[place] == 1 else f"{record.key}~{self._keys[place]}"

    def _head(self, teller: Teller) -> Iterator[Item]:
        info = teller.record.info
        self._revert = _object(info.get("revert"))
        words: dict[str, Any] = {}
        placed = {"id"} if info.get("id") == self._session else set()
        for key, word in (("title", "title"), ("directory", "cwd")):
            if info.get(key) is not None:
                words[word] = info[key]
                placed.add(key)
        totals = {key: info[key] for key in _TOTALS if info.get(key) is not None}
        if totals:  # sums over the session: what its responses took is told by each of them
            words["declared_totals"] = totals
            placed |= totals.keys()
        fields = {key: value for key, value in info.items() if key not in placed}
        more = {key: value for key, value in teller.record.read.value.items() if key != "info"}
        fields |= {"document": more} if more else {}
        teller.event(
            "session.started", words, fields, name="session", time=_created(info), status="active"
        ).payload["_legacy"]["file_digest"] = self._given.file_sha256
        for key in _PARENT:
            parent = info.get(key)
            if isinstance(parent, str) and parent and parent != self._session:
                yield Link(self._session, "parent", parent)

    def _message(self, teller: Teller, following: Record | None) -> Iterator[Item]:
        record = teller.record
        undone = self._revert.get("messageID")
        part = None
        if isinstance(undone, str):
            here = record.key == undone
            part = self._revert.get("partID") if here else None
            part = part if isinstance(part, str) else None
            self._undone = self._undone or (here and part is None)
            teller.marks["branch"] = "abandoned" if self._undone else "active"
            last = following is None or following.kind != "message" or following.key == undone
            if not self._undone and (last or part is not None):
                teller.marks["active_leaf"] = True
            self._undone = self._undone or here
        said = record.said()
        if said:
            self._said[said] += 1
            teller.is_known_by(f"{said}~{self._said[said]}")
        yield from self._messages.tell(teller, part)
        told = teller.events[0].time
        if told is not None and self._previous is not None and told < self._previous:
            yield Loss("time_out_of_order")
        self._previous = told if told is not None else self._previous

    def _beside(self, teller: Teller) -> None:
        """Tell what stands beside the messages: a plan, and what has no other name."""
        record = teller.record
        if record.kind == "todo":
            teller.event("legacy.imported", {"operation": "plan", "plan": record.info}, name="todo")
        else:
            words = {"operation": record.kind, "record": record.read.value}
            teller.event("legacy.imported", words, raw=True)

    def _children(self, head: Teller) -> Iterator[Item]:
        """Tell of sub-agents that name this session as theirs, and that no call here names."""
        made = len(head.events)
        for child in head.record.row.get("children", ()):
            if child["id"] in self._messages.tools.children:
                continue
            words = {"child_session_key": child["id"], "title": child.get("title")}
            head.event("subagent.started", words, name="session", time=child.get("time_created"))
            yield Link(child["id"], "parent", self._session)
        yield from head.events[made:]


def _with_next(records: Iterable[Record]) -> Iterator[tuple[Record, Record | None]]:
    """Yield each record with the one that follows it."""
    waiting: Record | None = None
    for record in records:
        if waiting is not None:
            yield waiting, record
        waiting = record
    if waiting is not None:
        yield waiting, None


def _object(value: Any) -> dict[str, Any]:
    """Return an object, or the one that a text holds."""
    if isinstance(value, str):
        try:
            value = tolerant(value.encode()).value
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def _created(info: dict[str, Any]) -> Any:
    times = info.get("time")
    return times.get("created") if isinstance(times, dict) else info.get("time_created")


def first_time(info: Any) -> float | None:
    """Return when a session or a message began, in Unix seconds."""
    return values.epoch_time(_created(info), unit=0.001) if isinstance(info, dict) else None
