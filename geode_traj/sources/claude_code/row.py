"""One row while it is read: what all its events share, and the events it gives."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from geode_traj.codec.canonical import dumps
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event, Item
from geode_traj.sources import marks
from geode_traj.sources.base import Input
from geode_traj.sources.claude_code.records import CONTEXT
from geode_traj.sources.claude_code.survey import ABANDONED, ACTIVE, LEAF
from geode_traj.sources.values import iso_time


@dataclass(slots=True)
class Row:
    """A row, its place and its sessions: `session` its own, `main` the one it is, or runs, under.

    `value` is the row as it was read; `rest` collects what found no place in a payload and goes into the
    first event's `_legacy.fields`.
    """

    given: Input
    number: int
    sha256: str
    read: Tolerated
    session: str
    main: str
    flags: int
    items: list[Item] = field(default_factory=list)
    rest: dict[str, Any] = field(default_factory=dict)
    value: dict[str, Any] = field(init=False)
    name: str = ""
    time: float | None = None
    _rule: str = ""
    _key: str = ""
    _content: str = ""
    _first: Event | None = None
    _events: int = 0
    _marked: bool = False

    def __post_init__(self) -> None:
        value: dict[str, Any] = self.read.value
        self.value = value
        kind = value.get("type")
        self.name = kind if isinstance(kind, str) else ""
        stamp = value.get("timestamp")
        self.time, self._rule = iso_time(stamp)
        if stamp is not None and not (self.time is not None and stamp.endswith("Z")):
            self.rest["timestamp"] = stamp  # its zone, or what is no time
        self._marked = bool(self.read.escaped or self.read.nonfinite)
        uuid = value.get("uuid")
        if isinstance(uuid, str) and uuid:
            self._key = uuid
            said = {key: value for key, value in value.items() if key not in CONTEXT}
            self._content = f"{uuid}:{hashlib.sha256(dumps(said)).hexdigest()[:16]}"

    @property
    def first(self) -> Event:
        """The row's first event."""
        if self._first is None:
            raise RuntimeError("a row gives at least one event")
        return self._first

    def taken(self, read: Tolerated) -> Any:
        """Return a value that was read beside the transcript, to stand in a payload of this row."""
        if read.escaped or read.nonfinite:
            self._marked = True
            return marks.put(read)
        return read.value

    def event(
        self,
        kind: str,
        payload: dict[str, Any],
        *,
        call_id: str = "",
        role: str = "",
        status: str = "",
        model: str = "",
        rest: dict[str, Any] | None = None,
    ) -> Event:
        """Add the row's next event; `rest` is what of its block found no place."""
        legacy: dict[str, Any] = {
            "event": self.name,
            "line_number": self.number,
            "source_digest": self.given.sha256,
            "source_path": self.given.name,
        }
        payload["_legacy"] = legacy
        n = self._events
        self._events += 1
        if self.flags & (ACTIVE | ABANDONED):
            payload["branch"] = "abandoned" if self.flags & ABANDONED else "active"
            if self.flags & LEAF and n == 0:
                payload["active_leaf"] = True
        if rest:
            legacy["fields"] = {"block": rest}
        event = Event(
            kind=kind,
            session_id=self.session,
            line=self.number,
            record_sha256=self.sha256,
            payload=payload,
            time=self.time,
            key=self._key,
            n=n,
            call_id=call_id,
            role=role,
            status=status,
            model=model,
            content_key=f"{self._content}:{n}" if self._content else "",
            time_rule=self._rule,
        )
        self.items.append(event)
        if n == 0:
            self._first = event
        return event

    def finish(self) -> list[Item]:
        """Return the row's items: the first event carries what found no place."""
        first = self.first
        legacy = first.payload["_legacy"]
        if first.time is None and self.value.get("timestamp") is not None:
            legacy["timestamp_invalid"] = True
        if self.read.duplicates:
            legacy["duplicates"] = dict(self.read.duplicates)
        if self.rest:
            legacy["fields"] = self.rest | legacy.get("fields", {})
        if self._marked:
            for item in self.items:
                if isinstance(item, Event):
                    item.payload, item.escaped, item.nonfinite = marks.take(item.payload)
        return self.items
