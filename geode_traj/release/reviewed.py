"""A review folder, held against its sign-off: any byte changed since voids it.

`candidate/` holds what was looked at, `redacted/` what came out of it, `findings.jsonl` what was found, and
`signoff.json` (geode-traj.signoff@1) binds the digests of all three.
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
from geode_traj.contract import review_folder
from geode_traj.contract.release import PrivacyReview, path_fault, privacy_review, record_sha256
from geode_traj.errors import DataError, TrajError, WorldError
from geode_traj.scan.rules import Ruleset

_MAX_SIGNOFF: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A review that holds: record, sign-off and its digest, and each redacted file with what binds it."""

    review: PrivacyReview
    signoff: dict[str, Any]
    signoff_sha256: str
    files: dict[Path, dict[str, Any]]


def read_review(
    folder: Path, scope: str, files: Iterable[Path] | None = None, *, ruleset: Ruleset
) -> Reviewed:
    """Read a review folder and hold every file against its sign-off.

    `files`, where given, must be all of the review's, as candidates or as redacted. `ruleset` is what a scan
    looks for now. Raises `DataError` TE306 where something was not reviewed, TE307 where the review no longer
    holds, or is for another scope, TE311 for a malformed key.
    """
    data, signoff = _signoff(folder)
    _salted(folder, signoff)
    if signoff["review"]["record_sha256"] != record_sha256(signoff["review"]):
        raise _void("record_sha256 is not the digest of the record")
    review = privacy_review(signoff["review"], place=review_folder.SIGNOFF)
    if review.scope != scope.strip():
        raise _void(f"it was made for the scope {clip(review.scope, 80)}, not {clip(scope.strip(), 80)}")
    if signoff["ruleset_sha256"] != ruleset.digest:
        raise _void(f"it was made with the ruleset {clip(signoff['ruleset'], 80)}, not {ruleset.name}")
    _same(folder / review_folder.FINDINGS, review_folder.FINDINGS, signoff["findings_sha256"])
    bound: dict[Path, dict[str, Any]] = {}
    for entry in signoff["files"]:
        for part in (review_folder.CANDIDATE, review_folder.REDACTED):
            name = f"{part}/{entry['path']}"
            _same(folder / name, name, entry[f"{part}_sha256"])
        bound[folder / review_folder.REDACTED / entry["path"]] = entry
    for path in _walk(folder / review_folder.REDACTED):
        if path not in bound:
            raise DataError("TE306", why=f"{clip(path.name, 128)} stands in no sign-off")
    if files is not None:
        _named(files, signoff["files"])
    return Reviewed(review, signoff, sha256_bytes(data), bound)


def _signoff(folder: Path) -> tuple[bytes, dict[str, Any]]:
    place = str(folder / review_folder.SIGNOFF)
    if not os.path.lexists(folder / review_folder.SIGNOFF):
        raise DataError("TE306", place=str(folder), why="the review has no sign-off")
    data = read_bounded(folder / review_folder.SIGNOFF, _MAX_SIGNOFF)
    try:
        value = loads(data, place=place)
    except DataError as error:
        raise DataError("TE306", place=place, why=f"the sign-off is {error.message}") from None
    problems = schema.problems(review_folder.SCHEMA, value)
    if problems:
        pointer, message = problems[0]
        raise DataError(
            "TE306", place=place, why=f"the sign-off does not fit its schema: {pointer} {message}"
        )
    paths = [entry["path"] for entry in value["files"]]
    if len(set(paths)) < len(paths) or any(path_fault(path) for path in paths):
        raise DataError("TE306", place=place, why="the sign-off names a file twice, or none that can be")
    return data, dict(value)


def _salted(folder: Path, signoff: dict[str, Any]) -> None:
    """Hold a sign-off against its salt, which covers all of it, where the review made the key itself."""
    path = folder / review_folder.KEY
    if "salt" in signoff and os.path.lexists(path):
        key = review_folder.key_of(read_bounded(path, review_folder.MAX_KEY_FILE), place=str(path))
        if review_folder.salt(signoff, key) != signoff["salt"]:
            raise _void("its salt is not that of the review's key")


def _void(why: str) -> DataError:
    return DataError("TE307", place=review_folder.SIGNOFF, why=why)


def _same(path: Path, name: str, digest: str) -> None:
    try:
        plain = stat.S_ISREG(path.lstat().st_mode)
        actual = sha256_file(path)[0] if plain else ""
    except (OSError, TrajError):
        raise _void(f"{clip(name, 128)} is gone or cannot be read") from None
    if actual != digest:
        raise _void(f"{clip(name, 128)} is not what was signed off")


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
