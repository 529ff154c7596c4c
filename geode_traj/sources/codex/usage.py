"""Token counts: running totals of a session become what each model response added (importer decision J9)."""

from __future__ import annotations

from typing import Any, Final

from geode_traj.sources import values

_COUNTS: Final = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cached_input_tokens": "cache_read_tokens",
    "cache_write_input_tokens": "cache_creation_tokens",
    "reasoning_output_tokens": "reasoning_tokens",
}


class Totals:
    """Follows the running totals of one file; `inherited`: they may begin with another session's."""

    def __init__(self) -> None:
        self.inherited = False
        self._seen: dict[str, int] = {}

    def usage(self, info: Any) -> dict[str, Any]:
        """Return the `usage.recorded` payload of a `token_count`; no info, or no count, stays null.

        A total that falls was started anew: then, and where the totals began elsewhere, the count of the last
        response is taken.
        """
        info = info if isinstance(info, dict) else {}
        total, last = (_counts(info.get(key)) for key in ("total_token_usage", "last_token_usage"))
        added: dict[str, int | None] = {}
        for native, word in _COUNTS.items():
            now, before = total.get(native), self._seen.get(native)
            if now is None:
                added[word] = last.get(native)
            elif before is None:
                added[word] = last.get(native) if self.inherited and last else now
            else:
                added[word] = now - before if now >= before else last.get(native, now)
        self._seen |= total
        noted = {"input_includes_cached": True} if added["input_tokens"] is not None else {}
        return values.usage(**added, **noted)


def _counts(given: Any) -> dict[str, int]:
    if not isinstance(given, dict):
        return {}
    return {key: given[key] for key in _COUNTS if type(given.get(key)) is int}
