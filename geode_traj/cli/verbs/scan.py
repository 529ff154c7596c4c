"""`scan`: secrets and personal data in files, and in a store."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from geode_traj.cli import known
from geode_traj.cli.options import PATH, baseline_options, format_option, output_option, sensitive_option
from geode_traj.cli.output import show_report
from geode_traj.jobs.scan_files import scan
from geode_traj.jobs.scan_report import FailOn, exit_code
from geode_traj.jobs.verify_files import files
from geode_traj.migrate.beside import cores
from geode_traj.scan.rules import Profile


@click.command()
@click.argument("paths", nargs=-1, required=True, type=PATH)
@click.option("--profile", type=click.Choice(["publish", "import"]), default="publish", show_default=True,
              help="import: credentials only; publish: personal data too.")  # fmt: skip
@click.option("--fail-on", type=click.Choice(["high", "review", "none"]), default="high", show_default=True)
@sensitive_option()
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes at work (default: one a core).")
@baseline_options()
@format_option()
@output_option()
def command(
    paths: tuple[Path, ...],
    profile: Profile,
    fail_on: FailOn,
    sensitive_fields: tuple[str, ...],
    jobs: int | None,
    baseline: Path | None,
    write_baseline: Path | None,
    exit_zero: bool,
    form: str,
    output: Path | None,
) -> int:
    """Scan files for secrets and personal data; `-` is stdin.

    Of folders, every file. JSON and JSON lines are read by their strings and keys, anything else as text:
    UTF-8, or UTF-16 with a byte order mark. What is neither (compressed, binary), and a text that takes too
    long, is quarantined and never counts as clean. No report holds a secret or a part of one: equal values
    share a number (v1, v2, …). However many processes are at work, the report is the same.

    Exit: 1 a finding reaches --fail-on, 3 something could not be scanned, 5 no file matched, 12 --output
    exists.
    """
    baselined = known.read(baseline, write_baseline)
    report, _ = scan(
        files(paths, ""),
        profile=profile,
        fail_on=fail_on,
        sensitive=sensitive_fields,
        jobs=jobs or cores(),
        stdin=sys.stdin.buffer,
    )
    report = baselined.apply(report)
    show_report(report, form, output)
    return known.exit_with(exit_code(report), exit_zero)
