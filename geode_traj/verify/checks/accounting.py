"""GT709 to GT718, accounting: what is stated about model calls, against the calls (record contract §13).

The rules are those of `contract.accounting`; the computed figures stand in the report's `accounting` block.
Sources count in their own ways and record what they can, so a false figure is a warning: past records are not
changed, and the file that repeats them truly stays valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from geode_traj.contract.accounting import BASES, BILLED
from geode_traj.contract.usage import COST, INCLUDED, PROMPT, disagreement, hit_rate, number, style
from geode_traj.verify.conduct import USAGE
from geode_traj.verify.facts import EventView, Facts
from geode_traj.verify.registry import Hit, event_check, file_check

_ENDED: Final = frozenset({"session.ended"})
_USED: Final = frozenset({USAGE})
# Total at a session's end -> the count of its calls that it is the sum of.
_TOTALS: Final = {
    PROMPT: "input_tokens",
    "completion_tokens": "output_tokens",
    "total_cost_usd": COST,
}
_RATE_ROUNDING: Final = 0.005


def _disagreements(facts: Facts, event: EventView) -> Iterator[tuple[str, str, int, int]]:
    """Yield (total, why, calls that report, calls that do not) for each false total at a session's end."""
    scopes = facts.conduct.accounting.of_session(event.session_id, event.payload.get("session_generation"))
    for name, key in _TOTALS.items():
        stated = number(event.payload.get(name), whole=False)
        if stated is None or not scopes:
            continue
        counts = [scope.counts[key] for scope in scopes]
        wider = [scope.counts[PROMPT] for scope in scopes if name == PROMPT]
        why = disagreement(stated, counts, wider)
        if why:
            yield name, why, counts[0].seen, counts[0].missing


@event_check("GT709", "warning", "state the sum of the calls, or null", since="2", kinds=_ENDED)
def session_total_false(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A total at a session's end is not the sum of its calls, or less than what was seen.

    Compared with the calls of its generation and with those of the whole session; either may be meant, and
    for prompt tokens also the whole prompt with what is cached. A session without recorded calls has nothing
    to compare with.
    """
    for name, why, seen, _ in _disagreements(facts, event):
        if why == "differs":
            yield Hit(f"{name} is not the sum of {seen} call(s)", event.at(f"/payload/{name}"))
        elif why == "below":
            yield Hit(f"{name} is less than {seen} call(s) report", event.at(f"/payload/{name}"))


@event_check("GT710", "warning", "an incomplete total is null; the sum that was seen is an observed_sum",
             since="2", kinds=_ENDED)  # fmt: skip
def incomplete_total_stated(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A total is stated as a number although some of its calls do not report it."""
    for name, why, _, missing in _disagreements(facts, event):
        if why == "unreported":
            yield Hit(f"{name} is stated, {missing} call(s) do not report it", event.at(f"/payload/{name}"))


@event_check("GT711", "warning", "a count is a number from 0 on, or null", since="2", kinds=_USED)
def damaged_count(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A call's count is no count: text, negative, or a part of a token. It is taken as unreported."""
    for key in facts.conduct.usage.damaged if facts.conduct.usage else ():
        yield Hit(f"{key} is no count", event.at(f"/payload/{key}"))


@file_check("GT712", "note", "a default of 0 is no evidence of non-use", since="2")
def default_zeros(facts: Facts) -> Iterator[Hit]:
    """Calls carry zeros that their source writes by default; they are taken as unreported."""
    count = facts.conduct.accounting.defaults
    if count:
        yield Hit(f"{count} call(s) carry default zeros")


@event_check("GT713", "warning", "check which style of counting the source has", since="2", kinds=_USED)
def cache_over_input(facts: Facts, event: EventView) -> Iterator[Hit]:
    """More tokens were read from the cache than went in, where input includes what is cached."""
    usage = facts.conduct.usage
    if usage is None or style(event.payload) != INCLUDED:
        return
    cached, whole = usage.counts["cache_read_tokens"], usage.counts["input_tokens"]
    if cached is not None and whole is not None and cached > whole:
        yield Hit("cache_read_tokens is greater than input_tokens", event.at("/payload/cache_read_tokens"))


@event_check("GT714", "warning", "say billed, list_price or null", since="2", kinds=_USED)
def cost_basis_false(facts: Facts, event: EventView) -> Iterator[Hit]:
    """What a cost is based on is unknown, or cannot be.

    A price list gives an estimate; a subscription account is not billed by the call.
    """
    basis: Any = event.payload.get("cost_basis")
    if basis is not None and basis not in BASES:
        yield Hit("cost_basis is neither billed nor list_price", event.at("/payload/cost_basis"))
    elif basis == BILLED and event.payload.get("credential_source") == "subscription":
        yield Hit("a subscription's cost is called billed", event.at("/payload/cost_basis"))


@event_check("GT715", "note", "cache_hit_rate is read / (read + creation)", since="2", kinds=_USED)
def hit_rate_differs(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A call's `cache_hit_rate` is not read / (read + creation): its source means something else by it."""
    usage, stated = facts.conduct.usage, event.payload.get("cache_hit_rate")
    if usage is None or number(stated, whole=False) is None:
        return
    rate = hit_rate(usage.counts["cache_read_tokens"], usage.counts["cache_creation_tokens"])
    if rate is None or abs(rate - float(stated)) > _RATE_ROUNDING:  # type: ignore[arg-type]
        yield Hit("cache_hit_rate is not read / (read + creation)", event.at("/payload/cache_hit_rate"))


@file_check(
    "GT716", "warning", "the process may have stopped meanwhile; it is not counted as a call", since="2"
)
def attempt_unfinished(facts: Facts) -> Iterator[Hit]:
    """An attempt of a model call was started and never finished (by session and attempt id)."""
    for place in facts.conduct.accounting.attempts.open.values():
        yield Hit("an attempt was started and not finished", place)


@event_check("GT717", "warning", "each attempt starts once and finishes once", since="2", kinds=_USED)
def attempt_unjoined(facts: Facts, event: EventView) -> Iterator[Hit]:
    """An attempt's end has no start, or its start or end is repeated."""
    if facts.conduct.attempt:
        why = "repeats an earlier one" if facts.conduct.attempt == "repeated" else "has no start"
        yield Hit(f"an attempt's record {why}", event.place)


@file_check("GT718", "warning", "split the trajectory by session", since="2")
def sessions_left_out(facts: Facts) -> Iterator[Hit]:
    """A file holds so many sessions that the totals of the last ones were not compared with their calls."""
    count = facts.conduct.accounting.sessions_left_out
    if count:
        yield Hit(f"{count} call(s) of further sessions were not compared with totals")
