"""One record while it is read: what all its events share, and the items it gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event, Item, Loss
from geode_traj.sources import marks, provenance
from geode_traj.sources.base import Input
from geode_traj.sources.values import epoch_time, iso_time


@dataclass(slots=True)
class Record:
    """A record, its place and its session; `name` is its native kind, `time` in Unix seconds.

    `key` is its own id or "", `content_key` as in `Event`, `branch` active, abandoned or "". `rest` collects
    what found no place in a payload and goes into the next event's `_legacy.fields`.
    """

    given: Input
    line: int
    sha256: str
    read: Tolerated
    session_id: str
    name: str = ""
    key: str = ""
    content_key: str = ""
    branch: str = ""
    time: float | None = None
    rule: str = ""
    time_invalid: bool = False
    rest: dict[str, Any] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)
    _made: int = 0

    def __post_init__(self) -> None:
        if self.read.escaped or self.read.nonfinite:
            marks.put(self.read)

    def stamp(self, given: Any) -> bool:
        """Take the record's time, ISO text or Unix milliseconds; tell whether nothing of it would be lost."""
        if given is None:
            return True
        self.time, self.rule = iso_time(given)
        if self.time is None:
            self.time = epoch_time(given, unit=0.001)
            self.time_invalid = self.time is None
            return not self.time_invalid
        return bool(given.endswith("Z")) and len(given) <= 27

    def event(
        self,
        kind: str,
        payload: dict[str, Any],
        *,
        rest: dict[str, Any] | None = None,
        raw: bool = False,
        **columns: Any,
    ) -> Event:
        """Add the next event; `rest` is what of its own part of the record found no place."""
        first = not self._made
        fields = {**self.rest, **({"block": rest} if rest else {})}
        self.rest = {}
        read = self.read if first else Tolerated(None)
        payload["_legacy"] = provenance.legacy(self.given, self.name, self.line, fields, read)
        if first and self.time_invalid:
            payload["_legacy"]["timestamp_invalid"] = True
        if self.branch:
            payload["branch"] = self.branch
        event = Event(
            kind=kind,
            session_id=self.session_id,
            line=self.line,
            record_sha256=self.sha256,
            payload=payload,
            time=self.time,
            key=self.key,
            n=self._made,
            raw=raw,
            content_key=f"{self.content_key}:{self._made}" if self.content_key else "",
            time_rule=self.rule,
            **columns,
        )
        self._made += 1
        self.items.append(event)
        return event

    def kept(self, operation: str, payload: dict[str, Any], **columns: Any) -> Event:
        """Add an event that the record contract has no kind for, `operation` naming it."""
        return self.event("legacy.imported", {"operation": operation, **payload}, **columns)

    def unknown(self) -> Event:
        """Add the record whole, since its kind is not known."""
        self.rest = {}
        payload = {"operation": self.name or "unknown", "record": self.read.value}
        return self.event("legacy.imported", payload, raw=True)

    def take(self) -> list[Item]:
        """Return the items so far, and forget them; what found no place goes into the first event of them."""
        items, self.items = self.items, []
        for item in items:
            if isinstance(item, Event):
                if self.rest:
                    legacy = item.payload["_legacy"]
                    legacy["fields"] = {**self.rest, **legacy.get("fields", {})}
                    self.rest = {}
                if self.read.escaped or self.read.nonfinite:
                    item.payload, item.escaped, item.nonfinite = marks.take(item.payload)
        return items

    def finish(self) -> list[Item]:
        """Return the items of a whole record, and how many keys it repeats."""
        items = self.take()
        if self.read.duplicates:
            items.append(Loss("repeated_key", len(self.read.duplicates)))
        return items
