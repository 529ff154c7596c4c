"""What a release says beside its trajectories: how they were reviewed, and what became of every candidate.

Nothing of it can be held against a guess at private bytes: candidates are counted and never named, and the
sign-off's digest is salted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from geode_traj.release import layout
from geode_traj.release.reviewed import Reviewed

PUBLIC: Final = "public"
WITHHELD: Final = ("withheld-sealed", "private-secret", "reproducible-cache")
_POLICY: Final = "policy"
_AS_SIGNED: Final = (
    "decisions",
    "approvals",
    "policy",
    "policy_sha256",
    "ruleset",
    "ruleset_sha256",
    "findings_sha256",
    "decisions_sha256",
    "tool",
)


def review_record(reviewed: Reviewed) -> dict[str, Any]:
    """Return data/reviews/review.json (schema geode-traj.review-record@1)."""
    signoff, policy = reviewed.signoff, reviewed.policy
    return {
        "schema_id": layout.RECORD_SCHEMA,
        "review": reviewed.review.to_json(),
        # People are counted: the record names the one who signs for it.
        "reviewers": len({*signoff["reviewers"]} - {_POLICY}),
        "withheld": withheld(signoff),
        "roles": policy.roles,
        "digests": policy.setting("release", "digests"),
        "signoff_sha256": reviewed.signoff_sha256,
        **{key: signoff[key] for key in _AS_SIGNED},
    }


def disclosure(trajectories: Iterable[Mapping[str, Any]], signoff: Mapping[str, Any]) -> dict[str, Any]:
    """Return data/disclosure.json (schema geode-traj.disclosure@1) of a release's trajectories."""
    public = [{key: one[key] for key in ("trajectory_id", "path")} for one in trajectories]
    counts = Counter(dict.fromkeys((PUBLIC, *WITHHELD), 0))
    counts.update(one["class"] for one in signoff["withheld"])
    counts[PUBLIC] = len(public)
    return {
        "schema_id": layout.DISCLOSURE_SCHEMA,
        "public": sorted(public, key=lambda one: str(one["path"])),
        "withheld": withheld(signoff),
        "totals": {"candidates": counts.total(), **counts},
    }


def withheld(signoff: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return how many candidates stay out, by class and reason, sorted."""
    counts = Counter((one["class"], one["reason"]) for one in signoff["withheld"])
    return [{"class": cls, "reason": why, "count": count} for (cls, why), count in sorted(counts.items())]
