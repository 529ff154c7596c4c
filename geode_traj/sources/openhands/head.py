"""What OpenHands says of a conversation beside its events: its state, its metadata, what it used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from geode_traj.model.event import Event
from geode_traj.sources.fields import listed, member, number, objects, without, word
from geode_traj.sources.openhands.meter import Meter, of_response
from geode_traj.sources.record import Record

_IDS: Final = ("conversation_id", "id", "instance_id", "sid")
_WORDS: Final = ("agent", "workspace", "title", "metadata", "instruction", "selected_repository")


def session_of(value: Any) -> str:
    """Return the conversation's own id, "" where nothing tells it."""
    return next((word(value, key) for key in _IDS if word(value, key)), "")


def is_metered(value: Any) -> bool:
    """Tell whether a state says what its conversation used."""
    return any(isinstance(one, dict) for _, one in _metrics(value))


def started(record: Record) -> Event:
    """Return the start of a conversation."""
    value = record.value
    words = {key: value[key] for key in _WORDS if key in value}
    model = word(value, "agent", "llm", "model") or word(value, "metadata", "llm_config", "model")
    return record.event("session.started", words, without(value, *words), status="active", model=model)


def used(record: Record) -> Iterator[Event]:
    """Yield what each response used, or where only sums are kept, those.

    The costs are of the responses where there are as many of them.
    """
    for purpose, metrics in _metrics(record.value):
        if not isinstance(metrics, dict):
            continue
        responses, costs = listed(metrics.get("token_usages")), listed(metrics.get("costs"))
        for place, one in enumerate(objects(responses)):
            cost = number(costs[place], "cost") if len(costs) == len(responses) else None
            words = of_response(
                one, cost_usd=cost, purpose=purpose or None, response_id=word(one, "response_id") or None
            )
            yield record.event("usage.recorded", words, model=word(one, "model"))
        total = None if responses else Meter().used(purpose, metrics, purpose=purpose or None)
        if total is not None and any(isinstance(one, int | float) for one in total.values()):
            yield record.event("usage.recorded", total, model=word(metrics, "model_name"))


def _metrics(value: Any) -> list[tuple[str, Any]]:
    stats = member(value, "stats", "usage_to_metrics")
    if isinstance(stats, dict):
        return sorted(stats.items())
    metrics = member(value, "metrics")
    return [("", metrics)] if isinstance(metrics, dict) and "accumulated_cost" in metrics else []
