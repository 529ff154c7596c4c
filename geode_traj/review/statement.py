"""What a published form states of itself, counted from what was written (record contract §5, §6)."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from geode_traj.contract.quality import Quality, completeness, replay_reasons

REVIEWED: Final = "reviewed"
UNREVIEWED: Final = "unreviewed"
_REASONS: Final = ("scope_incompleteness", "replay_incompleteness")
# Counted by every publication from what it wrote; all else in `integrity` is the producer's.
_COUNTED: Final = frozenset(
    "record_count scope_complete replay_complete complete incompleteness quality value_redactions".split()
)


def kept(head: dict[str, Any], quality: Quality) -> dict[str, Any]:
    """Return what stays of a candidate's `integrity` and `privacy`: what its producer declared.

    `quality` is the candidate's own. A reason that follows from it is left out: it is computed again.
    """
    integrity, privacy = head["integrity"], head["privacy"]
    computed = [*quality.scope_reasons(), *replay_reasons(quality, privacy, integrity.get("fidelity"))]
    own = {key: value for key, value in integrity.items() if key not in _COUNTED}
    for name in _REASONS:
        own[name] = [reason for reason in integrity[name] if reason not in computed]
    rest = {key: value for key, value in privacy.items() if key != "_redactions"}
    return {"integrity": own, "privacy": {**rest, "redactions": _reductions(privacy)}}


def privacy(
    own: dict[str, Any],
    listed: Counter[str],
    around: list[dict[str, Any]],
    omitted: int,
    *,
    reviewed: bool,
) -> dict[str, Any]:
    """Return the `privacy` object: `reviewed` or not, with every redaction declared by class.

    `listed` counts what the events list; `around` are the redactions outside the events, which are listed
    here, as `_redactions`, their pointers from the root; `omitted` events hold digests in place of bodies.
    """
    declared = own["redactions"]
    if omitted and not declared:
        declared = [{"type": "content_reduction", "class": "omitted_body", "count": omitted}]
    outside = Counter(str(entry["class"]) for entry in around)
    for kind, classes in (("value_redaction", listed), ("head_redaction", outside)):
        declared += [{"type": kind, "class": cls, "count": count} for cls, count in counts(classes).items()]
    stated = {**own, "review_state": REVIEWED if reviewed else UNREVIEWED, "redactions": declared}
    return {**stated, "_redactions": around} if around else stated


def integrity(
    own: dict[str, Any], privacy: dict[str, Any], quality: Quality, listed: Counter[str]
) -> dict[str, Any]:
    """Return the `integrity` object: declared reasons first, then those of the written events."""
    computed = completeness(
        quality,
        declared_scope=own["scope_incompleteness"],
        declared_replay=own["replay_incompleteness"],
        privacy=privacy,
        fidelity=own.get("fidelity"),
    )
    return {
        **own,
        **computed.to_json(),
        "record_count": quality.events,
        "quality": quality.to_json(),
        "value_redactions": counts(listed),
    }


def counts(counter: Counter[str]) -> dict[str, int]:
    """Return counts by class, sorted."""
    return dict(sorted(counter.items()))


def _reductions(privacy: dict[str, Any]) -> list[Any]:
    """Return what a candidate declares of removed bodies; value redactions are counted from the events."""
    declared = privacy.get("redactions")
    return [
        item
        for item in (declared if isinstance(declared, list) else [])
        if isinstance(item, dict) and item.get("type") == "content_reduction"
    ]
