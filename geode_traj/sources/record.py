"""One record of a transcript and the events made of it, whatever shape of file it stands in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event
from geode_traj.sources import provenance
from geode_traj.sources.base import Input

_NOTHING: Final = Tolerated(None)


@dataclass(slots=True)
class Record:
    """A record with its number in the source, from 1, and its native key.

    `name` is the native kind, `met` what a tolerant read met in the record, `time` its Unix seconds and
    `time_rule` how they were read. `same` names what it says apart from where it stands ("" for nothing):
    a copy of it elsewhere is linked, not stored again.
    """

    given: Input
    session_id: str
    number: int
    key: str
    value: Any
    name: str = ""
    met: Tolerated = _NOTHING
    time: float | None = None
    time_rule: str = ""
    sha256: str = ""
    same: str = ""
    made: int = field(default=0)

    def event(
        self,
        kind: str,
        words: dict[str, Any],
        fields: dict[str, Any] | None = None,
        *,
        raw: bool = False,
        session_id: str = "",
        **columns: Any,
    ) -> Event:
        """Return the next event of the record; `fields` is what no word of its payload holds."""
        if not self.sha256:
            self.sha256 = sha256_bytes(dumps(self.value))
        payload = dict(words)
        read = Tolerated(self.value, self.met.escaped, self.met.nonfinite, self.met.duplicates)
        payload["_legacy"] = provenance.legacy(self.given, self.name, self.number, fields or {}, read)
        payload["_legacy"]["source_digest"] = self.given.file_sha256 or self.given.sha256
        escaped, nonfinite = provenance.marks(payload, read)
        if columns.get("time") is None:
            columns |= {"time": self.time, "time_rule": self.time_rule}
        event = Event(
            kind=kind,
            session_id=session_id or self.session_id,
            line=self.number,
            record_sha256=self.sha256,
            payload=payload,
            key=self.key,
            n=self.made,
            raw=raw,
            escaped=escaped,
            nonfinite=nonfinite,
            content_key=f"{self.same}:{self.made}" if self.same else "",
            **columns,
        )
        self.made += 1
        return event

    def whole(self, operation: str = "", *, raw: bool = True) -> Event:
        """Return the record as it is: of a kind that is unknown (`raw`), or no message, call or result."""
        words = {"operation": operation or self.name or "unknown", "record": self.value}
        return self.event("legacy.imported", words, raw=raw)
