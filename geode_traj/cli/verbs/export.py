"""`export`: sessions of the store as trajectory files."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

import click

from geode_traj.cli.options import PATH, pairs, store_option
from geode_traj.cli.output import error_line, note, say
from geode_traj.codec.text import clip
from geode_traj.errors import DataError, TrajError, WorldError, worst_exit
from geode_traj.export import references
from geode_traj.export.trajectory import Content, Export, Exported
from geode_traj.export.ways.base import Way, all_ways, by_name
from geode_traj.export.ways.ledger import Ledger
from geode_traj.jobs.exporting import LOSS, Projection, export_as, export_file, file_name
from geode_traj.store import events, opening

GEODE: Final = "geode"


@click.command()
@click.argument("sessions", nargs=-1)
@store_option()
@click.option("--all", "every", is_flag=True, help="Export every session, a file each.")
@click.option("--out", type=PATH, required=True,
              help="A new file; a folder for a file a session; - for stdout.")  # fmt: skip
@click.option("--id", "trajectory_id", help="Trajectory id; required for several sessions in one file.")
@click.option("--as", "form", type=click.Choice([GEODE, *all_ways()]), default=GEODE, show_default=True,
              help="The format to write; of each but geode a report says what it cannot hold.")  # fmt: skip
@click.option("--content", type=click.Choice(["full", "digest"]), default="full", show_default=True,
              help="digest: bodies are replaced by their digests.")  # fmt: skip
@click.option("--sil-eval", multiple=True, type=PATH, help="Refer to a scored evaluation archive.")
@click.option("--artifact", multiple=True, metavar="REF=PATH", help="State a file's digest under a name.")
@click.option("--evidence", multiple=True, metavar="KIND=PATH",
              help="sil_eval, native_receipt, crucible, runtime_profile or attempt_manifest.")  # fmt: skip
@click.option("--plan", type=PATH, help="State the declared plan that runs are reconciled with.")
@click.option("--require-native-ids", is_flag=True, help="Refuse where ids would have to be derived.")
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.option("--dry-run", is_flag=True, help="Say which files would be written; write nothing.")
def command(
    sessions: tuple[str, ...],
    store: Path,
    every: bool,
    out: Path,
    trajectory_id: str | None,
    form: str,
    content: Content,
    sil_eval: tuple[Path, ...],
    artifact: tuple[str, ...],
    evidence: tuple[str, ...],
    plan: Path | None,
    require_native_ids: bool,
    force: bool,
    dry_run: bool,
) -> int:
    """Export sessions as geode.trajectory@1 files.

    With a folder as --out (it exists, or --all is given) each session becomes a file of its own; else all
    named sessions become one trajectory. Every file is verified before it appears, and none is replaced
    without --force.

    With --as the sessions are written in another format: atif (1.7), atif-1.8, hf-sts, k3, openai, otlp or
    parquet. No other format holds everything: beside each file, FILE.loss.json says of every event whether it
    is there whole, in part or not at all, and why. Bodies are whole; what was redacted stays redacted.

    Exit: 4 nothing to export, 12 a file exists, 3 some sessions could not be exported.
    """
    if every == bool(sessions):
        raise WorldError("TE101", what="the call", why="name sessions, or give --all")
    each = every or out.is_dir()
    if trajectory_id is not None and each:
        raise WorldError("TE101", what="--id", why="each file has its session's own id")
    if require_native_ids and str(out) == "-":
        raise WorldError("TE101", what="--require-native-ids", why="it needs a file to check")
    options = _Options(content, _companions(sil_eval, evidence, artifact, plan), force, require_native_ids)
    if form != GEODE:
        _refuse_for(form, {"--id": trajectory_id, "--content": content != "full", "--sil-eval": sil_eval,
                           "--evidence": evidence, "--artifact": artifact, "--plan": plan})  # fmt: skip
    with opening.open_reader(store) as connection:
        ids = [s.session_id for s in events.summaries(connection)] if every else list(sessions)
        if not ids:
            raise WorldError("TE104")
        if form == GEODE and not each:
            trajectory_id = _named(trajectory_id, ids)
        writer: _Trajectories | _Projections = (
            _Trajectories(connection, options, trajectory_id)
            if form == GEODE
            else _Projections(connection, options, by_name(form))
        )
        jobs = [([one], out / file_name(one, writer.suffix)) for one in ids] if each else [(ids, out)]
        if dry_run:
            return _show_jobs(connection, jobs, force=force)
        if str(out) == "-":
            writer.pour(ids)
            return 0
        if each:
            _make(out)
        return _write_each(writer, jobs)


def _show_jobs(connection: sqlite3.Connection, jobs: list[tuple[list[str], Path]], *, force: bool) -> int:
    """Say what would be written, and what would be refused for what is known beforehand."""
    held = {summary.session_id: summary.events for summary in events.summaries(connection)}
    codes = []
    for group, path in jobs:
        missing = next((one for one in group if not held.get(one)), None)
        if missing is not None:
            codes.append(_refused(DataError("TE302", what=f"session {missing}", place=str(path))))
        elif not force and os.path.lexists(path):
            codes.append(_refused(WorldError("TE601", path=path.name, place=str(path))))
        else:
            say(f"would write {clip(str(path), 200)}: {sum(held[one] for one in set(group))} event(s)")
    note("dry run: nothing was written")
    return worst_exit(codes)


def _refused(error: TrajError) -> int:
    error_line(error)
    return error.exit_code


def _write_each(writer: _Trajectories | _Projections, jobs: list[tuple[list[str], Path]]) -> int:
    codes = []
    for group, path in jobs:
        try:
            writer.write(group, path)
        except TrajError as error:
            codes.append(_refused(error))
    note(f"{len(jobs) - len(codes)} of {len(jobs)} file(s) exported")
    return worst_exit(codes)


class _Options(NamedTuple):
    content: Content
    companions: references.References
    force: bool
    native_ids: bool


class _Trajectories:
    """Writes sessions as trajectories."""

    suffix = ".json"

    def __init__(self, connection: sqlite3.Connection, options: _Options, trajectory_id: str | None) -> None:
        self._db = connection
        self._options = options
        self._id = trajectory_id

    def write(self, ids: list[str], path: Path) -> None:
        done = export_file(
            self._db, ids, path, trajectory_id=self._id, **self._options._asdict(),
        )  # fmt: skip
        _show(path, done)

    def pour(self, ids: list[str]) -> None:
        content, companions = self._options.content, self._options.companions
        made = Export(self._db, ids, trajectory_id=self._id, content=content, companions=companions)
        _pour(made.chunks())


class _Projections:
    """Writes sessions in another format, with the account of what it holds."""

    def __init__(self, connection: sqlite3.Connection, options: _Options, way: Way) -> None:
        self._db = connection
        self._options = options
        self._way = way
        self.suffix = way.suffix

    def write(self, ids: list[str], path: Path) -> None:
        ledger = export_as(
            self._db, ids, path, self._way, force=self._options.force, native_ids=self._options.native_ids
        )
        say(f"{_summary(str(path), ledger)}; see {clip(path.name + LOSS, 200)}")

    def pour(self, ids: list[str]) -> None:
        made = Projection(self._db, ids, self._way)
        _pour(made.chunks())
        note(_summary("-", made.ledger))


def _pour(chunks: Iterable[bytes]) -> None:
    for chunk in chunks:
        sys.stdout.buffer.write(chunk)


def _refuse_for(form: str, given: dict[str, object]) -> None:
    """Refuse options that only a trajectory file has a place for."""
    for option, value in given.items():
        if value:
            raise WorldError("TE101", what=option, why=f"--as {form} has no place for it")


def _companions(
    sil_eval: tuple[Path, ...], evidence: tuple[str, ...], artifact: tuple[str, ...], plan: Path | None
) -> references.References:
    given = references.References()
    for path in sil_eval:
        references.companion("sil_eval", path, given)
    for kind, path in pairs(evidence, "--evidence"):
        references.companion(kind, path, given)
    if plan is not None:
        references.companion("plan", plan, given)
    for name, path in pairs(artifact, "--artifact"):
        references.artifact(name, path, given)
    return given


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorldError("TE602", path=folder.name, why=error.strerror, place=str(folder)) from None


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


def _summary(name: str, ledger: Ledger) -> str:
    counts = ledger.counts
    derived = f", {ledger.derived} derived id(s)" if ledger.derived else ""
    return (
        f"{clip(name, 200)}: {counts['total']} event(s): {counts['whole']} whole, {counts['part']} in part,"
        f" {counts['left_out']} left out{derived}"
    )
