"""What one model call, and some calls together, took (record contract §13; the rules are `accounting`'s)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

TOKENS: Final = (
    "input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens", "reasoning_tokens",
)  # fmt: skip
COST: Final = "cost_usd"
FIELDS: Final = (*TOKENS, COST)
PROMPT: Final = "prompt_tokens"
INCLUDED, SEPARATE, UNKNOWN = "input_includes_cached", "input_excludes_cached", "unknown"
_MOST: Final = 1 << 63
# Names that begin so; of clouds that serve several makers, and where no provider is named, the model decides.
_STYLES: Final = (
    (INCLUDED, ("openai", "azure", "codex", "chatgpt")),
    (SEPARATE, ("anthropic", "claude")),
)
_CLOUDS: Final = ("bedrock", "aws", "amazon", "vertex")
_MODELS: Final = (
    (INCLUDED, re.compile(r"(gpt-|o\d(-|$)|codex|chatgpt)")),
    (SEPARATE, re.compile(r"((us|eu|apac|global)\.)?(anthropic\.)?claude")),
)
Number = int | Decimal


def number(value: object, *, whole: bool = True) -> Number | None:
    """Return a count as an exact number, None for anything that is none; tokens are `whole`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value < _MOST:  # NaN is refused too
        return None
    if isinstance(value, int):
        return value
    if value.is_integer():
        return int(value)
    return None if whole else Decimal(repr(value))


def to_json(value: Number | None) -> int | float | None:
    """Return a sum as JSON has it."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def style(payload: Mapping[str, Any]) -> str:
    """Tell whether a call's input count includes its cached tokens: its own word first, then its provider's.

    `payload` is an exported one, over which provider and model are laid.
    """
    said = payload.get("input_includes_cached")
    if isinstance(said, bool):
        return INCLUDED if said else SEPARATE
    provider, model = (str(payload.get(key) or "").lower() for key in ("provider", "model"))
    if provider.startswith(_CLOUDS) or not provider:
        return next((name for name, shape in _MODELS if shape.match(model)), UNKNOWN)
    return next((name for name, begins in _STYLES if provider.startswith(begins)), UNKNOWN)


@dataclass(slots=True)
class Count:
    """One field over some calls; `damaged` ones are among the `missing`."""

    sum: Number = 0
    seen: int = 0
    missing: int = 0
    damaged: int = 0
    partial: int = 0

    def add(self, value: Number | None, *, damaged: bool = False, partial: bool = False) -> None:
        """Count one call."""
        if value is None:
            self.missing += 1
            self.damaged += damaged
        else:
            self.sum += value
            self.seen += 1
            self.partial += partial

    @property
    def total(self) -> Number | None:
        """The sum, if every call of at least one reports it whole."""
        return self.sum if self.seen and not self.missing and not self.partial else None

    def to_json(self) -> dict[str, int | float | None]:
        """Return total and observed sum with what they are made of."""
        return {
            "total": to_json(self.total),
            "observed_sum": to_json(self.sum) if self.seen else None,
            "seen": self.seen,
            "missing": self.missing,
            "damaged": self.damaged,
        }


@dataclass(slots=True)
class Usage:
    """One call's counts, None where unreported; `damaged` names those that are no counts at all."""

    counts: dict[str, Number | None]
    damaged: tuple[str, ...]
    defaults: tuple[str, ...]
    partial: bool


def read(payload: Mapping[str, Any]) -> Usage:
    """Read the counts of a `usage.recorded` payload or of an attempt's `usage`."""
    listed = payload.get("reported_default")
    defaults = tuple(key for key in FIELDS if isinstance(listed, list) and key in listed)
    counts: dict[str, Number | None] = {}
    damaged = []
    for key in FIELDS:
        given = payload.get(key)
        value = number(given, whole=key != COST)
        if given is not None and value is None:
            damaged.append(key)
        counts[key] = None if key in defaults and not value else value
    return Usage(counts, tuple(damaged), defaults, payload.get("observed_sum") is True)


def prompt(counts: Mapping[str, Number | None], named: str) -> Number | None:
    """Return what the whole prompt of a call took by its style; None where that is not known."""
    whole = counts["input_tokens"]
    if named == INCLUDED or whole is None:
        return whole
    cached = [counts["cache_read_tokens"], counts["cache_creation_tokens"]]
    if named == UNKNOWN or None in cached:
        return None
    return whole + sum(value for value in cached if value is not None)


@dataclass(slots=True)
class Calls:
    """Some calls and their counts, by field."""

    calls: int = 0
    counts: dict[str, Count] = field(default_factory=lambda: {key: Count() for key in (*FIELDS, PROMPT)})

    def add(self, usage: Usage, named: str) -> None:
        """Count one call of a style."""
        self.calls += 1
        for key, value in usage.counts.items():
            self.counts[key].add(value, damaged=key in usage.damaged, partial=usage.partial)
        self.counts[PROMPT].add(prompt(usage.counts, named), partial=usage.partial)

    def hit_rate(self) -> float | None:
        """Return read / (read + creation), None unless both totals are complete and not zero together."""
        return hit_rate(self.counts["cache_read_tokens"].total, self.counts["cache_creation_tokens"].total)


def hit_rate(cached: Number | None, created: Number | None) -> float | None:
    """Return read / (read + creation), None where one is unreported or both are zero."""
    if cached is None or created is None or not cached + created:
        return None
    return round(float(cached / (cached + created)), 6)


def disagreement(stated: Number, counts: list[Count], others: Sequence[Count] = ()) -> str:
    """Compare a stated total with what calls report; return why it is false, "" where it may be true.

    `counts` are those that the total may be meant to be, `others` wider ones that it may be instead: one that
    equals it is enough. `below`: less than what was seen. `differs`: all calls report, and give something
    else. `unreported`: some do not, so no number is known. Numbers are equal to the last decimal that was
    stated, and to four of them at least.
    """
    exponent = Decimal(stated).as_tuple().exponent
    near = Decimal(1).scaleb(min(exponent if isinstance(exponent, int) else 0, -4)) / 2
    totals = [count.total for count in (*counts, *others)]
    if any(total is not None and abs(Decimal(total) - stated) <= near for total in totals):
        return ""
    reached = any(Decimal(count.sum) <= stated + near for count in counts)
    if any(count.total is None for count in counts):
        return "unreported" if reached else "below"
    if not reached:
        return "below"
    return "" if any(count.total is None for count in others) else "differs"
