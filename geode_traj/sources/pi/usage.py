"""What a model response took, as Pi counts it."""

from __future__ import annotations

from typing import Any, Final

from geode_traj.sources import values
from geode_traj.sources.fields import number

_TOKENS: Final = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cacheRead": "cache_read_tokens",
    "cacheWrite": "cache_creation_tokens",
    "reasoningTokens": "reasoning_tokens",
    "totalTokens": "total_tokens",
}


def payload(given: Any, response_id: str | None, purpose: str | None = None) -> tuple[dict[str, Any], Any]:
    """Return a `usage.recorded` payload, null where unreported, and what of the usage found no place."""
    usage = given if isinstance(given, dict) else {}
    words = {word: number(usage.get(name)) for name, word in _TOKENS.items()}
    cost = usage.get("cost")
    total = number(cost.get("total")) if isinstance(cost, dict) else number(cost)
    if words["input_tokens"] is not None:
        words["input_includes_cached"] = False
    made = values.usage(**words, cost_usd=total, response_id=response_id, purpose=purpose)
    if not isinstance(given, dict):
        return made, given
    rest = {key: item for key, item in usage.items() if key not in _TOKENS or number(item) is None}
    if isinstance(cost, dict) and total is not None:
        rest["cost"] = {key: item for key, item in cost.items() if key != "total"}
    elif total is not None:
        del rest["cost"]
    return made, {key: item for key, item in rest.items() if item not in (None, {})}
