"""`session export-trajectory`: one session as a file, replaced if it exists."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from geode_traj.cli.geode.common import geode_verb, sessions_dir_option
from geode_traj.cli.options import PATH
from geode_traj.cli.output import say
from geode_traj.codec.text import neutralise
from geode_traj.errors import EXIT_FINDINGS, WorldError


@geode_verb("export-trajectory", "export")
@click.argument("session_id", metavar="ID")
@click.option("--out", type=PATH, help="The file to write, replaced if it exists.")
@click.option("--sil-eval", multiple=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--digest-content", is_flag=True, help="Bodies are replaced by their digests.")
@sessions_dir_option()
def command(
    session_id: str, out: Path | None, sil_eval: tuple[Path, ...], digest_content: bool, folder: Path
) -> int:
    """Export one session as geode.trajectory@1.

    Exit: 1 the session has no events, 3 the file cannot be written.
    """
    from geode_traj.export import references
    from geode_traj.jobs.exporting import export_file
    from geode_traj.store import events, opening

    given = references.References()
    for path in sil_eval:
        references.companion("sil_eval", path, given)
    target = out.expanduser() if out else Path(_default_name(session_id))
    store = folder / "sessions.db"
    if not store.exists():
        return _no_events(session_id)
    with opening.open_reader(store) as connection:
        if events.last(connection, session_id) is None:
            return _no_events(session_id)
        _make_folder(target.parent)
        content: Any = "digest" if digest_content else "full"
        done = export_file(connection, [session_id], target, content=content, companions=given, force=True)
    flags = done.completeness
    reasons = json.dumps([*dict.fromkeys(flags.scope_reasons + flags.replay_reasons)], ensure_ascii=False)
    say(neutralise(str(target.resolve())))
    say(
        f"records={done.records} scope_complete={str(flags.scope_complete).lower()} "
        f"replay_complete={str(flags.replay_complete).lower()} reasons={reasons}"
    )
    return 0


def _default_name(session_id: str) -> str:
    if os.sep in session_id or "\0" in session_id:
        raise click.BadParameter("the id cannot be part of a file name", param_hint="--out")
    return f"geode-trajectory-{session_id}.json"


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorldError("TE602", path=folder.name, why=error.strerror, place=str(folder)) from None


def _no_events(session_id: str) -> int:
    say(f"No canonical session events found for {neutralise(repr(session_id))}.")
    return EXIT_FINDINGS
