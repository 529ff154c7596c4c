"""`doctor`: whether this machine has what is needed."""

from __future__ import annotations

from pathlib import Path

import click

from geode_traj.cli.options import store_option
from geode_traj.cli.output import table
from geode_traj.errors import EXIT_FINDINGS
from geode_traj.jobs.doctor import examine


@click.command()
@store_option()
def command(store: Path) -> int:
    """Look whether this machine has what is needed, and whether the store is whole.

    Nothing is changed. Exit: 1 something must be mended.
    """
    looks = list(examine(store))
    table((look.state, look.what, look.detail) for look in looks)
    return EXIT_FINDINGS if any(look.state == "bad" for look in looks) else 0
