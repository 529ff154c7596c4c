"""`prune`: sessions past retention, exported first, gone without trace."""

from __future__ import annotations

import time
from pathlib import Path

import click

from geode_traj.cli.options import PATH, store_option
from geode_traj.cli.output import error_line, note, say
from geode_traj.codec.text import clip
from geode_traj.contract.times import iso
from geode_traj.errors import EXIT_PARTIAL, worst_exit
from geode_traj.jobs import prune as job
from geode_traj.store import opening
from geode_traj.store.retention import RETENTION_DAYS


@click.command()
@store_option()
@click.option("--retention-days", type=click.FloatRange(min=0), default=RETENTION_DAYS, show_default=True)
@click.option("--export-to", type=PATH, help="Export and verify each session into this folder first.")
@click.option("--yes", is_flag=True, help="Delete; without it the sessions are only listed.")
def command(store: Path, retention_days: float, export_to: Path | None, yes: bool) -> int:
    """Delete ended sessions past retention, exported first.

    Only sessions that ended explicitly; without --yes they are listed. Their receipts, blobs and damaged
    lines go too, and the database files are rewritten so that no text stays. With --export-to nothing is
    deleted that did not export and verify.

    Exit: 3 some sessions could not be exported and stay, or no store; 11 the store is busy, or a reader keeps
    what was deleted in SQLite's log.
    """
    cutoff = time.time() - retention_days * 86_400
    if not yes:
        with opening.open_reader(store) as connection:
            found = job.listed(connection, cutoff)
        for one in found:
            _line("would go", one)
        note(f"{len(found)} session(s) past retention; nothing deleted without --yes")
        return 0
    done = job.prune(store, cutoff, export_to)
    for one in done.sessions:
        _line("deleted" if one.deleted else "kept", one)
    kept = [one for one in done.sessions if not one.deleted]
    rows = sum(one.session.events for one in done.sessions if one.deleted)
    note(f"{len(done.sessions) - len(kept)} session(s), {rows} event(s) deleted; {len(kept)} kept")
    codes = [EXIT_PARTIAL] if kept else []
    if done.held is not None:
        error_line(done.held)
        codes.append(done.held.exit_code)
    return worst_exit(codes)


def _line(word: str, one: job.Pruned) -> None:
    session = one.session
    tail = f" -> {clip(str(one.export), 200)}" if one.export else ""
    if one.kept_because:
        tail = f": {one.code or ''} {clip(one.kept_because, 300)}"
    when = iso(session.ended)
    say(f"{word:<8} {clip(session.session_id, 128)}  {session.events} event(s), ended {when}{tail}")
