"""The gates before anything is written, in the contract's order (record contract §8, staging order).

Each gate is asked of every file before the next gate is: integrity recomputed, scope, replay, review,
artifacts, uniqueness.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from geode_traj.codec.files import sha256_file
from geode_traj.codec.text import clip
from geode_traj.contract.kinds import TRAJECTORY
from geode_traj.contract.release import path_fault
from geode_traj.errors import DataError
from geode_traj.release.check.trajectory import faults
from geode_traj.verify import Verified, verify_path


@dataclass(frozen=True, slots=True)
class Candidate:
    """A trajectory to publish: its path in the release, where it stands now, what verifying it gave."""

    path: str
    file: Path
    verified: Verified


def candidates(files: Mapping[str, Path]) -> list[Candidate]:
    """Return the verified files, sorted by path."""
    return [Candidate(path, file, verify_path(file, name=path)) for path, file in sorted(files.items())]


def admit(
    files: Sequence[Candidate],
    *,
    artifacts: Mapping[str, Path],
    allow_replay_incomplete: bool,
    geode_only: bool = False,
    require_native_ids: bool = False,
) -> None:
    """Return if every file may be published; else raise `DataError` for the first gate that refuses.

    TE303 invalid, TE304 scope, TE305 replay, TE306 not reviewed, TE309 an artifact (`artifacts` gives the
    bytes of each referenced path), TE310 not unique, TE313 derived ids. `geode_only` leaves out our own
    checks.
    """
    if not files:
        raise DataError("TE303", what="the release", why="it would hold no trajectory")
    for file in files:
        _valid(file, geode_only)
    for file in files:
        if not file.verified.scope_complete:
            raise DataError("TE304", place=file.path, why=_reasons(file.verified.scope_reasons))
    for file in files:
        if not (file.verified.replay_complete or allow_replay_incomplete):
            raise DataError("TE305", place=file.path, why=_reasons(file.verified.replay_reasons))
    for file in files:
        if file.verified.review_state != "reviewed":
            why = "privacy.review_state is not 'reviewed'"
            raise DataError("TE306", place=file.path, why=why)
    for file in files:
        if require_native_ids and file.verified.derived_ids:
            why = f"{file.verified.derived_ids} id(s) were not in the source"
            raise DataError("TE313", place=file.path, why=why)
    _artifacts(files, artifacts)
    _unique(files)


def _valid(file: Candidate, geode_only: bool) -> None:
    verified = file.verified
    codes = faults(verified, geode_only=geode_only)
    if not codes and verified.verdict != "unreadable" and verified.schema_id == TRAJECTORY:
        return
    why = f"{len(verified.findings)} finding(s), {', '.join(codes) or verified.verdict}"
    raise DataError("TE303", place=file.path, what="the trajectory", why=why)


def _reasons(reasons: Iterable[str]) -> str:
    return clip("; ".join(reasons) or "the trajectory says so", 300)


def _artifacts(files: Sequence[Candidate], artifacts: Mapping[str, Path]) -> None:
    digests: dict[str, str] = {}
    for file in files:
        for reference, wanted in file.verified.artifact_digests:
            name = clip(reference, 128)
            if reference not in artifacts:
                raise DataError("TE309", place=file.path, name=name, why="its bytes are not given")
            if reference not in digests:
                digests[reference], _ = sha256_file(artifacts[reference])
            if digests[reference] != wanted:
                raise DataError("TE309", place=file.path, name=name, why="its bytes have another digest")


def _unique(files: Sequence[Candidate]) -> None:
    ids = Counter(file.verified.trajectory_id for file in files)
    for trajectory_id, count in ids.items():
        if count > 1:
            raise DataError("TE310", what=f"trajectory id {clip(trajectory_id, 128)}")
    for file in files:
        fault = path_fault(file.path)
        if fault is not None:
            raise DataError("TE314", what=f"the path {clip(file.path, 128)}", why=fault)
