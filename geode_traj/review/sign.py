"""Sign-off: trajectories in, a review folder out, made whole or not at all.

    candidate/NAME     the private bytes that were reviewed, unchanged
    redacted/NAME      their published form
    findings.jsonl     what was found: place in the published form, class, value number; never a value
    signoff.json       the reviewer's statement, bound to the digests of all of these; private as they are
    key                the private key of this review (0600), unless one was given; never part of a release

One review folder becomes one release: its files share ids, value numbers and the key.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

from geode_traj import __version__
from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import CHUNK, read_bounded, reading, sha256_file, sync_folder, write_new
from geode_traj.contract import review_folder
from geode_traj.contract.encoding import encode
from geode_traj.contract.publish import KEY_BYTES
from geode_traj.contract.release import PrivacyReview, path_fault, privacy_review
from geode_traj.contract.times import is_calendar, iso_seconds
from geode_traj.errors import DataError, WorldError
from geode_traj.review.redact import Redacted, ReleaseRedactor
from geode_traj.review.rescan import Engine, refuse_words
from geode_traj.scan.engine import Scanner
from geode_traj.scan.numbering import Numbering
from geode_traj.scan.rules import Ruleset


@dataclass(frozen=True, slots=True)
class SignedFile:
    """One trajectory of a sign-off: its name in both folders, the digest reviewed, what came out."""

    path: str
    candidate_sha256: str
    redacted: Redacted

    def to_json(self) -> dict[str, Any]:
        """Return the file's entry in `signoff.json`."""
        return {
            "path": self.path,
            "candidate_sha256": self.candidate_sha256,
            "redacted_sha256": self.redacted.sha256,
            "trajectory_id": self.redacted.trajectory_id,
            "findings": self.redacted.findings,
            "redactions": self.redacted.redactions,
        }


@dataclass(frozen=True, slots=True)
class SignOff:
    """What a review folder states: who reviewed, which files, found by which rules."""

    folder: Path
    review: PrivacyReview
    files: tuple[SignedFile, ...]
    findings_sha256: str
    ruleset: str
    ruleset_sha256: str
    salt: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return `signoff.json` (schema geode-traj.signoff@1); there is no policy file yet to bind."""
        return {
            "schema_id": review_folder.SCHEMA,
            "review": self.review.to_json(),
            "files": [file.to_json() for file in self.files],
            "findings_sha256": self.findings_sha256,
            "policy_sha256": None,
            "ruleset": self.ruleset,
            "ruleset_sha256": self.ruleset_sha256,
            "tool": {"name": "geode-traj", "version": __version__},
            "salt": self.salt,
        }


def sign(
    trajectories: Sequence[Path],
    out: Path,
    *,
    reviewer: str,
    method: str,
    scope: str,
    attestation: str,
    reviewed_at: float,
    key: bytes | None = None,
    key_file: Path | None = None,
    sensitive_keys: Iterable[str] = (),
    ruleset: Ruleset | None = None,
    engines: Iterable[Engine] = (),
) -> SignOff:
    """Redact the trajectories of one release, check the result, and make the review folder `out`.

    `reviewed_at` is in Unix seconds (the fraction is cut). `key` is the store's private key, else that in
    `key_file`, else a new one. The order of `trajectories` does not matter.

    Raises `DataError` TE303 (a candidate does not verify), TE308 (something is found in the result or in the
    review's own words), TE310 (a file name or trajectory id stands twice), TE311 (no good key), TE314 (a
    review field out of bounds), `WorldError` TE104 (nothing given), TE201, TE601, TE602. Nothing is left.
    """
    scanner = Scanner("publish", sensitive_keys, ruleset)
    review = _review(reviewer, method, scope, attestation, reviewed_at)
    refuse_words(astuple(review), scanner)
    made = key is None and key_file is None
    secret = key if key is not None else read_key(key_file) if key_file else secrets.token_bytes(KEY_BYTES)
    if not trajectories:
        raise WorldError("TE104")
    redactor = ReleaseRedactor(secret, Numbering(secret), scanner, engines=engines)
    redactor.learn(trajectories)
    with _new_folder(out) as folder:
        if made:
            write_new(folder / review_folder.KEY, [secret.hex().encode(), b"\n"], mode=0o600)
        names = _copy(trajectories, folder / review_folder.CANDIDATE, redactor)
        files = _redact(names, folder, redactor)
        rules = scanner.ruleset
        findings = sha256_file(folder / review_folder.FINDINGS)[0]
        signed = SignOff(out, review, files, findings, rules.name, rules.digest)
        signed = replace(signed, salt=review_folder.salt(signed.to_json(), secret))
        write_new(folder / review_folder.SIGNOFF, [dumps(signed.to_json()), b"\n"])
    return signed


def read_key(path: Path) -> bytes:
    """Return the private key in a file that a review made: hex digits; `DataError` TE311 if it is none."""
    return review_folder.key_of(read_bounded(path, review_folder.MAX_KEY_FILE), place=path.name)


def _review(reviewer: str, method: str, scope: str, attestation: str, reviewed_at: float) -> PrivacyReview:
    if not is_calendar(reviewed_at):
        raise DataError("TE314", what="reviewed_at", why="it is no time in the years 1 to 9999")
    fields = {"reviewer": reviewer, "method": method, "scope": scope, "attestation": attestation}
    return privacy_review({**fields, "reviewed_at": iso_seconds(reviewed_at)})


@contextmanager
def _new_folder(out: Path) -> Iterator[Path]:
    """Make a private folder beside `out` that takes its name when all went well, and goes when not."""
    if os.path.lexists(out):
        raise WorldError("TE601", path=out.name, place=str(out))
    folder = out.with_name(f".{out.name}.{secrets.token_hex(8)}.tmp")
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise WorldError("TE602", path=out.name, why=error.strerror, place=str(out)) from None
    try:
        for name in (review_folder.CANDIDATE, review_folder.REDACTED):
            (folder / name).mkdir()
        yield folder
        for name in (review_folder.CANDIDATE, review_folder.REDACTED, ""):
            sync_folder(folder / name)
        folder.rename(out)
        sync_folder(out.parent)
    except OSError as error:
        raise WorldError("TE602", path=out.name, why=error.strerror, place=str(out)) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy(trajectories: Sequence[Path], folder: Path, redactor: ReleaseRedactor) -> list[str]:
    """Copy the candidates, so that what is reviewed cannot change; return their names, sorted."""
    names: dict[str, str] = {}
    for path in sorted(trajectories, key=lambda path: path.name):
        fault = path_fault(path.name)
        if fault:
            raise DataError("TE314", what="a trajectory's file name", why=fault, place=path.name)
        name = redactor.file_name(path.name)
        if names.setdefault(name.casefold(), name) != name or (folder / name).exists():
            raise DataError("TE310", what="a trajectory's file name", place=path.name)
        with reading(path) as stream:
            write_new(folder / name, iter(lambda: stream.read(CHUNK), b""), mode=0o600)
    return sorted(names.values())


def _redact(names: list[str], folder: Path, redactor: ReleaseRedactor) -> tuple[SignedFile, ...]:
    surveys = {name: redactor.survey(folder / review_folder.CANDIDATE / name) for name in names}
    files = []
    with (folder / review_folder.FINDINGS).open("xb") as findings:
        for name, survey in surveys.items():

            def report(entry: dict[str, object], path: str = name) -> None:
                findings.write(encode({"path": path, **entry}) + b"\n")

            redacted = redactor.write(survey, folder / review_folder.REDACTED / name, report)
            candidate_sha256, _ = sha256_file(folder / review_folder.CANDIDATE / name)
            files.append(SignedFile(name, candidate_sha256, redacted))
        findings.flush()
        os.fsync(findings.fileno())
    if len({file.redacted.trajectory_id for file in files}) < len(files):
        raise DataError("TE310", what="a trajectory id")
    return tuple(files)
