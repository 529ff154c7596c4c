"""Where a review stands, in numbers: one summary for a person, a pipeline, or a thousand trajectories."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from geode_traj.contract import review_folder
from geode_traj.review.state import UNDECIDED, State

SCHEMA: Final = "geode-traj.review-status@1"
MAX_LISTED: Final = 100


def summary(state: State) -> dict[str, Any]:
    """Return the status of a review as a JSON object (schema geode-traj.review-status@1).

    `ready`: nothing is undecided, and as much was seen as the policy wants. `undecided` lists the first
    `MAX_LISTED` findings that wait; `signed`: there is a sign-off (staging says whether it still holds).
    """
    review = state.review
    waiting = list(state.undecided())
    uncovered = list(state.uncovered())
    outcomes = state.counts()
    refused = Counter(one.why for one in review.begun.refused)
    rejected = Counter(entry.body["reason"] for entry in state.rejected.values())
    return {
        "schema_id": SCHEMA,
        "review_id": review.begun.review_id,
        "policy": review.policy.name,
        "policy_sha256": review.begun.policy_sha256,
        "ruleset": review.begun.ruleset,
        "trajectories": len(review.begun.candidates),
        "events": sum(one.events for one in review.begun.candidates),
        "refused": dict(sorted(refused.items())),
        "rejected": dict(sorted(rejected.items())),
        "findings": len(review.findings),
        "outcomes": outcomes,
        "undecided": [
            {"id": one.id, "path": one.path, "ordinal": one.ordinal, "class": one.cls, "value": one.value}
            for one in waiting[:MAX_LISTED]
        ],
        "coverage": [
            {"path": path, "seen_percent": percent, "wanted_percent": wanted}
            for path, percent, wanted in uncovered[:MAX_LISTED]
        ],
        "journal": {"entries": len(review.journal.entries), "torn_bytes": review.journal.torn},
        "ready": not outcomes.get(UNDECIDED) and not uncovered,
        "signed": (review.folder / review_folder.SIGNOFF).is_file(),
    }
