"""Quality and completeness, recomputed from events and never believed (record contract §6).

Rules:

- event ids are unique, ordinals are exactly 1..n in order; else the trajectory is invalid.
- pairing key: (session_id, turn_id, call_id). A call with an id opens one, a result with an id pairs with an
  open one of its key or is an orphan; what stays open is an orphan call; a tool event without id is missing
  and pairs with nothing.
- reasons have exact texts and a fixed order: declared, computed, then privacy and fidelity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from geode_traj.contract.kinds import CALLS, RESULTS, TURN_SCOPED

DECLARED_SCOPE: Final = "producer declared trajectory scope incomplete"
DECLARED_REPLAY: Final = "producer declared trajectory replay incomplete"
PRIVACY_REDUCTION: Final = "privacy policy declares content reduction"
_FIDELITY_WORDS: Final = (
    "unpublished",
    "excluded",
    "content reduction",
    "digest instead",
    "reduced",
    "truncated",
)


class Quality:
    """Counts what `integrity.quality` states, one event at a time."""

    def __init__(self) -> None:
        self.events = 0
        self.ids_unique = True
        self.ordinals_contiguous = True
        self.with_session = self.with_turn = self.turn_required = self.turn_missing = 0
        self.calls = self.results = self.paired = self.orphan_results = self.missing_call_ids = 0
        self.payload_issues = 0
        self._open: Counter[tuple[str, str, str]] = Counter()

    def feed(self, kind: str, session_id: str, turn_id: str, call_id: str, *, issue: bool) -> None:
        """Count the next event; `issue` says its payload is an issue event (`issues.has_issue`)."""
        self.events += 1
        self.with_session += bool(session_id)
        self.with_turn += bool(turn_id)
        self.payload_issues += issue
        if kind not in TURN_SCOPED:
            return
        self.turn_required += 1
        self.turn_missing += not turn_id
        if kind in CALLS:
            self.calls += 1
        elif kind in RESULTS:
            self.results += 1
        else:
            return
        if not call_id:
            self.missing_call_ids += 1
            return
        key = (session_id, turn_id, call_id)
        if kind in CALLS:
            self._open[key] += 1
        elif self._open.get(key):
            self.paired += 1
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]
        else:
            self.orphan_results += 1

    @property
    def orphan_calls(self) -> int:
        """Calls with an id that no result answered."""
        return self._open.total()

    def scope_reasons(self) -> list[str]:
        """Return the computed scope reasons, in the contract's order and words."""
        counted = [
            (self.missing_call_ids, "tool event(s) lack call_id"),
            (self.turn_missing, "turn-scoped event(s) lack turn_id"),
            (self.orphan_calls, "tool call(s) lack a result"),
            (self.orphan_results, "tool result(s) lack a call"),
        ]
        empty = [] if self.events else ["trajectory contains no events"]
        return empty + [f"{count} {text}" for count, text in counted if count]

    def to_json(self) -> dict[str, Any]:
        """Return the `integrity.quality` object; its replay fidelity speaks of payloads alone."""
        return {
            "event_id_unique": self.ids_unique,
            "ordinal_contiguous": self.ordinals_contiguous,
            "correlation": {
                "session_id_present": self.with_session,
                "turn_id_present": self.with_turn,
                "turn_id_required": self.turn_required,
                "turn_id_missing": self.turn_missing,
                "tool_call_id_present": self.calls + self.results - self.missing_call_ids,
                "event_count": self.events,
            },
            "tool_pairing": {
                "calls": self.calls,
                "results": self.results,
                "paired": self.paired,
                "orphan_calls": self.orphan_calls,
                "orphan_results": self.orphan_results,
                "missing_call_ids": self.missing_call_ids,
            },
            "payload_issue_events": self.payload_issues,
            "replay_fidelity": "reduced" if self.payload_issues else "full",
        }


@dataclass(frozen=True, slots=True)
class Completeness:
    """Flags and reasons of `integrity`; `complete` equals `replay_complete`."""

    scope_complete: bool
    replay_complete: bool
    scope_reasons: tuple[str, ...]
    replay_reasons: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the completeness part of the `integrity` object."""
        return {
            "scope_complete": self.scope_complete,
            "replay_complete": self.replay_complete,
            "complete": self.replay_complete,
            "scope_incompleteness": list(self.scope_reasons),
            "replay_incompleteness": list(self.replay_reasons),
            "incompleteness": unique([*self.scope_reasons, *self.replay_reasons]),
        }


def completeness(
    quality: Quality,
    *,
    declared_scope: Iterable[str] = (),
    declared_replay: Iterable[str] = (),
    scope_declared_complete: bool = True,
    replay_declared_complete: bool = True,
    privacy: Any = None,
    fidelity: Any = None,
) -> Completeness:
    """Return flags and reasons from what was counted and what the producer declared."""
    scope = unique([*declared_scope, *quality.scope_reasons()])
    if not scope_declared_complete and not scope:
        scope.append(DECLARED_SCOPE)
    replay = unique([*declared_replay, *replay_reasons(quality, privacy, fidelity)])
    if not replay_declared_complete and not replay:
        replay.append(DECLARED_REPLAY)
    scope_complete = scope_declared_complete and not scope
    return Completeness(
        scope_complete,
        scope_complete and replay_declared_complete and not replay,
        tuple(scope),
        tuple(replay),
    )


def replay_reasons(quality: Quality, privacy: Any, fidelity: Any) -> list[str]:
    """Return the computed replay reasons, then those of privacy and fidelity."""
    reasons = []
    if quality.payload_issues:
        reasons.append(f"{quality.payload_issues} event payload(s) are truncated, corrupt, or omitted")
    redactions = privacy.get("redactions") if isinstance(privacy, dict) else None
    if isinstance(redactions, list) and any(
        isinstance(item, dict) and item.get("type") == "content_reduction" for item in redactions
    ):
        reasons.append(PRIVACY_REDUCTION)
    if isinstance(fidelity, str) and any(word in fidelity.lower() for word in _FIDELITY_WORDS):
        reasons.append(f"declared fidelity limits replay: {fidelity[:256]}")
    return reasons


def unique(reasons: Iterable[str]) -> list[str]:
    """Return the reasons without repeats, in order."""
    return list(dict.fromkeys(reasons))
