"""Values that are too large for one event, or cannot be read whole, as several events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from geode_traj.model.event import Item, Loss
from geode_traj.sources.inspect_eval.log import reason_of
from geode_traj.sources.inspect_eval.record import Record
from geode_traj.sources.inspect_eval.sample import Sample
from geode_traj.sources.inspect_eval.splitting import Part, Span


def pieces(
    sample: Sample, record: Record, pointer: str, span: Span, operation: str = "part"
) -> Iterator[Item]:
    """Yield a value in pieces, each with the pointer where it belongs; what cannot be read is a loss."""
    words: dict[str, Any]
    try:
        for part in sample.parts(span, pointer):
            words = {"operation": operation, "pointer": part.pointer}
            if part.omitted:
                yield Loss("value_too_long")
                words |= _omitted(sample, part.omitted, "string")
            else:
                words |= _words(part)
            record.mended = [part.read]
            yield record.event("legacy.imported", words)
    except (ValueError, RecursionError) as error:
        yield Loss(f"value_{reason_of(error)}")
        words = {"operation": operation, "pointer": pointer, **_omitted(sample, span, reason_of(error))}
        yield record.event("legacy.imported", words)
    record.mended = []


def _omitted(sample: Sample, span: Span, what: str) -> dict[str, Any]:
    return {"_omitted_type": what, "size": span.length, "sha256": sample.sha256(span)}


def _words(part: Part) -> dict[str, Any]:
    name = "items" if part.first is not None else "members" if part.members else "value"
    return {name: part.read.value} | ({} if part.first is None else {"first": part.first})
