"""What model calls took: counts that tell zero from unreported (record contract §13).

Rules:

1. A count is a number from 0 on, or unreported: absent, null, or a default zero that its source names in
   `reported_default`. Anything else (text, negative, a part of a token) is damaged: missing, and told apart.
2. A total over calls of which any does not report it is null. The sum over those that do stands beside it as
   `observed_sum` (null where none does), with the numbers of calls seen, missing and damaged.
3. A source's own sum over a call's attempts (`observed_sum`: true) may be partial: it is seen, never a total.
4. Copied context (`copied_context`) is not paid for again; an abandoned branch was paid for.
5. OpenAI-style input includes cached tokens; Anthropic-style input, cache read and cache creation are three
   counts. What the whole prompt took follows from the style, and is unreported where the style is unknown.
6. The cache hit rate is read / (read + creation) over complete totals, else null: no share of the prompt.
7. A cost is billed, a list-price estimate, or of unstated basis; an estimate is never called a bill.
8. Starts and ends of attempts are joined by session and attempt id. A start without an end is reported, not
   counted.
9. The scope is the recorded attempts: nothing here claims the whole runtime.

Limits by producer: a count that a source never gives (Stimm gives none, Pi no call purposes) is unreported in
every call; legacy monthly ledgers leave zeros out, so that an absent count there is unknown, not zero.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from geode_traj.contract.attempts import Attempts
from geode_traj.contract.usage import COST, FIELDS, PROMPT, TOKENS, UNKNOWN, Calls, Usage, read, style

SCOPE: Final = "recorded-runtime-llm-attempts-only"
BILLED, LIST_PRICE, UNSTATED = "billed", "list_price", "unstated"
BASES: Final = (BILLED, LIST_PRICE)
PURPOSES: Final = (
    "action_loop", "reflection", "judge", "hosted_search", "text", "compaction", "background",
)  # fmt: skip
MAX_SESSIONS: Final = 4096
MAX_PROVIDERS: Final = 64
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,63}", re.ASCII)


class Accounting:
    """The calls of one file: in all, by session generation, by provider, by what their cost rests on."""

    def __init__(self) -> None:
        self.all = Calls()
        self.attempts = Attempts()
        self.defaults = 0
        self.sessions_left_out = 0
        self._generations: dict[tuple[str, int], Calls] = {}
        self._sessions: dict[str, Calls] = {}
        self._providers: dict[tuple[str, str], Calls] = {}
        self._bases: dict[str, Calls] = {}
        self._purposes: Counter[str] = Counter()

    def feed(self, session_id: str, payload: Mapping[str, Any]) -> Usage | None:
        """Count the payload of a `usage.recorded` event; return what was read, None for copied context."""
        if payload.get("copied_context") is True:
            return None
        usage, named = read(payload), style(payload)
        self.all.add(usage, named)
        self.defaults += bool(usage.defaults)
        self._session(session_id, payload.get("session_generation"), usage, named)
        _group(self._providers, (_plain(payload.get("provider")), named), ("other", UNKNOWN)).add(
            usage, named
        )
        basis = payload.get("cost_basis")
        self._bases.setdefault(basis if basis in BASES else UNSTATED, Calls()).add(usage, named)
        purpose = payload.get("purpose")
        known = str(purpose).replace("-", "_")
        self._purposes["unstated" if not purpose else known if known in PURPOSES else "other"] += 1
        return usage

    def _session(self, session_id: str, generation: object, usage: Usage, named: str) -> None:
        if session_id not in self._sessions and len(self._sessions) >= MAX_SESSIONS:
            self.sessions_left_out += 1
            return
        self._sessions.setdefault(session_id, Calls()).add(usage, named)
        key = (session_id, generation if isinstance(generation, int) else 1)
        if key in self._generations or len(self._generations) < MAX_SESSIONS:
            self._generations.setdefault(key, Calls()).add(usage, named)

    def of_session(self, session_id: str, generation: object) -> list[Calls]:
        """Return the calls so far that a total at a session's end may speak of: its generation's, and all."""
        key = (session_id, generation if isinstance(generation, int) else 1)
        found = [self._generations.get(key), self._sessions.get(session_id)]
        return [calls for calls in found if calls is not None]

    def to_json(self) -> dict[str, Any]:
        """Return the `accounting` block of a verify report."""
        cache = [
            {
                "provider": provider,
                "style": named,
                "calls": calls.calls,
                "cache_hit_rate": calls.hit_rate(),
                **{key: calls.counts[key].to_json() for key in (PROMPT, *TOKENS[2:4])},
            }
            for (provider, named), calls in sorted(self._providers.items())
        ]
        return {
            "scope": SCOPE,
            "whole_runtime_complete": False,
            "calls": self.all.calls,
            "totals": {key: self.all.counts[key].to_json() for key in FIELDS},
            "cost_basis": {
                basis: {"calls": calls.calls, **calls.counts[COST].to_json()}
                for basis, calls in sorted(self._bases.items())
            },
            "cache": cache,
            "purposes": dict(sorted(self._purposes.items())),
            "attempts": self.attempts.to_json(),
        }


def _plain(name: object) -> str:
    """Return a provider's name; one that is no plain word is text of the file and stays out of reports."""
    if not name:
        return "unstated"
    return name if isinstance(name, str) and _PLAIN_NAME.fullmatch(name) else "other"


def _group(groups: dict[tuple[str, str], Calls], key: tuple[str, str], other: tuple[str, str]) -> Calls:
    return groups.setdefault(key if key in groups or len(groups) < MAX_PROVIDERS else other, Calls())
