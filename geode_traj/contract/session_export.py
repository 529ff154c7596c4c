"""What an export of store sessions states about itself: head fields and reasons (record contract §5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from geode_traj.contract.quality import DECLARED_REPLAY, PRIVACY_REDUCTION

NO_SESSIONS: Final = "source carried no GEODE session identifiers"
DAMAGED: Final = "{count} source line(s) damaged"

# Reasons that every export computes anew; what a file states beyond them is its producer's own.
_COMPUTED: Final = re.compile(
    r"\d+ tool event\(s\) lack call_id|\d+ turn-scoped event\(s\) lack turn_id"
    r"|\d+ tool call\(s\) lack a result|\d+ tool result\(s\) lack a call|trajectory contains no events"
    r"|\d+ event payload\(s\) are truncated, corrupt, or omitted|\d+ source line\(s\) damaged"
    r"|session .* (?:has no canonical events|has no terminal event|reports canonical write failures)"
    r"|declared fidelity limits replay: .*|" + "|".join(map(re.escape, (NO_SESSIONS, PRIVACY_REDUCTION))),
    re.DOTALL,
)


def head(session_ids: Sequence[str], trajectory_id: str | None) -> dict[str, Any]:
    """Return the fixed head fields of an export: id, source, class, outcome, provenance, privacy."""
    one = session_ids[0] if len(session_ids) == 1 else None
    run = one or trajectory_id
    return {
        "trajectory_id": trajectory_id or f"geode-session-{one}",
        "trajectory_class": ["dialogue", "tool", "lifecycle"],
        "source": {"harness": "geode", "run": run, "session": run, "parents": None},
        "outcome": {"scored": False},
        "provenance": {"store": "sessions.db:session_events"},
        "privacy": {"review_state": "local"},
    }


def session_reasons(session_id: str, last_kind: str | None, *, failing: bool) -> list[str]:
    """Return a session's own scope reasons; `last_kind` is None for a session without events.

    `failing`: one of its ends reports failures, of whatever generation (`reports_failures`).
    """
    if last_kind is None:
        return [f"session {session_id} has no canonical events"]
    reasons = []
    if last_kind != "session.ended":
        reasons.append(f"session {session_id} has no terminal event")
    if failing:
        reasons.append(f"session {session_id} reports canonical write failures")
    return reasons


def reports_failures(payload: dict[str, Any]) -> bool:
    """Tell whether the payload of a session's end counts events that could not be written."""
    failures = payload.get("record_failures")
    return isinstance(failures, int | float) and failures > 0


def own_reasons(stated: object, *, follows: bool = True) -> list[str]:
    """Return the reasons of a file that a later export would not compute again by itself.

    That replay is declared incomplete `follows` from scope reasons where there are any; alone, it is the
    producer's own word.
    """
    if not isinstance(stated, list):
        return []
    return [
        reason
        for reason in stated
        if isinstance(reason, str)
        and reason
        and not _COMPUTED.fullmatch(reason)
        and not (follows and reason == DECLARED_REPLAY)
    ]
