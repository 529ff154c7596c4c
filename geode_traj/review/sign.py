"""Sign-off: a decided review becomes published forms, checked, and a statement that binds them.

    redacted/NAME        the published form of a candidate that was not left out
    signoff.json         the reviewer's statement, bound to the digests of everything in the folder
    signoff.dsse.json    the same as a signed in-toto statement, where the reviewer has a key

One review folder becomes one release: its files share ids, value numbers and the key. Whoever signs again
after another decision gets all of it anew; in between the folder is not signed off.
"""

from __future__ import annotations

import secrets
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

from geode_traj import __version__
from geode_traj.attest import dsse, statement
from geode_traj.attest.signer import Signer
from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes, sha256_file, sync_folder, write_new
from geode_traj.contract import review_folder
from geode_traj.contract.release import PrivacyReview, privacy_review
from geode_traj.contract.times import is_calendar, iso_seconds
from geode_traj.errors import DataError, WorldError
from geode_traj.review.folder import Found, Review, require_candidates
from geode_traj.review.guide import Guides
from geode_traj.review.redact import Redacted, ReleaseRedactor
from geode_traj.review.rescan import Engine, refuse_words
from geode_traj.review.state import APPROVE, State
from geode_traj.scan.engine import Scanner
from geode_traj.scan.numbering import Numbering

_TOLD = 3


@dataclass(frozen=True, slots=True)
class SignedFile:
    """One trajectory of a sign-off: its name, the digest reviewed, what was found and made."""

    path: str
    candidate_sha256: str
    findings: dict[str, int]
    redacted: Redacted

    def to_json(self) -> dict[str, Any]:
        """Return the file's entry in `signoff.json`."""
        return {
            "path": self.path,
            "candidate_sha256": self.candidate_sha256,
            "redacted_sha256": self.redacted.sha256,
            "trajectory_id": self.redacted.trajectory_id,
            "findings": self.findings,
            "approved": self.redacted.approved,
            "redactions": self.redacted.redactions,
        }


@dataclass(frozen=True, slots=True)
class Withheld:
    """One candidate that stays out: its name here, its digest where it has one, its class, and why."""

    path: str
    candidate_sha256: str | None
    cls: str
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Return the entry in `signoff.json`."""
        return {
            "path": self.path,
            "candidate_sha256": self.candidate_sha256,
            "class": self.cls,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class SignOff:
    """What a review states: who reviewed, which files, what was left out, by which policy and rules."""

    folder: Path
    review: PrivacyReview
    files: tuple[SignedFile, ...]
    withheld: tuple[Withheld, ...]
    bound: dict[str, Any]
    salt: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return `signoff.json` (schema geode-traj.signoff@1)."""
        return {
            "schema_id": review_folder.SCHEMA,
            "review": self.review.to_json(),
            "files": [file.to_json() for file in self.files],
            "withheld": [one.to_json() for one in self.withheld],
            **self.bound,
            "tool": {"name": "geode-traj", "version": __version__},
            "salt": self.salt,
        }


def sign(
    review: Review,
    *,
    reviewer: str,
    method: str,
    scope: str,
    attestation: str,
    reviewed_at: float,
    scanner: Scanner,
    signer: Signer | None = None,
    engines: Iterable[Engine] = (),
) -> SignOff:
    """Redact the trajectories of a review, check the result, and sign it off.

    `reviewed_at` is in Unix seconds (the fraction is cut). `scanner` must look for what the review looked
    for. With a `signer` the sign-off is also signed as an in-toto statement (release.md §2).

    Raises `DataError` TE307 (a candidate was changed), TE308 (something is found in the result or in the
    review's own words), TE310 (a trajectory id stands twice), TE314 (a review field out of bounds, or nothing
    to publish), TE318 (other rules than the review's), TE319 (undecided, or too little seen). Nothing is left
    then, and an earlier sign-off still stands.
    """
    said = _said(reviewer, method, scope, attestation, reviewed_at)
    refuse_words(astuple(said), scanner)
    if scanner.ruleset.digest != review.begun.ruleset_sha256:
        why = f"it was begun with {review.begun.ruleset}, these are {scanner.ruleset.name}"
        raise DataError("TE318", why=why)
    state = State(review)
    _refuse_open(state)
    require_candidates(review)
    public = [one.path for one in review.begun.candidates if one.path not in state.rejected]
    if not public:
        raise DataError("TE314", what="the review", why="every trajectory of it is left out")
    with _replacing(review.folder) as folder:
        redactor = ReleaseRedactor(
            review.key, Numbering(review.key), scanner, engines=engines, policy=review.policy
        )
        files = _redact(state, public, folder, redactor)
        made = SignOff(review.folder, said, files, _withheld(state), _bound(review, state))
        made = replace(made, salt=review_folder.salt(made.to_json(), review.key))
        data = dumps(made.to_json()) + b"\n"
        write_new(folder / review_folder.SIGNOFF, [data])
        if signer is not None:
            subjects, predicate = review_folder.stated(made.to_json(), sha256_bytes(data))
            payload = statement.make(subjects, statement.PRIVACY_REVIEW, predicate)
            envelope = dsse.sign(signer, payload, statement.PAYLOAD_TYPE)
            write_new(folder / review_folder.DSSE, [envelope])
    return made


def _said(reviewer: str, method: str, scope: str, attestation: str, reviewed_at: float) -> PrivacyReview:
    if not is_calendar(reviewed_at):
        raise DataError("TE314", what="reviewed_at", why="it is no time in the years 1 to 9999")
    fields = {"reviewer": reviewer, "method": method, "scope": scope, "attestation": attestation}
    return privacy_review({**fields, "reviewed_at": iso_seconds(reviewed_at)})


def _refuse_open(state: State) -> None:
    left = list(state.undecided())
    if left:
        first = ", ".join(f"finding {found.id} ({found.cls})" for found in left[:_TOLD])
        more = f" and {len(left) - _TOLD} more" if len(left) > _TOLD else ""
        raise DataError("TE319", why=f"{first}{more}")
    unseen = list(state.uncovered())
    if unseen:
        path, percent, wanted = unseen[0]
        more = f", and {len(unseen) - 1} more" if len(unseen) > 1 else ""
        why = f"{percent} % of {path} was seen, the policy wants {wanted} %{more}"
        raise DataError("TE319", why=why)


def _withheld(state: State) -> tuple[Withheld, ...]:
    """Return what stays out: what people left out, and what could not be reviewed at all."""
    left_out = [
        Withheld(one.path, one.sha256, body["class"], body["reason"])
        for one in state.review.begun.candidates
        if one.path in state.rejected and (body := state.rejected[one.path].body)
    ]
    refused = [
        Withheld(one.path, one.sha256, "withheld-sealed", one.why) for one in state.review.begun.refused
    ]
    return tuple(sorted([*left_out, *refused], key=lambda one: one.path))


def _bound(review: Review, state: State) -> dict[str, Any]:
    """Return what a sign-off binds besides its files."""
    reviewers = {entry.body["reviewer"] for entry in review.journal.entries if entry.kind == "decision"}
    return {
        "review_sha256": sha256_file(review.folder / review_folder.BEGUN)[0],
        "findings_sha256": review.begun.findings_sha256,
        "decisions_sha256": sha256_file(review.folder / review_folder.JOURNAL)[0],
        "decisions": state.counts(),
        "approvals": state.approvals(),
        "reviewers": sorted(reviewers),
        "policy": review.policy.name,
        "policy_sha256": review.begun.policy_sha256,
        "ruleset": review.begun.ruleset,
        "ruleset_sha256": review.begun.ruleset_sha256,
    }


@contextmanager
def _replacing(folder: Path) -> Iterator[Path]:
    """Make a sign-off beside what stands there, which goes when all went well, and only then."""
    made = folder / f".signing-{secrets.token_hex(8)}"
    try:
        for left in folder.glob(".signing-*"):
            shutil.rmtree(left)  # of somebody who was interrupted
        (made / review_folder.REDACTED).mkdir(parents=True)
        yield made
        sync_folder(made / review_folder.REDACTED)
        for name in (review_folder.SIGNOFF, review_folder.DSSE):
            (folder / name).unlink(missing_ok=True)
        sync_folder(folder)
        shutil.rmtree(folder / review_folder.REDACTED, ignore_errors=True)
        (made / review_folder.REDACTED).rename(folder / review_folder.REDACTED)
        for name in (review_folder.DSSE, review_folder.SIGNOFF):
            if (made / name).is_file():
                (made / name).rename(folder / name)
        sync_folder(folder)
    except OSError as error:
        raise WorldError("TE602", path=folder.name, why=error.strerror, place=str(folder)) from None
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _redact(
    state: State, names: list[str], folder: Path, redactor: ReleaseRedactor
) -> tuple[SignedFile, ...]:
    candidates = state.review.folder / review_folder.CANDIDATE
    redactor.learn(candidates / name for name in names)
    # The start verified them, and their digests are those of then.
    surveys = {name: redactor.survey(candidates / name, verified=True) for name in names}
    of_path: dict[str, list[Found]] = {name: [] for name in names}
    for found in state.review.findings:
        if found.path in of_path:
            of_path[found.path].append(found)
    files = []
    for name, survey in surveys.items():
        findings = of_path[name]
        approved = frozenset(found.id for found in findings if state.outcome(found).kind == APPROVE)
        redacted = redactor.write(survey, folder / review_folder.REDACTED / name, Guides(findings, approved))
        counts = dict(sorted(Counter(found.cls for found in findings).items()))
        files.append(SignedFile(name, state.review.of_path(name).sha256, counts, redacted))
    if len({file.redacted.trajectory_id for file in files}) < len(files):
        raise DataError("TE310", what="a trajectory id")
    return tuple(files)
