"""`session stage-trajectory-release`: a bare GEODE release folder."""

from __future__ import annotations

from pathlib import Path

import click

from geode_traj.cli.geode.common import geode_verb, refusing
from geode_traj.cli.options import PATH, moment_or_now, pairs
from geode_traj.cli.output import say
from geode_traj.codec.text import neutralise


@geode_verb("stage-trajectory-release", "release stage")
@click.argument("files", nargs=-1, required=True, type=PATH)
@click.option("--destination", required=True, type=PATH, help="The folder that gets the release folder.")
@click.option("--source", required=True, help="Who produced it.")
@click.option("--scope", required=True, help="What it covers; the review's scope is the same.")
@click.option("--privacy-review", required=True, type=PATH, help="The review record, a JSON file.")
@click.option("--published-at", metavar="TIME", help="SOURCE_DATE_EPOCH, else the time, if left out.")
@click.option("--supersedes", metavar="RELEASE", help="The release that this one replaces.")
@click.option("--source-artifact", multiple=True, metavar="REF=PATH", help="The bytes of an artifact digest.")
@click.option("--allow-replay-incomplete", is_flag=True)
@refusing
def command(
    files: tuple[Path, ...],
    destination: Path,
    source: str,
    scope: str,
    privacy_review: Path,
    published_at: str | None,
    supersedes: str | None,
    source_artifact: tuple[str, ...],
    allow_replay_incomplete: bool,
) -> int:
    """Stage a bare GEODE release folder by GEODE's gates alone; nothing is transformed.

    Exit: 2 refused.
    """
    from geode_traj.jobs import geode_release

    release = geode_release.stage(
        [path.expanduser() for path in files],
        destination.expanduser(),
        source=source,
        scope=scope,
        review=privacy_review.expanduser(),
        published_at=moment_or_now(published_at or None, "--published-at"),
        supersedes=supersedes or None,
        artifacts=pairs(source_artifact, "--source-artifact"),
        allow_replay_incomplete=allow_replay_incomplete,
    )
    say(neutralise(str(release.resolve())))
    return 0
