"""GEODE's `session stage-trajectory-release`: a bare folder from files and a review (§15)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from geode_traj.codec.files import read_bounded
from geode_traj.codec.reading import loads
from geode_traj.codec.text import clip
from geode_traj.contract.release import privacy_review
from geode_traj.errors import WorldError
from geode_traj.release.stage import by_name, stage_geode

MAX_REVIEW: Final = 1 << 20


def stage(
    files: Sequence[Path],
    destination: Path,
    *,
    source: str,
    scope: str,
    review: Path,
    published_at: float,
    supersedes: str | None,
    artifacts: Sequence[tuple[str, Path]],
    allow_replay_incomplete: bool,
) -> Path:
    """Stage a release and return its path; file names must be unique, and so must artifact references.

    `review` is a JSON file with the review record; `published_at` in Unix seconds. Raises what
    `release.stage.stage_geode` does, `WorldError` TE101 for a reference given twice.
    """
    given: dict[str, Path] = {}
    for reference, path in artifacts:
        if reference in given:
            what = f"--source-artifact {clip(reference, 128)}"
            raise WorldError("TE101", what=what, why="it is given twice")
        given[reference] = path.expanduser()
    return stage_geode(
        by_name(files),
        source=source,
        scope=scope,
        review=privacy_review(loads(read_bounded(review, MAX_REVIEW), place=str(review)), place=str(review)),
        published_at=published_at,
        supersedes=supersedes,
        artifacts=given,
        allow_replay_incomplete=allow_replay_incomplete,
        destination=destination,
    )
