"""`formats`: what is read and written."""

from __future__ import annotations

import click

from geode_traj.cli.output import table
from geode_traj.export.ways.base import all_ways
from geode_traj.sources.base import all_sources


@click.command()
def command() -> int:
    """List the formats that are read and written."""
    rows = [("reads", source.name, source.reads) for source in all_sources().values()]
    rows.append(("writes", "geode", "geode.trajectory@1, line-framed canonical JSON"))
    rows += [("writes", way.name, way.writes) for way in all_ways().values()]
    table([("", "NAME", "WHAT"), *rows])
    return 0
