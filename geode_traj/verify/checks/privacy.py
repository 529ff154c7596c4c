"""GT9xx, privacy: what a trajectory claims about its review and its redactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from geode_traj.model.finding import Place
from geode_traj.verify.facts import Facts, gate_hits
from geode_traj.verify.registry import Hit, file_check

_STATES: Final = frozenset({"local", "unknown", "unreviewed", "pending", "reviewed"})


@file_check("GT901", "error", "run `scan` for everything, then `review sign` again")
def gate_hit(facts: Facts) -> Iterator[Hit]:
    """A trajectory that claims to be reviewed holds text that no release may hold.

    The eight classes of record contract §8, over decoded strings and keys. An unreviewed trajectory may hold
    them: it is private.
    """
    if _reviewed(facts):
        for place, cls, count in facts.gate_hits:
            yield Hit(f"{count} {cls} hit(s)", place)
        for cls, count in sorted(Counter(hit.cls for hit in gate_hits(facts.head)).items()):
            yield Hit(f"{count} {cls} hit(s) outside the events")


@file_check("GT902", "error", "declare what the events list")
def redactions_undeclared(facts: Facts) -> Iterator[Hit]:
    """A reviewed trajectory's events list value redactions that `privacy.redactions` does not declare."""
    if not _reviewed(facts):
        return
    declared: Counter[str] = Counter()
    for item in _declared(facts):
        if item.get("type") == "value_redaction":
            declared[str(item.get("class"))] += item["count"] if isinstance(item.get("count"), int) else 0
    if declared != facts.redactions:
        yield Hit("privacy.redactions does not match the redactions that the events list")


@file_check("GT903", "note", "say local, unknown or reviewed", since="2")
def review_state_unclear(facts: Facts) -> Iterator[Hit]:
    """`privacy.review_state` is missing, or no word that says whether the trajectory was reviewed.

    Whatever it says, only `reviewed` is a claim; and that one proves nothing without its sign-off.
    """
    state = facts.head["privacy"].get("review_state")
    if not isinstance(state, str) or state not in _STATES:
        told = "privacy.review_state is missing" if state is None else "privacy.review_state is no known word"
        yield Hit(told, Place(pointer="/privacy/review_state"))


@file_check("GT904", "warning", "count `_redactions` of the events by class", since="2")
def redaction_count_false(facts: Facts) -> Iterator[Hit]:
    """`integrity.value_redactions` does not equal the redactions that the events list."""
    claimed = facts.integrity.get("value_redactions")
    if claimed is not None and claimed != dict(facts.redactions):
        where = Place(pointer="/integrity/value_redactions")
        yield Hit("integrity.value_redactions does not match the events", where)


@file_check("GT905", "warning", "declare it: type content_reduction", since="2")
def reduction_undeclared(facts: Facts) -> Iterator[Hit]:
    """A reviewed trajectory has digests in place of bodies, and declares no content reduction."""
    declared = any(item.get("type") == "content_reduction" for item in _declared(facts))
    if _reviewed(facts) and facts.omitted_bodies and not declared:
        told = f"{facts.omitted_bodies} event(s) omit bodies, but no content reduction is declared"
        yield Hit(told, Place(pointer="/privacy/redactions"))


def _reviewed(facts: Facts) -> bool:
    return bool(facts.head["privacy"].get("review_state") == "reviewed")


def _declared(facts: Facts) -> list[dict[str, Any]]:
    listed = facts.head["privacy"].get("redactions")
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
