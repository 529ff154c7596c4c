"""`fmt`: trajectory files in the one canonical form."""

from __future__ import annotations

from pathlib import Path

import click

from geode_traj.cli.options import PATH
from geode_traj.cli.output import error_line, say
from geode_traj.codec.text import clip
from geode_traj.errors import EXIT_FINDINGS, TrajError, WorldError, worst_exit
from geode_traj.jobs import fmt
from geode_traj.jobs.verify_files import files


@click.command()
@click.argument("paths", nargs=-1, required=True, type=PATH)
@click.option("--check", is_flag=True, help="Change nothing; name the files that would change.")
def command(paths: tuple[Path, ...], check: bool) -> int:
    """Rewrite trajectory files in canonical form.

    Line-framed JSON: one event a line, keys sorted. Any JSON layout is read; values stay as they are, so a
    file verifies as before.

    Exit: 1 a file is not canonical (--check), 3 unreadable, 5 no file matched.
    """
    codes = []
    found = False
    for path in files(paths, ".json"):
        found = True
        try:
            changed = not fmt.is_canonical(path) if check else fmt.rewrite(path)
        except TrajError as error:
            error_line(error)
            codes.append(error.exit_code)
            continue
        if changed:
            say(f"{'would rewrite' if check else 'rewrote'} {clip(str(path), 200)}")
            codes += [EXIT_FINDINGS] if check else []
    if not found:
        raise WorldError("TE104")
    return worst_exit(codes)
