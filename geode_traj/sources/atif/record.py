"""One record of an ATIF document, a trajectory or a step, and the events made of it."""

from __future__ import annotations

from typing import Any

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event
from geode_traj.sources import provenance, values
from geode_traj.sources.atif.document import Trajectory
from geode_traj.sources.base import Input
from geode_traj.sources.fields import word


class Record:
    """A record with its number in the document, from 1, and its native key within its session."""

    def __init__(
        self, given: Input, trajectory: Trajectory, number: int, key: str, value: dict[str, Any]
    ) -> None:
        self.value = value
        self.number = number
        self.met: Tolerated | None = None
        self.copied = value.get("is_copied_context") is True
        self.name = "step"
        self.model = word(value, "model_name") or word(trajectory.agent, "model_name")
        self._given = given
        self._session = trajectory.session_id
        self._key = key
        self._sha256 = ""
        self._made = 0

    def event(
        self,
        kind: str,
        words: dict[str, Any],
        fields: dict[str, Any] | None = None,
        *,
        session_id: str = "",
        raw: bool = False,
        **columns: Any,
    ) -> Event:
        """Return the next event of the record; `fields` is what no word of its payload holds."""
        if not self._sha256:
            self._sha256 = sha256_bytes(dumps(self.value))
        seconds, rule = values.iso_time(self.value.get("timestamp"))
        payload = dict(words)
        if self.copied and not raw:
            payload["copied_context"] = True
        read = Tolerated(self.value)
        if self.met is not None:
            read = Tolerated(self.value, self.met.escaped, self.met.nonfinite, self.met.duplicates)
        payload["_legacy"] = provenance.legacy(self._given, self.name, self.number, fields or {}, read)
        payload["_legacy"]["source_digest"] = self._given.file_sha256 or self._given.sha256
        escaped, nonfinite = provenance.marks(payload, read)
        event = Event(
            kind=kind,
            session_id=session_id or self._session,
            line=self.number,
            record_sha256=self._sha256,
            payload=payload,
            time=seconds,
            key=self._key,
            n=self._made,
            raw=raw,
            escaped=escaped,
            nonfinite=nonfinite,
            time_rule=rule,
            **columns,
        )
        self._made += 1
        return event

    def unread_time(self) -> dict[str, Any]:
        """Return the timestamp as a field to keep, where it is there and could not be read."""
        given = self.value.get("timestamp")
        return {} if given is None or values.iso_time(given)[0] is not None else {"timestamp": given}
