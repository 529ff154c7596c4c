"""`session verify-trajectory-release`: a bare GEODE release folder, recomputed."""

from __future__ import annotations

import json
from pathlib import Path

import click

from geode_traj.cli.geode.common import geode_verb, refusing
from geode_traj.cli.options import PATH
from geode_traj.cli.output import say


@geode_verb("verify-trajectory-release", "release check")
@click.argument("release", type=PATH)
@click.option("--expected-manifest-sha256", required=True, metavar="HEX", help="Recorded beforehand.")
@refusing
def command(release: Path, expected_manifest_sha256: str) -> int:
    """Verify a bare GEODE release folder; everything is recomputed.

    Exit: 2 refused.
    """
    from geode_traj.release.check.verdict import read_geode_release

    folder = release.expanduser()
    read = read_geode_release(folder, expected_manifest_sha256)
    found = {"quality": read.manifest["quality"], "release": str(folder.resolve()), "verified": True}
    say(json.dumps(found, ensure_ascii=False, sort_keys=True))
    return 0
