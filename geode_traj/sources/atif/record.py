"""One record of an ATIF document, a trajectory or a step."""

from __future__ import annotations

from typing import Any

from geode_traj.model.event import Event
from geode_traj.sources import record, values
from geode_traj.sources.atif.document import Trajectory
from geode_traj.sources.base import Input
from geode_traj.sources.fields import word


class Record(record.Record):
    """A record with its number in the document and its native key within its session.

    `model` is who answered, `copied` tells that a step repeats another trajectory's.
    """

    def __init__(
        self, given: Input, trajectory: Trajectory, number: int, key: str, value: dict[str, Any]
    ) -> None:
        super().__init__(given, trajectory.session_id, number, key, value, "step")
        self.time, self.time_rule = values.iso_time(value.get("timestamp"))
        self.copied = value.get("is_copied_context") is True
        self.model = word(value, "model_name") or word(trajectory.agent, "model_name")

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
        """Return the next event of the record, marked where the record is a copy."""
        marked = {"copied_context": True} if self.copied and not raw else {}
        return super().event(kind, words | marked, fields, raw=raw, session_id=session_id, **columns)

    def unread_time(self) -> dict[str, Any]:
        """Return the timestamp as a field to keep, where it is there and could not be read."""
        given = self.value.get("timestamp")
        return {} if given is None or self.time is not None else {"timestamp": given}
