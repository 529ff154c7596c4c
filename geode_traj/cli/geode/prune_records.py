"""`session prune-records`: ended sessions past retention, deleted at once."""

from __future__ import annotations

import time
from pathlib import Path

import click

from geode_traj.cli.geode.common import geode_verb, sessions_dir_option
from geode_traj.cli.output import error_line, say


@geode_verb("prune-records", "prune")
@click.option("--retention-days", type=click.IntRange(min=0), default=180, show_default=True)
@sessions_dir_option()
def command(retention_days: int, folder: Path) -> int:
    """Delete sessions that ended explicitly and are past retention, at once.

    Exit: 11 the store is busy.
    """
    from geode_traj.jobs.prune import prune

    store = folder / "sessions.db"
    cutoff = time.time() - min(retention_days, 10**9) * 86_400
    done = prune(store, cutoff, None) if store.exists() else None
    rows = sum(one.session.events for one in done.sessions if one.deleted) if done else 0
    say(f"Pruned {rows} terminal session event row(s).")
    if done and done.held is not None:
        error_line(done.held)
    return 0
