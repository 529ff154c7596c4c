"""What people approved in a review, as allow tables for a policy: the next review need not ask again."""

from __future__ import annotations

from collections.abc import Iterator

from geode_traj.contract.policy import Allowed
from geode_traj.jobs.scan_parts import keyed
from geode_traj.review.context import Candidates
from geode_traj.review.folder import Found, Review
from geode_traj.review.state import APPROVE, State
from geode_traj.scan.engine import Scanner
from geode_traj.scan.known import HOST, USER


def allowed(review: Review) -> Iterator[Allowed]:
    """Yield an entry for each rule and value that was approved by people, in order of the findings.

    Values stand in it as digests under the review's key: they mean something to reviews with that key alone,
    and tell nobody without it anything.
    """
    state = State(review)
    candidates = Candidates(review)
    scanner = Scanner("publish", review.begun.sensitive_fields)
    mac = keyed(review.key)
    told: set[tuple[str, int]] = set()
    for found in review.findings:
        outcome = state.outcome(found)
        if outcome.kind != APPROVE or found.allowed is not None or (found.rule, found.value) in told:
            continue
        value = _value(found, candidates, scanner)
        if value is not None:
            told.add((found.rule, found.value))
            yield Allowed(found.rule, outcome.reason, value=f"{mac('value', value):064x}")


def _value(found: Found, candidates: Candidates, scanner: Scanner) -> str | None:
    """Return what was found, as it was numbered: decoded, where it stands in an encoding."""
    text = candidates.text(found)
    for span in scanner.find(text, found.pointer.rpartition("/")[2]):
        if (span.start, span.end) == found.span and span.rule == found.rule:
            return span.value
    if found.span is None or found.view is not None:
        return None
    # A name that all candidates together have taught: this text alone does not show it.
    start, end = found.span
    return text[start:end].lower() if found.cls in (USER, HOST) else text[start:end]
