"""`checks`: every check and finding there is."""

from __future__ import annotations

import click

from geode_traj.cli.options import format_option
from geode_traj.cli.output import say, table
from geode_traj.codec.canonical import dumps
from geode_traj.jobs.pages import all_pages, listing


@click.command()
@format_option("text", "json")
def command(form: str) -> int:
    """List all checks and findings by code.

    SINCE is the ruleset that a check of trajectories came with. `explain CODE` prints its page.
    """
    if form == "json":
        say(dumps(listing()).decode())
        return 0
    pages = [page for page in all_pages().values() if page.is_finding]
    rows = [(page.code, page.severity, page.since or "-", page.title) for page in pages]
    table([("CODE", "SEVERITY", "SINCE", "WHAT"), *rows])
    return 0
