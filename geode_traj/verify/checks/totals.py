"""GT7xx, totals and claims: everything `integrity` states, recomputed (record contract §6)."""

from __future__ import annotations

from collections.abc import Iterator

from geode_traj.contract.quality import replay_reasons, unique
from geode_traj.verify.facts import Facts
from geode_traj.verify.registry import Hit, file_check


@file_check("GT701", "error", "state the number of events")
def record_count_false(facts: Facts) -> Iterator[Hit]:
    """`integrity.record_count` is not the number of events."""
    if facts.integrity["record_count"] != facts.quality.events + facts.malformed:
        yield Hit(f"record_count is not {facts.quality.events + facts.malformed}")


@file_check("GT702", "error", "state what the events give, and nothing else")
def quality_false(facts: Facts) -> Iterator[Hit]:
    """`integrity.quality` does not equal the quality recomputed from the events."""
    claimed = facts.integrity["quality"]
    computed = facts.quality.to_json()
    if claimed == computed:
        return
    names = sorted(key for key in claimed.keys() | computed.keys() if claimed.get(key) != computed.get(key))
    known = [name for name in names if name in computed] + ["an unknown key"] * any(
        n not in computed for n in names
    )
    yield Hit(f"quality does not match the events: {', '.join(known)}")


@file_check("GT703", "error", "true only when no scope reason is stated or computed")
def scope_complete_false(facts: Facts) -> Iterator[Hit]:
    """`integrity.scope_complete` contradicts the scope reasons."""
    computed = facts.completeness().scope_complete
    if facts.integrity["scope_complete"] != computed:
        yield Hit(f"scope_complete is claimed {_word(not computed)} but is {_word(computed)}")


@file_check("GT704", "error", "true only when scope is complete and no replay reason is stated or computed")
def replay_complete_false(facts: Facts) -> Iterator[Hit]:
    """`integrity.replay_complete` contradicts the scope and replay reasons."""
    computed = facts.completeness().replay_complete
    if facts.integrity["replay_complete"] != computed:
        yield Hit(f"replay_complete is claimed {_word(not computed)} but is {_word(computed)}")


@file_check("GT705", "error", "complete equals replay_complete")
def complete_false(facts: Facts) -> Iterator[Hit]:
    """`integrity.complete` is not the value of replay_complete."""
    computed = facts.completeness().replay_complete
    if facts.integrity["complete"] != computed:
        yield Hit(f"complete is claimed {_word(not computed)} but is {_word(computed)}")


@file_check("GT706", "error", "state every computed scope reason in its exact words")
def scope_reason_omitted(facts: Facts) -> Iterator[Hit]:
    """A scope reason that the events give is not among `scope_incompleteness`."""
    stated = facts.stated("scope_incompleteness")
    for reason in facts.quality.scope_reasons():
        if reason not in stated:
            yield Hit(f"scope_incompleteness omits: {reason}")


@file_check("GT707", "error", "state every computed replay reason in its exact words")
def replay_reason_omitted(facts: Facts) -> Iterator[Hit]:
    """A replay reason that events, privacy or fidelity give is not among `replay_incompleteness`."""
    stated = facts.stated("replay_incompleteness")
    reasons = replay_reasons(facts.quality, facts.head.get("privacy"), facts.integrity.get("fidelity"))
    for number, reason in enumerate(reasons):
        if reason not in stated:
            # A fidelity text is the producer's own: name the place, not the words.
            shown = "the declared fidelity" if reason.startswith("declared fidelity") else reason
            yield Hit(f"replay_incompleteness omits ({number + 1} of {len(reasons)}): {shown}")


@file_check("GT708", "error", "scope reasons, then replay reasons, repeats removed")
def incompleteness_false(facts: Facts) -> Iterator[Hit]:
    """`incompleteness` is not the union of scope and replay reasons in order."""
    union = unique(facts.stated("scope_incompleteness") + facts.stated("replay_incompleteness"))
    if facts.stated("incompleteness") != union:
        yield Hit("incompleteness is not the union of the scope and replay reasons")


def _word(flag: bool) -> str:
    return "true" if flag else "false"
