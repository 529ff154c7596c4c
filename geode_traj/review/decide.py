"""Decisions: which findings they are about, what they may say, and their entry in the journal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from geode_traj.codec.text import clip
from geode_traj.contract.policy import REASONS
from geode_traj.contract.release import REVIEW_BOUNDS, bounded
from geode_traj.errors import DataError, WorldError
from geode_traj.review import context
from geode_traj.review.folder import Found, Review
from geode_traj.review.journal import Entry
from geode_traj.review.rescan import refuse_words
from geode_traj.review.state import APPROVE, LATER, POLICY, REDACT, State, fixed_outcome, ranges
from geode_traj.scan.engine import Scanner

ACTIONS: Final = (APPROVE, REDACT, LATER)
SEALED: Final = "withheld-sealed"
CLASSES: Final = (SEALED, "private-secret", "reproducible-cache")
"""What a trajectory that is left out is; with `public` these are the classes of a release's disclosure."""

REJECTIONS: Final = ("private", "no-consent", "third-party", "low-quality", "reproducible")
"""Why a whole trajectory is left out; a closed list."""

MAX_NOTE: Final = 1024
_MAX_RANGES: Final = 20_000


@dataclass(frozen=True, slots=True)
class Choice:
    """Which findings are meant: those that fit everything given; nothing given is none."""

    ids: frozenset[int] = frozenset()
    values: frozenset[int] = frozenset()
    rule: str | None = None
    cls: str | None = None
    band: str | None = None
    path: str | None = None
    everything: bool = False

    def of(self, findings: Iterable[Found]) -> list[Found]:
        """Return the findings that are meant."""
        if self == Choice():
            return []
        return [found for found in findings if self._fits(found)]

    def _fits(self, found: Found) -> bool:
        return (
            (not self.ids or found.id in self.ids)
            and (not self.values or found.value in self.values)
            and self.rule in (None, found.rule)
            and self.cls in (None, found.cls)
            and self.band in (None, found.band)
            and self.path in (None, found.path)
        )


@dataclass(frozen=True, slots=True)
class Decided:
    """What a decision did: its entry (None: nothing was left to decide), and what the policy had fixed."""

    entry: Entry | None
    findings: int
    fixed: int


def decide(
    state: State,
    chosen: Sequence[Found],
    action: str,
    *,
    reviewer: str,
    at: str,
    reason: str = "",
    note: str = "",
) -> Decided:
    """Say what becomes of findings, and return once that is on disk.

    `action` is approve (with one of the closed reasons), redact or later. What the policy has fixed is left
    out and counted. Raises `WorldError` TE101 for an action, reason or reviewer that is none, `DataError`
    TE308 where the text around a finding would not pass the gates of a release, or the note holds a finding.
    """
    by = named(reviewer)
    if action not in ACTIONS:
        raise WorldError("TE101", what="the action", why=f"it is none of {', '.join(ACTIONS)}")
    if (action == APPROVE) != (reason in REASONS) or (reason and action != APPROVE):
        raise WorldError("TE101", what="the reason", why=f"an approval gives one of {', '.join(REASONS)}")
    body: dict[str, Any] = {"reviewer": by, "action": action}
    if reason:
        body["reason"] = reason
    if note:
        body["note"] = harmless(note, state.review)
    return _record(state, chosen, body, at)


def _record(state: State, chosen: Sequence[Found], body: dict[str, Any], at: str) -> Decided:
    policy = state.review.policy
    open_ = [found for found in chosen if fixed_outcome(policy, found) is None]
    if body["action"] == APPROVE:
        _refuse_gated(state.review, open_)
    fixed = len(chosen) - len(open_)
    if not open_:
        return Decided(None, 0, fixed)
    spans = ranges(found.id for found in open_)
    # A long choice is several entries, appended as one.
    entries = [
        ("decision", {**body, "findings": spans[start : start + _MAX_RANGES]})
        for start in range(0, len(spans), _MAX_RANGES)
    ]
    last = state.review.journal.append(at, entries)[-1]
    state.refresh()
    return Decided(last, len(open_), fixed)


def decide_by_policy(state: State, *, at: str) -> Decided | None:
    """Redact what nobody has decided, where the policy says so (`decisions.unattended`); else return None."""
    if state.review.policy.setting("decisions", "unattended") != REDACT:
        return None
    return _record(state, list(state.undecided()), {"reviewer": POLICY, "action": REDACT}, at)


def reject(
    state: State, path: str, *, reviewer: str, at: str, reason: str, cls: str = SEALED, note: str = ""
) -> Entry:
    """Leave a whole trajectory out of the release; it is counted there, by class and reason."""
    state.review.of_path(path)
    if reason not in REJECTIONS:
        raise WorldError("TE101", what="the reason", why=f"it is none of {', '.join(REJECTIONS)}")
    if cls not in CLASSES:
        raise WorldError("TE101", what="the class", why=f"it is none of {', '.join(CLASSES)}")
    body = {"reviewer": named(reviewer), "path": path, "reason": reason, "class": cls}
    if note:
        body["note"] = harmless(note, state.review)
    entry = state.review.journal.append(at, [("rejection", body)])[-1]
    state.refresh()
    return entry


def undo(state: State, *, reviewer: str, at: str, seq: int | None = None) -> Entry:
    """Take back a decision of a reviewer, the last that stands or that of entry `seq`; return what it was.

    Raises `WorldError` TE101 where there is none.
    """
    for entry in state.undoable(named(reviewer)):
        if seq in (None, entry.seq):
            state.review.journal.append(at, [("undo", {"reviewer": reviewer, "entry": entry.seq})])
            state.refresh()
            return entry
    what = f"entry {seq}" if seq is not None else "the last decision"
    raise WorldError("TE101", what=what, why=f"no decision of {clip(reviewer, 80)} that stands is that")


def see(state: State, path: str, events: Iterable[int], *, reviewer: str, at: str) -> None:
    """Note that events of a trajectory were on a reviewer's screen."""
    whole = state.review.of_path(path).events
    some = ranges(event for event in events if 1 <= event <= whole)
    if some:
        body = {"reviewer": named(reviewer), "path": path, "events": some}
        state.review.journal.append(at, [("seen", body)])
        state.refresh()


def named(reviewer: str) -> str:
    """Return a reviewer's name within its bounds; raise `WorldError` TE101 for none, and for the policy's."""
    try:
        name = bounded("the reviewer", reviewer, REVIEW_BOUNDS["reviewer"])
    except DataError as error:
        raise WorldError("TE101", what="the reviewer", why=error.message) from None
    if name.casefold() == POLICY:
        raise WorldError("TE101", what="the reviewer", why="that is how the policy signs")
    return name


def harmless(note: str, review: Review) -> str:
    """Return a note within its bounds in which nothing is found: it is kept beside the findings.

    Raises `DataError` TE308, TE314 for any other.
    """
    text = bounded("the note", note, MAX_NOTE)
    refuse_words([text], Scanner("publish", review.begun.sensitive_fields))
    return text


def _refuse_gated(review: Review, chosen: Sequence[Found]) -> None:
    """Refuse to approve what no release may hold: the eight gate classes stand in every policy."""
    for found, hits in context.gated(review, chosen):
        why = f"finding {found.id} holds {', '.join(hits)}, which no release may"
        raise WorldError("TE101", what="an approval", why=why)
