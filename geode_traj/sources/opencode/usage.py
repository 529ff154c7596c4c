"""What a model response took, told by the end of its step, else by its message."""

from __future__ import annotations

from typing import Any, Final

from geode_traj.sources import values
from geode_traj.sources.fields import is_number

_COUNTS: Final = {
    ("input",): "input_tokens",
    ("output",): "output_tokens",
    ("reasoning",): "reasoning_tokens",
    ("cache", "read"): "cache_read_tokens",
    ("cache", "write"): "cache_creation_tokens",
    ("total",): "total_tokens",
}


def of_step(part: dict[str, Any], rest: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a step's payload, and those of its other members that it does not hold."""
    counts, whole = _counts(part.get("tokens"))
    cost = part.get("cost")
    placed = ({"tokens"} if whole else set()) | ({"cost"} if is_number(cost) else set())
    words = values.usage(**counts, cost_usd=cost if is_number(cost) else None)
    if isinstance(part.get("reason"), str):
        words["finish_reason"] = part["reason"]
        placed.add("reason")
    return words, {key: value for key, value in rest.items() if key not in placed}


def of_message(info: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the payload of a message whose steps tell nothing.

    The program begins every message with zeros: where there is nothing else they prove nothing, are reported
    as null and named in `reported_default`.
    """
    counts, _ = _counts(info.get("tokens"))
    cost = info.get("cost")
    if is_number(cost):
        counts["cost_usd"] = cost
    if counts and not any(counts.values()):
        return values.usage(reported_default=sorted(counts)), {}
    return values.usage(**counts), {}


def _counts(given: Any) -> tuple[dict[str, Any], bool]:
    """Return the counts that were told, and whether they are all that `given` says."""
    if not isinstance(given, dict):
        return {}, given is None
    counts = {}
    seen = 0
    cache = given.get("cache")
    for path, word in _COUNTS.items():
        value = (
            given.get(path[0])
            if len(path) == 1
            else (cache.get(path[1]) if isinstance(cache, dict) else None)
        )
        if is_number(value):
            counts[word] = value
            seen += 1
    members = len(given) - ("cache" in given) + (len(cache) if isinstance(cache, dict) else "cache" in given)
    return counts, seen == members
