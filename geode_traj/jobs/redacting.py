"""The published form of one trajectory in a pipeline: by a review's decisions, or by policy alone."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from geode_traj.codec.files import sha256_file
from geode_traj.contract.policy import Policy
from geode_traj.errors import DataError
from geode_traj.jobs.review_start import start
from geode_traj.review import exported
from geode_traj.review.decide import decide_by_policy
from geode_traj.review.folder import Found, open_review
from geode_traj.review.guide import Guides
from geode_traj.review.redact import Redacted, ReleaseRedactor
from geode_traj.review.state import APPROVE, State
from geode_traj.scan.engine import Scanner
from geode_traj.scan.numbering import Numbering


def redact_by_decisions(path: Path, out: Path, decisions: Path, *, scanner: Scanner, key: bytes) -> Redacted:
    """Write the published form of a trajectory as a review decided; it is not marked as reviewed.

    Raises `DataError` TE306 where the decisions are about other bytes, or leave the trajectory out, TE318
    where they were made with other rules, and as `ReleaseRedactor.write` does.
    """
    decided = exported.read(decisions)
    if decided.ruleset_sha256 != scanner.ruleset.digest:
        raise DataError("TE318", why=f"these are {scanner.ruleset.name}", place=str(decisions))
    digest = sha256_file(path)[0]
    if digest not in decided.findings:
        raise DataError("TE306", why="the decisions are about other bytes", place=str(path))
    findings = decided.findings[digest]
    if findings is None:
        raise DataError("TE306", why="the decisions leave it out", place=str(path))
    return _write(path, out, findings, decided.approved, scanner, key, decided.policy)


def redact_by_policy(
    path: Path,
    out: Path,
    *,
    policy: Policy,
    scanner: Scanner,
    key: bytes,
    at: str,
    sensitive: Iterable[str] = (),
) -> Redacted:
    """Write the published form of a trajectory by policy alone; it is not marked as reviewed.

    Raises `DataError` TE319 where the policy wants a person for something, TE316 for what cannot be scanned,
    TE303 for what is invalid.
    """
    parent = Path(tempfile.mkdtemp(prefix="geode-traj-redact-"))
    try:
        start([path], parent / "review", policy=policy, scanner=scanner, at=at, sensitive=sensitive)
        state = State(open_review(parent / "review"))
        decide_by_policy(state, at=at)
        left = next(state.undecided(), None)
        if left is not None:
            why = f"the policy {policy.name} wants a person for {left.cls}"
            raise DataError("TE319", why=why, place=str(path))
        findings = state.review.findings
        approved = frozenset(found.id for found in findings if state.outcome(found).kind == APPROVE)
        return _write(path, out, findings, approved, scanner, key, policy)
    finally:
        shutil.rmtree(parent, ignore_errors=True)


def _write(
    path: Path,
    out: Path,
    findings: Iterable[Found],
    approved: frozenset[int],
    scanner: Scanner,
    key: bytes,
    policy: Policy,
) -> Redacted:
    redactor = ReleaseRedactor(key, Numbering(key), scanner, policy=policy)
    redactor.learn([path])
    return redactor.write(redactor.survey(path), out, Guides(findings, approved), reviewed=False)
