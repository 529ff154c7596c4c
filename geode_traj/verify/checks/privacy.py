"""GT9xx, privacy: what a reviewed trajectory claims about itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from geode_traj.verify.facts import Facts, gate_hits
from geode_traj.verify.registry import Hit, file_check


@file_check("GT901", "error", "run `scan` for everything, then `review sign` again")
def gate_hit(facts: Facts) -> Iterator[Hit]:
    """A trajectory that claims to be reviewed holds text that no release may hold.

    The eight classes of record contract §8, over decoded strings and keys. An unreviewed trajectory may hold
    them: it is private.
    """
    if facts.head["privacy"].get("review_state") == "reviewed":
        for place, cls, count in facts.gate_hits:
            yield Hit(f"{count} {cls} hit(s)", place)
        for cls, count in sorted(Counter(hit.cls for hit in gate_hits(facts.head)).items()):
            yield Hit(f"{count} {cls} hit(s) outside the events")


@file_check("GT902", "error", "declare what the events list")
def redactions_undeclared(facts: Facts) -> Iterator[Hit]:
    """A reviewed trajectory's events list value redactions that `privacy.redactions` does not declare."""
    privacy = facts.head["privacy"]
    if privacy.get("review_state") != "reviewed":
        return
    declared: Counter[str] = Counter()
    listed = privacy.get("redactions")
    for item in listed if isinstance(listed, list) else []:
        if isinstance(item, dict) and item.get("type") == "value_redaction":
            declared[str(item.get("class"))] += item["count"] if isinstance(item.get("count"), int) else 0
    if declared != facts.redactions:
        yield Hit("privacy.redactions does not match the redactions that the events list")
