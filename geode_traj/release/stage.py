"""Staging: reviewed trajectories in, a release folder out, whole or not at all.

`stage` makes our folder from a review folder; `stage_geode` makes the bare folder that GEODE itself would, by
its gates alone. Neither changes a byte of a trajectory. What is written is checked where it was written and
again under its final name; any failure leaves nothing. The same inputs and time give the same bytes.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

from geode_traj.codec.text import clip
from geode_traj.contract.policy import Policy
from geode_traj.contract.release import PrivacyReview, file_names, is_release_name
from geode_traj.errors import DataError, WorldError
from geode_traj.release.admit import Candidate, admit, candidates
from geode_traj.release.around import Chain, write_around
from geode_traj.release.check.verdict import check, read_geode_release
from geode_traj.release.geode_folder import refuse_hits, terms, write_geode
from geode_traj.release.placing import place_verified, staging
from geode_traj.release.reviewed import Reviewed, read_review
from geode_traj.scan.engine import Scanner
from geode_traj.scan.rules import Ruleset
from geode_traj.verify import verify_path

_FIRST: Final = Chain()
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


def by_name(files: Iterable[Path]) -> dict[str, Path]:
    """Return files by name, as GEODE's staging takes them; `DataError` TE310 for a name that comes twice."""
    named: dict[str, Path] = {}
    for file in files:
        if named.setdefault(file.name, file) is not file:
            raise DataError("TE310", what=f"file name {clip(file.name, 128)}")
    return named


def stage_geode(
    files: Mapping[str, Path],
    *,
    source: str,
    scope: str,
    review: PrivacyReview,
    published_at: float,
    supersedes: str | None = None,
    artifacts: Mapping[str, Path] | None = None,
    allow_replay_incomplete: bool = False,
    destination: Path,
) -> Path:
    """Stage a bare GEODE release folder (record contract §8, §15) and return its path, `destination/<name>`.

    `files` are trajectories by their path in the release, `artifacts` the bytes of referenced artifacts by
    reference, `published_at` Unix seconds. Raises `DataError` TE303 to TE310 and TE314 where a gate refuses,
    `WorldError` TE601 where the release exists.
    """
    said = terms(
        source, scope, review, published_at, supersedes, allow_replay_incomplete=allow_replay_incomplete
    )
    admitted = candidates(files)
    admit(
        admitted,
        artifacts=artifacts or {},
        allow_replay_incomplete=allow_replay_incomplete,
        geode_only=True,
    )
    with staging(destination) as folder:
        made = write_geode(folder, admitted, said)
        target = destination / made.release_id
        place_verified(made.path, target, read_geode_release)
    return target


def stage(
    review_dir: Path,
    files: Iterable[Path] | None = None,
    *,
    source: str,
    scope: str,
    published_at: float,
    supersedes: str | None = None,
    artifacts: Mapping[str, Path] | None = None,
    allow_replay_incomplete: bool = False,
    require_native_ids: bool = False,
    chain: Chain = _FIRST,
    policy: Policy,
    ruleset: Ruleset | None = None,
    out: Path,
) -> Path:
    """Stage a release from a signed-off review folder and return its path, `out/<release-id>`.

    `files`, where given, must be all that the review publishes. `policy` is what holds now: the review's own
    may be nowhere looser, and says how many people sign. `ruleset`, the packaged one by default, must be what
    the review was made with, and is what the release's own words are scanned for. Raises `DataError`: TE306,
    TE307, TE317 and TE318 where the review does not cover what would be published, TE303 to TE314 where
    another gate refuses; `WorldError` TE101 for a chain or a superseded release that cannot be, TE601 where
    the release exists.
    """
    _refuse_odd(chain, supersedes)
    scanner = Scanner("publish", ruleset=ruleset)
    reviewed = read_review(review_dir, scope, files, ruleset=scanner.ruleset, policy=policy)
    _refuse_words(scanner, reviewed, source=source, supersedes=supersedes)
    if allow_replay_incomplete and reviewed.policy.setting("release", "replay_complete"):
        raise DataError("TE305", why="the review's policy admits only what can be replayed in full")
    said = terms(
        source,
        scope,
        reviewed.review,
        published_at,
        supersedes,
        allow_replay_incomplete=allow_replay_incomplete,
    )
    admitted = _signed_off(reviewed)
    admit(
        admitted,
        artifacts=artifacts or {},
        allow_replay_incomplete=allow_replay_incomplete,
        require_native_ids=require_native_ids,
    )
    with staging(out) as folder:
        geode = write_geode(folder, admitted, said)
        target = out / geode.release_id
        if os.path.lexists(target):
            raise WorldError("TE601", path=target.name, place=str(target))
        root = write_around(folder / "whole", geode, reviewed, chain)
        place_verified(root, target, _passes)
    return target


def _refuse_odd(chain: Chain, supersedes: str | None) -> None:
    """Raise `WorldError` TE101 for what no release can state of those before it."""
    if (chain.sequence == 1) != (chain.previous is None) or chain.sequence < 1:
        why = "the first release is number 1 and has no previous one, each later one has"
        raise WorldError("TE101", what="the sequence", why=why)
    if chain.previous is not None and not _SHA256.fullmatch(chain.previous):
        raise WorldError("TE101", what="the previous digest", why="it is not 64 lower-case hex digits")
    if supersedes is not None and not is_release_name(supersedes):
        raise WorldError("TE101", what="the superseded release", why="it is no release's name")


def _refuse_words(scanner: Scanner, reviewed: Reviewed, **words: str | None) -> None:
    """Raise `DataError` TE308 where anything is found in what is published word for word."""
    words |= {**asdict(reviewed.review), "policy": reviewed.policy.name}
    if reviewed.statement is not None:  # it names the reviewed files
        words["files"] = "\n".join(entry["path"] for entry in reviewed.files.values())
    found = {what: scanner.find(text or "") for what, text in words.items()}
    refuse_hits({what: Counter(span.cls for span in spans) for what, spans in found.items()})


def _signed_off(reviewed: Reviewed) -> list[Candidate]:
    """Return the redacted files, verified, each under a name made of its trajectory's id."""
    verified = {path: verify_path(path, name=entry["path"]) for path, entry in reviewed.files.items()}
    for path, entry in reviewed.files.items():
        for key, found in (
            ("redacted_sha256", verified[path].sha256),
            ("trajectory_id", verified[path].trajectory_id),
        ):
            if found != entry[key] and verified[path].verdict != "unreadable":
                raise DataError("TE307", place=entry["path"], why=f"{key} is not what was signed off")
    names = file_names(result.trajectory_id for result in verified.values())
    named = [Candidate(names[result.trajectory_id], path, result) for path, result in verified.items()]
    return sorted(named, key=lambda file: file.path)


def _passes(root: Path) -> None:
    """Raise `DataError` TE401 where the checker finds anything but missing signatures."""
    errors = check(root).content_errors
    if errors:
        where = errors[0].place.file or root.name
        why = f"{where}: {errors[0].message} ({errors[0].code})"
        raise DataError("TE401", place=str(root), what="the release", why=why)
