"""One record of a log and the events made of it."""

from __future__ import annotations

from typing import Any

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event
from geode_traj.sources import provenance, values
from geode_traj.sources.base import Input


class Record:
    """A record with its number in its unit, from 1, and its key there; its events are numbered as made."""

    def __init__(self, given: Input, session_id: str, number: int, key: str, read: Tolerated) -> None:
        self.read = read
        self.value: dict[str, Any] = read.value if isinstance(read.value, dict) else {"value": read.value}
        self.name = ""
        self.session_id = session_id
        self.made = 0
        self.mended: list[Tolerated] = []
        """What was put into the record from elsewhere and had to be mended."""
        self._given = given
        self._number = number
        self._key = key
        self._sha256 = sha256_bytes(dumps(read.value))
        self._read_as_it_was = Tolerated(read.value, read.escaped, read.nonfinite, read.duplicates)

    def event(
        self,
        kind: str,
        words: dict[str, Any],
        fields: dict[str, Any] | None = None,
        *,
        time: Any = None,
        raw: bool = False,
        session_id: str = "",
        **columns: Any,
    ) -> Event:
        """Return the next event; `fields` is what no word of its payload holds, `time` an ISO 8601 text."""
        seconds, rule = values.iso_time(time)
        payload = dict(words)
        read = self.read if self.made == 0 else Tolerated(None)  # repeated keys are told once
        payload["_legacy"] = provenance.legacy(self._given, self.name, self._number, fields or {}, read)
        payload["_legacy"]["source_digest"] = self._given.file_sha256 or self._given.sha256
        escaped: set[str] = set()
        nonfinite: set[str] = set()
        for one in (self._read_as_it_was, *self.mended):
            met = provenance.marks(payload, one)
            escaped |= set(met[0])
            nonfinite |= set(met[1])
        event = Event(
            kind=kind,
            session_id=session_id or self.session_id,
            line=self._number,
            record_sha256=self._sha256,
            payload=payload,
            time=seconds,
            key=self._key,
            n=self.made,
            raw=raw,
            escaped=tuple(sorted(escaped)),
            nonfinite=tuple(sorted(nonfinite)),
            time_rule=rule,
            **columns,
        )
        self.made += 1
        return event
