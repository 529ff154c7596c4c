"""GT5xx, payload: what was cut, lost or left out (record contract §4)."""

from __future__ import annotations

from collections.abc import Iterator

from geode_traj.verify.facts import EventView, Facts
from geode_traj.verify.registry import Hit, event_check


@event_check("GT501", "note", "such a file cannot be replayed from its payloads alone")
def payload_issue(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A payload is marked as truncated, corrupt or omitted; each such event limits replay."""
    if event.issue:
        yield Hit("the payload is truncated, corrupt, or omitted", event.place)
