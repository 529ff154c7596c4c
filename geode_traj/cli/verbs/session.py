"""`session`: the end of sessions; GEODE's own verbs are hidden commands beside."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import click

from geode_traj.cli import geode
from geode_traj.cli.options import now, store_option
from geode_traj.cli.output import error_line, note, say
from geode_traj.codec.text import clip
from geode_traj.errors import worst_exit
from geode_traj.jobs import close as closing
from geode_traj.jobs import erase as erasing


@click.group()
def command() -> None:
    """Attest the end of sessions, or erase them.

    GEODE's own `session` verbs work here too, with its options, texts and exit codes: migrate-records, list,
    export-trajectory, prune-records, stage-trajectory-release, verify-trajectory-release.
    """


@command.command()
@click.argument("ids", nargs=-1, required=True)
@store_option()
@click.option("--by", required=True, metavar="NAME", help="Who attests it.")
@click.option("--reason", required=True, metavar="TEXT", help="How it is known that the session is over.")
@click.option("--dry-run", is_flag=True, help="Say what would be closed; write nothing.")
def close(ids: tuple[str, ...], store: Path, by: str, reason: str, dry_run: bool) -> int:
    """Attest that sessions are over whose source never said so.

    Appends an end with status `attested` that says who, when and why; only then can such a session be
    complete, or be pruned. SOURCE_DATE_EPOCH sets the time.

    Exit: 3 no such session or no store, 4 one has ended already, 11 the store is busy.
    """
    codes = []
    for done in closing.close(store, ids, by=by, reason=reason, at=now(), dry_run=dry_run):
        if done.error is not None:
            error_line(done.error)
            codes.append(done.error.exit_code)
        elif dry_run:
            say(f"would close {clip(done.session_id, 128)}")
        else:
            say(f"closed {clip(done.session_id, 128)}: event {done.event_id}")
    if dry_run:
        note("dry run: nothing was written")
    return worst_exit(codes)


@command.command()
@click.argument("ids", nargs=-1, required=True)
@store_option()
@click.option("--yes", is_flag=True, help="Erase; without it the command only says what would go.")
def erase(ids: tuple[str, ...], store: Path, yes: bool) -> int:
    """Erase sessions without trace; without --yes, say what would go.

    Events, blobs, damaged lines and receipts go, and the database files are rewritten so that no text
    stays. Nothing is exported first, and nothing brings it back but its source.

    Exit: 3 no such session or no store, 11 the store is busy, or a reader keeps what was erased in SQLite's
    log.
    """
    found = erasing.look(store, ids)
    codes = []
    held = erasing.erase(store, found) if yes else None
    for one in found:
        error = one.error
        if error is not None:
            error_line(error)
            codes.append(error.exit_code)
            continue
        what = f"{one.events} event(s), {one.damaged} damaged line(s), {one.blobs} blob(s)"
        say(f"{'erased' if yes else 'would erase'} {clip(one.session_id, 128)}: {what}")
        if one.elsewhere:
            note(f"  left alone: GEODE's own table(s) {', '.join(one.elsewhere)} name it too")
    if held is not None:
        error_line(held)
        codes.append(held.exit_code)
    if not yes:
        note("nothing was erased without --yes")
    return worst_exit(codes)


for module in pkgutil.iter_modules(geode.__path__):
    verb = getattr(importlib.import_module(f"{geode.__name__}.{module.name}"), "command", None)
    if verb is not None:
        command.add_command(verb)
