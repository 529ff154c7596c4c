"""How a record of a Rind session becomes events: provenance, time, marks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event
from geode_traj.sources import provenance
from geode_traj.sources.base import Input
from geode_traj.sources.values import iso_time, text

_UTC: Final = ("Z", "+00:00")


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file: a row of a journal, or a document as line 1; `key` is its own id, or ""."""

    file: str
    line: int
    sha256: str
    read: Tolerated
    key: str = ""

    @property
    def row(self) -> dict[str, Any]:
        """The record's object."""
        value: dict[str, Any] = self.read.value
        return value


class Maker:
    """Makes events of one session; `given` names the folder."""

    def __init__(self, given: Input, session_id: str) -> None:
        self._given = given
        self._base = given.name.removesuffix(f"#{given.unit}")
        self.session_id = session_id

    def event(
        self,
        kind: str,
        record: Record,
        payload: dict[str, Any],
        fields: dict[str, Any] | None = None,
        *,
        stamp: str = "",
        **columns: Any,
    ) -> Event:
        """Return an event of a record; `stamp` names its ISO time, `fields` what has no place else."""
        given = replace(self._given, name=f"{self._base}/{record.file}")
        fields = dict(fields or {})
        seconds, rule = iso_time(record.row.get(stamp)) if stamp else (None, "")
        if stamp and stamp in record.row and (seconds is None or not record.row[stamp].endswith(_UTC)):
            fields[stamp] = record.row[stamp]
        name = columns.pop("event", None) or kind
        payload["_legacy"] = provenance.legacy(given, name, record.line, fields, record.read)
        escaped, nonfinite = provenance.marks(payload, record.read)
        columns.setdefault("time", seconds)
        return Event(
            kind=kind,
            session_id=self.session_id,
            line=record.line,
            record_sha256=record.sha256,
            payload=payload,
            key=record.key,
            time_rule=rule,
            escaped=escaped,
            nonfinite=nonfinite,
            **columns,
        )

    def kept(self, operation: str, record: Record, *, raw: bool = False, **columns: Any) -> Event:
        """Return a record whole, as an operation that is neither a message nor a tool (J2)."""
        payload = {"operation": operation, "record": record.row, **columns.pop("words", {})}
        return self.event("legacy.imported", record, payload, event=operation, raw=raw, **columns)


def word(row: dict[str, Any], key: str) -> str:
    """Return a field as a column's text."""
    return text(row.get(key))
