"""What a model response cost, counted once however many lines it is spread over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from geode_traj.sources import values
from geode_traj.sources.fields import number

_TOKENS: Final = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cache_read_input_tokens",
    "cache_creation_tokens": "cache_creation_input_tokens",
}


@dataclass(slots=True)
class Reply:
    """One response so far: the greatest usage any of its lines told (of equals the last), and its cost."""

    response_id: str | None
    request_id: str | None
    model: str
    usage: Any = None
    told: bool = False
    cost: Any = None
    thought: bool = False
    _total: int = -1

    def take(self, row: dict[str, Any], message: dict[str, Any]) -> None:
        """Take the next line of the response."""
        if "usage" in message:
            self.told = True
            total = _total(message["usage"])
            if total >= self._total:
                self.usage, self._total = message["usage"], total
        if row.get("costUSD") is not None:
            self.cost = row["costUSD"]

    def payload(self) -> dict[str, Any]:
        """Return the payload of `usage.recorded`: what was not reported is null."""
        usage = self.usage if isinstance(self.usage, dict) else {}
        counts = {word: number(usage, name) for word, name in _TOKENS.items()}
        return values.usage(
            **counts,
            cost_usd=number(self.cost),
            response_id=self.response_id,
            request_id=self.request_id,
            service_tier=usage.get("service_tier"),
        )


def _total(usage: Any) -> int:
    """Return how many tokens a usage tells of, -1 for what is none."""
    if not isinstance(usage, dict):
        return -1
    counts = [usage.get(name) for name in _TOKENS.values()]
    return sum([count for count in counts if type(count) is int])
