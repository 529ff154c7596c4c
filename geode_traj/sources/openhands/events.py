"""The events of one conversation, of either generation, wherever they are stored."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Item
from geode_traj.sources.base import Input
from geode_traj.sources.fields import word
from geode_traj.sources.openhands.v0 import V0
from geode_traj.sources.openhands.v1 import V1
from geode_traj.sources.record import Record
from geode_traj.sources.values import iso_time

_BARE_KINDS: Final = frozenset({"Condensation", "CondensationRequest", "UserRejectObservation"})
_MIN_UNIQUE: Final = 16
"""Characters of an id that no other conversation's event bears."""


def is_event(value: Any) -> bool:
    """Tell by its members whether a value is an event of either generation."""
    if not isinstance(value, dict):
        return False
    if _is_v1(value):
        return bool({"id", "timestamp", "source"} & value.keys())
    return _is_v0(value) and "timestamp" in value and bool({"id", "source"} & value.keys())


def _is_v1(value: dict[str, Any]) -> bool:
    kind = word(value, "kind")
    return kind.endswith("Event") or kind in _BARE_KINDS


def _is_v0(value: dict[str, Any]) -> bool:
    """Tell an action or an observation; what holds both texts is a step of another program's."""
    if "kind" in value or bool(word(value, "action")) == bool(word(value, "observation")):
        return False
    return bool({"args", "extras", "content", "message"} & value.keys())


def time_of(value: Any) -> tuple[float | None, str]:
    """Return an event's time and how it was read."""
    return iso_time(value.get("timestamp") if isinstance(value, dict) else None)


class Events:
    """Reads a conversation's events in order; `ids` and `metered` are as of `V1`."""

    def __init__(
        self,
        given: Input,
        session_id: str,
        *,
        ids: Container[str] | None = None,
        metered: bool = False,
    ) -> None:
        self._given, self._session = given, session_id
        self._v0 = V0(session_id)
        self._v1 = V1(ids, metered=metered)
        self._seen: dict[str, int] = {}

    def record(self, number: int, met: Tolerated, sha256: str = "") -> Record:
        """Return an event as a record under its own id, or its place where it has none."""
        value = met.value
        own = value.get("id") if isinstance(value, dict) else None
        own = str(own) if isinstance(own, str | int) and not isinstance(own, bool) else ""
        key = own or f"place:{number}"
        self._seen[key] = self._seen.get(key, 0) + 1
        if self._seen[key] > 1:  # ids may repeat: each event stays one of its own
            key += f"#{self._seen[key]}"
        record = Record(self._given, self._session, number, key, value, "event", met)
        record.time, record.time_rule = time_of(value)
        record.sha256 = sha256 or sha256_bytes(dumps(value))
        if isinstance(value, dict) and _is_v1(value) and len(own) >= _MIN_UNIQUE:
            record.same = f"{key}:{record.sha256}"
        return record

    def read(self, record: Record) -> Iterator[Item]:
        """Yield what an event gives; what is none is kept as it is."""
        value = record.value
        if isinstance(value, dict) and _is_v1(value):
            yield from self._v1.read(record)
        elif isinstance(value, dict) and _is_v0(value):
            yield from self._v0.read(record)
        else:
            record.name = word(value, "kind") or "event"
            yield record.whole()

    def end(self) -> Iterator[Item]:
        """Yield what is known only when all events were read."""
        yield from self._v1.end()
