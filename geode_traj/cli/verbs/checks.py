"""`checks`: every check of the verifier."""

from __future__ import annotations

import click

from geode_traj.cli.output import table
from geode_traj.jobs.pages import all_pages


@click.command()
def command() -> int:
    """List all checks and findings by code."""
    rows = [(page.code, page.severity, page.title) for page in all_pages().values() if page.is_finding]
    table([("CODE", "SEVERITY", "WHAT"), *rows])
    return 0
