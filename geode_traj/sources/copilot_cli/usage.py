"""What model calls took: output tokens with each response, everything else in totals that come later.

A total tells again of the responses before it: what they told is taken off.
"""

from __future__ import annotations

from typing import Any, Final

from geode_traj.sources import values
from geode_traj.sources.fields import number

_COUNTS: Final = {
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cache_read_tokens": "cacheReadTokens",
    "cache_creation_tokens": "cacheWriteTokens",
    "reasoning_tokens": "reasoningTokens",
}
Counts = dict[str, int | float]


class Told:
    """What usage was told so far: of each session since its last call's, of each model since the last end."""

    def __init__(self) -> None:
        self._outputs: dict[str, int | float] = {}
        self._models: dict[str, Counts] = {}

    def response(self, session: str, model: str, tokens: int | float) -> dict[str, Any]:
        """Return the payload of a response that told its output tokens."""
        self._outputs[session] = self._outputs.get(session, 0) + tokens
        self._add(model, {"output_tokens": tokens})
        return values.usage(output_tokens=tokens)

    def call(self, session: str, data: dict[str, Any]) -> dict[str, Any]:
        """Return the payload of a call whose usage is told by itself."""
        counts = _counts(data)
        told = self._outputs.pop(session, 0)
        if "output_tokens" in counts and told:
            counts["output_tokens"] = max(0, counts["output_tokens"] - told)
        model = data.get("model")
        self._add(model if isinstance(model, str) else "", counts)
        call = data.get("apiCallId")
        return _payload(counts, response_id=call if isinstance(call, str) else None)

    def ended(self, metrics: Any) -> tuple[list[tuple[str, dict[str, Any]]], int]:
        """Return (model, payload) for each total of a session that shuts down, and how many disagree.

        What was told of no model is taken off the totals in their order: their sum stays what it is. Counts
        begin anew when the session is resumed.
        """
        found: list[tuple[str, dict[str, Any]]] = []
        disagree = 0
        stray = self._models.pop("", {})
        for model, metric in sorted(metrics.items()) if isinstance(metrics, dict) else ():
            total = _counts(metric.get("usage")) if isinstance(metric, dict) else {}
            if not total:
                continue
            told, left = self._models.pop(model, {}), {}
            for key, count in total.items():
                rest = count - told.get(key, 0)
                loose = min(max(rest, 0), stray.get(key, 0))
                if loose:
                    stray[key] -= loose
                if rest >= 0:
                    left[key] = rest - loose
                else:
                    disagree += 1
            found.append((model, _payload(left, purpose="session")))
        self._models.clear()
        self._outputs.clear()
        return found, disagree

    def _add(self, model: str, counts: Counts) -> None:
        told = self._models.setdefault(model, {})
        for key, count in counts.items():
            told[key] = told.get(key, 0) + count


def _counts(given: Any) -> Counts:
    read = {key: number(given, name) for key, name in _COUNTS.items()}
    return {key: count for key, count in read.items() if count is not None}


def _payload(counts: Counts, **more: Any) -> dict[str, Any]:
    noted = {"input_includes_cached": True} if "input_tokens" in counts else {}
    return values.usage(**counts, **noted, **more)
