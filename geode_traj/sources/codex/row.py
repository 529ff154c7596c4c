"""One line of a rollout, and the events made of it."""

from __future__ import annotations

from typing import Any, Final

from geode_traj.codec.jsonl import Line
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event
from geode_traj.sources import provenance, values
from geode_traj.sources.base import Input

_FRAME: Final = frozenset({"timestamp", "type", "payload"})


class Row:
    """One line `{timestamp, type, payload}`: `kind` is the line's type, `type` its payload's, `name` both.

    `turn_id`, `model` and the like are the file's state at this line; the reader sets them before it makes
    events. `copied` marks a line that a parent's history is repeated in.
    """

    __slots__ = (
        "_given",
        "content_key",
        "copied",
        "copied_from",
        "kind",
        "line",
        "made",
        "model",
        "name",
        "payload",
        "provider",
        "read",
        "session_id",
        "sha256",
        "turn_id",
        "type",
    )

    def __init__(self, given: Input, line: Line, sha256: str, read: Tolerated) -> None:
        value: dict[str, Any] = read.value
        kind, payload = value.get("type"), value.get("payload")
        self._given = given
        self.line = line
        self.sha256 = sha256
        self.read = read
        self.kind = kind if isinstance(kind, str) else ""
        self.payload: dict[str, Any] = payload if isinstance(payload, dict) else {}
        inner = self.payload.get("type")
        self.type = inner if isinstance(inner, str) else ""
        self.name = f"{self.kind}/{self.type}" if self.type else self.kind
        self.session_id = self.turn_id = self.model = self.provider = self.content_key = ""
        self.copied = False
        self.copied_from: tuple[str, ...] = ()
        self.made = 0

    @property
    def ordinal(self) -> int:
        """The line's own number where it carries one, else its place in the file, from 0."""
        given = self.read.value.get("ordinal")
        return given if type(given) is int else self.line.number - 1

    def event(
        self,
        kind: str,
        words: dict[str, Any],
        placed: frozenset[str] | set[str] = frozenset(),
        rest: dict[str, Any] | None = None,
        *,
        raw: bool = False,
        **columns: Any,
    ) -> Event:
        """Return the next event of the line: its first keeps what `placed` does not name of the payload.

        `rest` are further fields to keep.
        """
        seconds, rule = values.iso_time(self.read.value.get("timestamp"))
        payload = dict(words)
        if self.copied and not raw:
            payload["copied_context"] = True
        fields = {} if self.made or raw else self._fields(placed, unread=seconds is None)
        fields |= rest or {}
        payload["_legacy"] = provenance.legacy(self._given, self.name, self.line.number, fields, self.read)
        escaped, nonfinite = provenance.marks(payload, self.read)
        columns.setdefault("turn_id", self.turn_id)
        columns.setdefault("model", self.model)
        event = Event(
            kind=kind,
            session_id=self.session_id,
            line=self.line.number,
            record_sha256=self.sha256,
            payload=payload,
            time=seconds,
            key=str(self.line.offset),
            n=self.made,
            raw=raw,
            provider=self.provider,
            escaped=escaped,
            nonfinite=nonfinite,
            content_key=f"{self.content_key}:{self.made}" if self.content_key else "",
            copied_from=self.copied_from,
            time_rule=rule,
            **columns,
        )
        self.made += 1
        return event

    def kept(self, operation: str, words: dict[str, Any] | None = None, **columns: Any) -> Event:
        """Return the line as an event that the record contract has no kind for, `operation` naming it."""
        return self.event("legacy.imported", {"operation": operation, **(words or {})}, **columns)

    def unknown(self) -> Event:
        """Return the line whole, since its kind is not known."""
        return self.event(
            "legacy.imported", {"operation": self.name or "unknown", "record": self.read.value}, raw=True
        )

    def _fields(self, placed: frozenset[str] | set[str], *, unread: bool) -> dict[str, Any]:
        fields = {key: item for key, item in self.payload.items() if key not in placed}
        if self.type:
            fields.pop("type", None)
        frame = {key: item for key, item in self.read.value.items() if key not in _FRAME}
        time = self.read.value.get("timestamp")
        if time is not None and (unread or len(time) > 27):
            frame["timestamp"] = time
        if frame:
            fields["_line"] = frame
        return fields
