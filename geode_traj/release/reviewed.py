"""A review folder, held against its sign-off: any byte changed since voids it.

`review.json` says what the review began with, `policy.toml` what held for it, `candidate/` holds what was
looked at, `findings.jsonl` what was found, `decisions.jsonl` what was decided, `redacted/` what came out of
it. `signoff.json` (geode-traj.signoff@1) binds the digests of them all; `signoff.dsse.json`, where the
reviewer has a key, says the same signed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from geode_traj.codec import schema
from geode_traj.codec.files import read_bounded, sha256_bytes, sha256_file
from geode_traj.codec.reading import loads
from geode_traj.codec.text import clip
from geode_traj.contract import policy as policies
from geode_traj.contract import review_folder
from geode_traj.contract.policy import Policy
from geode_traj.contract.release import PrivacyReview, path_fault, privacy_review, record_sha256
from geode_traj.errors import DataError, TrajError, WorldError
from geode_traj.release.stated import MAX_BYTES, require_same
from geode_traj.scan.rules import Ruleset

_MAX_LIST: Final = 256 << 20


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A review that holds: its record, policy and sign-off, and each redacted file with what binds it.

    `statement` is the reviewer's signed statement (a DSSE envelope), None where the reviewer has no key.
    """

    review: PrivacyReview
    policy: Policy
    signoff: dict[str, Any]
    signoff_sha256: str
    files: dict[Path, dict[str, Any]]
    statement: bytes | None


def read_review(
    folder: Path, scope: str, files: Iterable[Path] | None = None, *, ruleset: Ruleset, policy: Policy
) -> Reviewed:
    """Read a review folder and hold every file against its sign-off.

    `files`, where given, must be all that the review publishes, as candidates or as redacted. `ruleset` is
    what a scan looks for now, `policy` what holds now. Raises `DataError` TE306 where something was not
    reviewed, TE307 where a byte was changed since, or the review is for another scope, TE311 for a malformed
    key, TE317 for a policy that is anywhere looser than the one that holds, TE318 for other rules.
    """
    data, signoff = _signoff(folder)
    review = _record(signoff, scope)
    _salted(folder, signoff)
    _same(folder, review_folder.FINDINGS, signoff["findings_sha256"])
    _same(folder, review_folder.JOURNAL, signoff["decisions_sha256"])
    redacted = _bind(folder, signoff)
    if signoff["ruleset_sha256"] != ruleset.digest:
        why = f"it was made with {clip(signoff['ruleset'], 80)}, these are {ruleset.name}"
        raise DataError("TE318", place=review_folder.SIGNOFF, why=why)
    held = _policy(folder, signoff, policy)
    if files is not None:
        _named(files, signoff["files"])
    digest = sha256_bytes(data)
    signed: bytes | None = None
    if os.path.lexists(folder / review_folder.DSSE):
        signed = _bytes(folder, review_folder.DSSE, MAX_BYTES)
        require_same(signed, signoff, digest)
    return Reviewed(review, held, signoff, digest, redacted, signed)


def _signoff(folder: Path) -> tuple[bytes, dict[str, Any]]:
    place = str(folder / review_folder.SIGNOFF)
    if not os.path.lexists(folder / review_folder.SIGNOFF):
        raise DataError("TE306", place=str(folder), why="the review has no sign-off")
    data = _bytes(folder, review_folder.SIGNOFF, _MAX_LIST)
    try:
        value = loads(data, place=place)
    except DataError as error:
        raise DataError("TE306", place=place, why=f"the sign-off is {error.message}") from None
    problems = schema.problems(review_folder.SCHEMA, value)
    if problems:
        pointer, message = problems[0]
        why = f"the sign-off does not fit its schema: {pointer} {message}"
        raise DataError("TE306", place=place, why=why)
    paths = [entry["path"] for entry in (*value["files"], *value["withheld"])]
    if len(set(paths)) < len(paths) or any(path_fault(path) for path in paths):
        raise DataError("TE306", place=place, why="the sign-off names a file twice, or none that can be")
    return data, dict(value)


def _record(signoff: dict[str, Any], scope: str) -> PrivacyReview:
    if signoff["review"]["record_sha256"] != record_sha256(signoff["review"]):
        raise _void("record_sha256 is not the digest of the record")
    review = privacy_review(signoff["review"], place=review_folder.SIGNOFF)
    if review.scope != scope.strip():
        raise _void(f"it was made for the scope {clip(review.scope, 80)}, not {clip(scope.strip(), 80)}")
    return review


def _salted(folder: Path, signoff: dict[str, Any]) -> None:
    """Hold a sign-off against its salt, which the review's own key makes over all of it."""
    data = _bytes(folder, review_folder.KEY, review_folder.MAX_KEY_FILE)
    key = review_folder.key_of(data, place=str(folder / review_folder.KEY))
    if review_folder.salt(signoff, key) != signoff["salt"]:
        raise _void("its salt is not that of the review's key")


def _policy(folder: Path, signoff: dict[str, Any], policy: Policy) -> Policy:
    """Return the policy of a review; `DataError` TE317 where it is looser than the one that holds now."""
    name = review_folder.POLICY
    data = _bytes(folder, name, policies.MAX_FILE, signoff["policy_sha256"])
    held = policies.read(data, place=str(folder / name))
    if held.name != signoff["policy"]:
        raise _void("it names another policy")
    looser = policies.looser(held, policy)
    if looser:
        more = f", and {len(looser) - 1} more" if len(looser) > 1 else ""
        raise DataError("TE317", place=name, why=f"{clip(looser[0], 200)}{more}")
    return held


def _bind(folder: Path, signoff: dict[str, Any]) -> dict[Path, dict[str, Any]]:
    """Compare every candidate and every redacted file; return the redacted ones and what binds each."""
    files = {entry["path"]: entry for entry in signoff["files"]}
    candidates = _begun(folder, signoff)
    if not files.keys() <= candidates.keys():
        raise _void("it publishes what was no candidate")
    bound = {f"{review_folder.CANDIDATE}/{path}": digest for path, digest in candidates.items()}
    for path, entry in files.items():
        bound[f"{review_folder.REDACTED}/{path}"] = entry["redacted_sha256"]
    for name, digest in bound.items():
        _same(folder, name, digest)
    for part in (review_folder.CANDIDATE, review_folder.REDACTED):
        for path in _walk(folder / part):
            if path.relative_to(folder).as_posix() not in bound:
                raise DataError("TE306", why=f"{clip(path.name, 128)} stands in no sign-off")
    return {folder / review_folder.REDACTED / path: entry for path, entry in files.items()}


def _begun(folder: Path, signoff: dict[str, Any]) -> dict[str, str]:
    """Return the digests of the candidates a review began with, each published or withheld by its sign-off.

    What was refused at the start has no bytes here, but it is withheld too: a release counts it.
    """
    name = review_folder.BEGUN
    value = loads(_bytes(folder, name, _MAX_LIST, signoff["review_sha256"]), place=name)
    problems = schema.problems(review_folder.BEGUN_SCHEMA, value)
    if problems or not isinstance(value, dict):
        raise _void(f"{name} does not fit its schema")
    for key in ("policy_sha256", "findings_sha256", "ruleset", "ruleset_sha256"):
        if value[key] != signoff[key]:
            raise _void(f"{key} is not what it began with")
    candidates = {one["path"]: one["sha256"] for one in value["candidates"]}
    began = {**candidates, **{one["path"]: one["sha256"] for one in value["refused"]}}
    signed = {one["path"]: one["candidate_sha256"] for one in (*signoff["files"], *signoff["withheld"])}
    for path in began.keys() - signed.keys():
        raise DataError("TE306", why=f"{clip(path, 128)} is neither signed off nor left out")
    if signed != began:
        raise _void("it names other candidates than the review began with")
    return candidates


def _bytes(folder: Path, name: str, limit: int, digest: str | None = None) -> bytes:
    """Return the bytes of a part of the folder, which must have a digest where one is given."""
    try:
        data = read_bounded(_plain(folder / name), limit)
    except (OSError, TrajError):
        raise _gone(name) from None
    if digest is not None and sha256_bytes(data) != digest:
        raise _changed(name)
    return data


def _same(folder: Path, name: str, digest: str) -> None:
    try:
        actual, _ = sha256_file(_plain(folder / name))
    except (OSError, TrajError):
        raise _gone(name) from None
    if actual != digest:
        raise _changed(name)


def _plain(path: Path) -> Path:
    if not stat.S_ISREG(path.lstat().st_mode):
        raise OSError
    return path


def _void(why: str) -> DataError:
    return DataError("TE307", place=review_folder.SIGNOFF, why=why)


def _gone(name: str) -> DataError:
    return _void(f"{clip(name, 128)} is gone or cannot be read")


def _changed(name: str) -> DataError:
    return _void(f"{clip(name, 128)} is not what was signed off")


def _walk(folder: Path) -> Iterator[Path]:
    """Yield everything that stands in a folder and is none itself, links unfollowed."""
    try:
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                path = folder / entry.name
                if entry.is_dir(follow_symlinks=False):
                    yield from _walk(path)
                else:
                    yield path
    except OSError as error:
        raise WorldError("TE201", path=folder.name, why=error.strerror, place=str(folder)) from None


def _named(files: Iterable[Path], entries: list[dict[str, Any]]) -> None:
    """Return if the files are all that was reviewed, by their bytes."""
    known = {
        entry[f"{part}_sha256"]: entry["path"]
        for entry in entries
        for part in (review_folder.CANDIDATE, review_folder.REDACTED)
    }
    named = set()
    for file in files:
        digest, _ = sha256_file(file)
        if digest not in known:
            raise DataError("TE306", place=str(file), why="no sign-off names these bytes")
        named.add(known[digest])
    left_out = sorted({entry["path"] for entry in entries} - named)
    if left_out:
        why = f"one review is one release, and {clip(left_out[0], 128)} is not named"
        raise DataError("TE314", what="the list of files", why=why)
