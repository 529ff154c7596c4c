"""One record of a session while it is read, and the events that it gives."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event, Item
from geode_traj.sources import provenance, values
from geode_traj.sources.base import Input

_EXACT: Final = len("2026-01-01T00:00:00.000000Z")


@dataclass(slots=True)
class Record:
    """A record, its number from 1, its digest; `items` is what it gives."""

    given: Input
    session: str
    number: int
    sha256: str
    read: Tolerated
    items: list[Item] = field(default_factory=list)
    made: int = 0

    @property
    def value(self) -> dict[str, Any]:
        """The record as it was read."""
        value: dict[str, Any] = self.read.value
        return value

    def event(
        self,
        kind: str,
        words: dict[str, Any],
        fields: dict[str, Any] | None = None,
        *,
        name: str = "",
        said: Said | None = None,
        time: Any = None,
        raw: bool = False,
        **columns: Any,
    ) -> Event:
        """Add the record's next event.

        `fields` is what no word of the payload holds, `said` the state of a message that the event tells of;
        without one it tells of the record itself. `time` is the timestamp to read.
        """
        read = said.read if said else self.read
        seconds, rule = values.iso_time(time)
        fields = dict(fields or {})
        if time is not None and (seconds is None or not time.endswith("Z") or len(time) > _EXACT):
            fields.setdefault("timestamp", time)
        name = name or (said.name if said else "record")
        payload = dict(words)
        if said:
            payload |= said.marks
            said.marks.pop("active_leaf", None)  # one event is the leaf
        payload["_legacy"] = provenance.legacy(self.given, name, self.number, fields, read)
        payload["_legacy"]["source_digest"] = self.given.file_sha256 or self.given.sha256
        if time is not None and seconds is None:
            payload["_legacy"]["timestamp_invalid"] = True
        escaped, nonfinite = provenance.marks(payload, read)
        event = Event(
            kind=kind,
            session_id=self.session,
            line=self.number,
            record_sha256=said.sha256 if said else self.sha256,
            payload=payload,
            time=seconds,
            key=said.key if said else "",
            n=self.made,
            raw=raw,
            escaped=escaped,
            nonfinite=nonfinite,
            content_key=said.content_key() if said else "",
            time_rule=rule,
            **columns,
        )
        self.made += 1
        self.items.append(event)
        return event


@dataclass(slots=True)
class Said:
    """The final state of a message: what was read, its key in the session, marks for all its events."""

    read: Tolerated
    key: str
    name: str
    marks: dict[str, Any] = field(default_factory=dict)
    sha256: str = ""
    _content: str = ""
    _events: int = 0

    def __post_init__(self) -> None:
        self.sha256 = hashlib.sha256(dumps(self.read.value)).hexdigest()
        own = self.read.value.get("id")
        if isinstance(own, str) and own:  # an id may hold anything, a secret too
            self._content = hashlib.sha256(f"{self.key}:{self.sha256}".encode()).hexdigest()

    @property
    def value(self) -> dict[str, Any]:
        """The message."""
        value: dict[str, Any] = self.read.value
        return value

    def content_key(self) -> str:
        """Return the key of the next event by what it says, wherever it stands; "" for one without an id."""
        self._events += 1
        return f"{self._content}:{self._events}" if self._content else ""
