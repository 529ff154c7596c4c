"""What each response used, from counters that OpenHands only ever adds to."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from geode_traj.sources import values
from geode_traj.sources.fields import member, number, word

_COUNTS: Final = {
    "input_tokens": "prompt_tokens",
    "output_tokens": "completion_tokens",
    "cache_read_tokens": "cache_read_tokens",
    "cache_creation_tokens": "cache_write_tokens",
    "reasoning_tokens": "reasoning_tokens",
}


class Meter:
    """Remembers where each counter stood."""

    def __init__(self) -> None:
        self._stood: dict[str, dict[str, int | float | None]] = {}
        self._responses: dict[str, str] = {}

    def used(self, counter: str, metrics: dict[str, Any], **more: Any) -> dict[str, Any] | None:
        """Return what was used since a counter was last read; None where its response was told already.

        A counter that fell was started anew. What is not reported is null, and stays where it stood.
        """
        accumulated = member(metrics, "accumulated_token_usage")
        now: dict[str, int | float | None] = {key: number(accumulated, name) for key, name in _COUNTS.items()}
        now["cost_usd"] = number(metrics, "accumulated_cost")
        stood = self._stood.setdefault(counter, {})
        spent = {key: _less(value, stood.get(key)) for key, value in now.items()}
        stood.update({key: value for key, value in now.items() if value is not None})
        response = word(accumulated, "response_id") or str(more.pop("response_id", "") or "")
        again = bool(response) and self._responses.get(counter) == response
        self._responses[counter] = response
        if again and not any(spent.values()):
            return None
        return values.usage(**spent, **more, response_id=response or None)


def _less(now: int | float | None, stood: int | float | None) -> int | float | None:
    if now is None or stood is None or now < stood:
        return now
    if isinstance(now, int) and isinstance(stood, int):
        return now - stood
    return float(Decimal(str(now)) - Decimal(str(stood)))  # what a person would subtract


def of_response(usage: Any, **more: Any) -> dict[str, Any]:
    """Return a `usage.recorded` payload of one response's own counts, as providers name them."""
    counts = {key: number(usage, name) for key, name in _COUNTS.items()}
    for word_, *path in (
        ("cache_read_tokens", "cache_read_input_tokens"),
        ("cache_read_tokens", "prompt_tokens_details", "cached_tokens"),
        ("cache_creation_tokens", "cache_creation_input_tokens"),
        ("reasoning_tokens", "completion_tokens_details", "reasoning_tokens"),
    ):
        if counts[word_] is None:
            counts[word_] = number(usage, *path)
    return values.usage(**counts, **more)
