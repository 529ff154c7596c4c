"""`verify`: trajectories and other inputs, every claim recomputed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from geode_traj.cli import known
from geode_traj.cli.options import PATH, baseline_options, format_option, output_option
from geode_traj.cli.output import show_report
from geode_traj.errors import EXIT_INTEGRITY, EXIT_OK, WorldError, worst_exit
from geode_traj.jobs.verify_files import Require, exit_code, files, report, verify_paths
from geode_traj.jobs.verify_inputs import verify_incoming
from geode_traj.verify import Verified


@click.command()
@click.argument("paths", nargs=-1, type=PATH)
@click.option("--select", metavar="CODES", help="Judge by these codes or families only: GT401,GT7.")
@click.option("--require", type=click.Choice(["scope", "replay"]), help="Fail where this is not complete.")
@click.option("--require-native-ids", is_flag=True, help="Fail where ids were derived.")
@click.option("--plan", type=PATH, help="Reconcile what ran with this declared plan.")
@click.option("--run", "frozen", type=PATH, help="Compare this frozen run with what it left behind.")
@baseline_options()
@format_option()
@output_option()
def command(
    paths: tuple[Path, ...],
    select: str | None,
    require: Require | None,
    require_native_ids: bool,
    plan: Path | None,
    frozen: Path | None,
    baseline: Path | None,
    write_baseline: Path | None,
    exit_zero: bool,
    form: str,
    output: Path | None,
) -> int:
    """Verify trajectories, and whatever else migrate reads, every claim recomputed.

    A file is taken for what it holds: a trajectory; a transcript of any format (see formats), judged as if it
    were imported, nothing stored; a GEODE store; run events; a ledger of usage, evidence or hook events; a
    release's manifest. Several sessions are results of their own, FILE#SESSION. Of folders every *.json is
    taken, unless the folder as a whole is one transcript; - is stdin.

    Ids, ordinals, correlation, pairing, payloads and every claim of `integrity` are recomputed; all findings
    are reported. Verdicts are those of the whole file, whatever --select leaves out and a --baseline knows;
    these only decide what fails.

    With --plan, undeclared and missing operations are findings, and those that started before what they need
    had ended; without it, a plan that the trajectory itself declares counts. With --run, the ids, sessions,
    calls, totals and digests of a frozen run (geode-traj.run@1) are compared with its files and with the
    trajectories among PATHS; that changes no reward and approves no further run.

    Exit: 1 false claims, drift, or not complete as required, 3 unreadable, 5 no file matched, 10 a file of
    the run is missing or not the frozen one, 12 --output exists.
    """
    if not paths and frozen is None:
        raise WorldError("TE101", what="the call", why="name files or folders, or give --run")
    chosen = None
    if select is not None:
        from geode_traj.jobs import selection

        chosen = selection.parse(select)
    baselined = known.read(baseline, write_baseline)
    found, _ = report(
        _results(paths, plan, frozen), require=require, native_ids=require_native_ids, select=chosen
    )
    found = baselined.apply(found)
    if form == "text" and any(one.place.line is not None for each in found.entries for one in each.findings):
        from geode_traj.jobs import event_lines

        found = event_lines.shown(found)
    show_report(found, form, output)
    code = exit_code(found)
    if frozen is not None:
        from geode_traj.jobs.frozen_run import is_broken

        code = worst_exit([code, EXIT_INTEGRITY if is_broken(found) else EXIT_OK])
    return known.exit_with(code, exit_zero)


def _results(paths: tuple[Path, ...], plan: Path | None, frozen: Path | None) -> Iterator[Verified]:
    declared = None
    if plan is not None:
        from geode_traj.jobs import plans

        declared = plans.load(plan)
    for path in paths:
        if str(path) == "-":
            yield from verify_incoming(sys.stdin.buffer, plan=declared)
        else:
            yield from verify_paths([path], declared)
    if frozen is not None:
        from geode_traj.jobs.frozen_run import verify_run

        yield from verify_run(frozen, files(paths, ".json"))
