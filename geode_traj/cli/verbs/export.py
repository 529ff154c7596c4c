"""`export`: sessions of the store as trajectory files."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from geode_traj.cli.options import PATH, pairs, store_option
from geode_traj.cli.output import error_line, note, say
from geode_traj.codec.text import clip
from geode_traj.errors import TrajError, WorldError, worst_exit
from geode_traj.export import references
from geode_traj.export.trajectory import Content, Export, Exported
from geode_traj.jobs.exporting import export_file, file_name
from geode_traj.store import events, opening


@click.command()
@click.argument("sessions", nargs=-1)
@store_option()
@click.option("--all", "every", is_flag=True, help="Export every session, a file each.")
@click.option("--out", type=PATH, required=True,
              help="A new file; a folder for a file a session; - for stdout.")  # fmt: skip
@click.option("--id", "trajectory_id", help="Trajectory id; required for several sessions in one file.")
@click.option("--content", type=click.Choice(["full", "digest"]), default="full", show_default=True,
              help="digest: bodies are replaced by their digests.")  # fmt: skip
@click.option("--sil-eval", multiple=True, type=PATH, help="Refer to a scored evaluation archive.")
@click.option("--artifact", multiple=True, metavar="REF=PATH", help="State a file's digest under a name.")
@click.option("--evidence", multiple=True, metavar="KIND=PATH",
              help="sil_eval, native_receipt, crucible, runtime_profile or attempt_manifest.")  # fmt: skip
@click.option("--require-native-ids", is_flag=True, help="Refuse where ids would have to be derived.")
@click.option("--force", is_flag=True, help="Replace existing files.")
def command(
    sessions: tuple[str, ...],
    store: Path,
    every: bool,
    out: Path,
    trajectory_id: str | None,
    content: Content,
    sil_eval: tuple[Path, ...],
    artifact: tuple[str, ...],
    evidence: tuple[str, ...],
    require_native_ids: bool,
    force: bool,
) -> int:
    """Export sessions as geode.trajectory@1 files.

    With a folder as --out (it exists, or --all is given) each session becomes a file of its own; else all
    named sessions become one trajectory. Every file is verified before it appears, and none is replaced
    without --force.

    Exit: 4 nothing to export, 12 a file exists, 3 some sessions could not be exported.
    """
    if every == bool(sessions):
        raise WorldError("TE101", what="the call", why="name sessions, or give --all")
    if trajectory_id is not None and (every or out.is_dir()):
        raise WorldError("TE101", what="--id", why="each file has its session's own id")
    given = _companions(sil_eval, evidence, artifact)
    with opening.open_reader(store) as connection:
        ids = [s.session_id for s in events.summaries(connection)] if every else list(sessions)
        if not ids:
            raise WorldError("TE104")
        if not (every or out.is_dir()):
            trajectory_id = _named(trajectory_id, ids)
        if str(out) == "-":
            if require_native_ids:
                raise WorldError("TE101", what="--require-native-ids", why="it needs a file to check")
            export = Export(connection, ids, trajectory_id=trajectory_id, content=content, companions=given)
            for chunk in export.chunks():
                sys.stdout.buffer.write(chunk)
            return 0
        codes = []
        jobs = _jobs(ids, out, each=every or out.is_dir())
        for group, path in jobs:
            try:
                done = export_file(
                    connection, group, path, trajectory_id=trajectory_id, content=content, companions=given,
                    force=force, native_ids=require_native_ids,
                )  # fmt: skip
                _show(path, done)
            except TrajError as error:
                error_line(error)
                codes.append(error.exit_code)
    note(f"{len(jobs) - len(codes)} of {len(jobs)} file(s) exported")
    return worst_exit(codes)


def _companions(
    sil_eval: tuple[Path, ...], evidence: tuple[str, ...], artifact: tuple[str, ...]
) -> references.References:
    given = references.References()
    for path in sil_eval:
        references.companion("sil_eval", path, given)
    for kind, path in pairs(evidence, "--evidence"):
        references.companion(kind, path, given)
    for name, path in pairs(artifact, "--artifact"):
        references.artifact(name, path, given)
    return given


def _jobs(ids: list[str], out: Path, *, each: bool) -> list[tuple[list[str], Path]]:
    """Return which sessions go into which file, the folder made where there is one file each."""
    if not each:
        return [(ids, out)]
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorldError("TE602", path=out.name, why=error.strerror, place=str(out)) from None
    return [([session], out / file_name(session)) for session in ids]


def _named(trajectory_id: str | None, ids: list[str]) -> str | None:
    if len(set(ids)) > 1 and not trajectory_id:
        raise WorldError("TE101", what="--id", why="several sessions in one file need a trajectory id")
    return trajectory_id


def _show(path: Path, done: Exported) -> None:
    flags = done.completeness
    scope = "complete" if flags.scope_complete else "incomplete"
    replay = "complete" if flags.replay_complete else "incomplete"
    derived = f", {done.derived} derived id(s)" if done.derived else ""
    say(f"{clip(str(path), 200)}: {done.records} event(s), scope {scope}, replay {replay}{derived}")
    for reason in dict.fromkeys(flags.scope_reasons + flags.replay_reasons):
        say(f"  {clip(reason, 300)}")
