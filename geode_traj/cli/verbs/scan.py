"""`scan`: secrets and personal data in files, and in a store."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import click
from click.core import ParameterSource

from geode_traj.cli import known as baselines
from geode_traj.cli import progress
from geode_traj.cli.config import default_store
from geode_traj.cli.looking import scanner as asked
from geode_traj.cli.looking import scanner_options
from geode_traj.cli.options import PATH, baseline_options, format_option, output_option
from geode_traj.cli.output import error_line, note, show_report
from geode_traj.errors import WorldError, worst_exit
from geode_traj.jobs.scan_files import scan_with
from geode_traj.jobs.scan_report import FailOn, exit_code
from geode_traj.jobs.verify_files import files
from geode_traj.migrate.beside import cores
from geode_traj.model.report import Report
from geode_traj.scan.engine import Scanner
from geode_traj.scan.rules import Profile

_DEFAULT = "\0default"


def _asked(context: click.Context, option: click.Parameter, given: str | None) -> Path | None:
    """Return the store that the call asks for, if it asks for one; the configured one where it names none."""
    if context.get_parameter_source("store") is not ParameterSource.COMMANDLINE:
        return None
    if given != _DEFAULT:
        return Path(given or "")
    configured: str | Path = context.lookup_default("store") or default_store()
    return Path(option.resolve_envvar_value(context) or configured)


@click.command()
@click.argument("paths", nargs=-1, type=PATH)
@click.option("--store", is_flag=False, flag_value=_DEFAULT, metavar="[PATH]", callback=_asked,
              help="Scan what a store holds (default: the configured one) instead of files.")  # fmt: skip
@click.option("--redact", is_flag=True, help="With --store: put placeholders in the place of what is found.")
@click.option("--dry-run", is_flag=True, help="With --redact: show what would be redacted; write nothing.")
@click.option("--profile", type=click.Choice(["publish", "import"]),
              help="import: credentials (default of a store); publish: personal data too.")  # fmt: skip
@click.option("--fail-on", type=click.Choice(["high", "review", "none"]), default="high", show_default=True)
@scanner_options()
@click.option("--learn-names/--no-learn-names", default=True, show_default=True,
              help="Look everywhere for users and hosts that one text shows (publish).")  # fmt: skip
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes at work (default: one a core).")
@baseline_options()
@format_option()
@output_option()
def command(
    paths: tuple[Path, ...],
    store: Path | None,
    redact: bool,
    dry_run: bool,
    profile: Profile | None,
    fail_on: FailOn,
    sensitive_fields: tuple[str, ...],
    known_env: bool,
    known_files: tuple[Path, ...],
    engines: tuple[str, ...],
    learn_names: bool,
    jobs: int | None,
    baseline: Path | None,
    write_baseline: Path | None,
    exit_zero: bool,
    form: str,
    output: Path | None,
) -> int:
    """Scan files or a store for secrets and personal data.

    Of folders, every file; `-` is stdin. JSON and JSON lines are read by their strings and keys, anything
    else as text: UTF-8, or UTF-16 with a byte order mark. What is neither (compressed, binary), and a text
    that takes too long, is quarantined and never counts as clean. No report holds a secret or a part of one:
    equal values share a number (v1, v2, …). However many processes are at work, the report is the same.

    With --known-env and --known-file your own secrets are found wherever they stand, in any encoding; with
    --engine other scanners are asked. Values of streams that are cut over lines are found in each of them.

    With --store --redact, what today's rules find in what was imported under earlier ones is redacted as an
    import would have, and the database files are rewritten: no copy is left in them. Personal data stays in a
    store; `review sign` deals with it.

    Exit: 1 a finding reaches --fail-on (with --redact: one that is left), 3 something could not be scanned, 4
    a newer version wrote the store, 5 no file matched, 11 a reader keeps old text in the store's log, 12
    --output exists.
    """
    profile = profile or ("publish" if store is None else "import")
    _refuse(profile, given=bool(paths), store=store is not None, redact=redact, dry_run=dry_run)
    scanner = asked(profile, sensitive_fields, known_env, known_files, engines)
    baselined = baselines.read(baseline, write_baseline)
    jobs, learn, held = jobs or cores(), learn_names and profile == "publish", None
    if store is None:
        found = _in_files(list(files(paths, "")), scanner, fail_on, jobs, learn=learn)
    else:
        write = redact and not dry_run
        found, held = _in_store(store, scanner, write, fail_on, sensitive_fields, jobs, learn=learn)
    found = baselined.apply(found)
    show_report(found, form, output)
    if dry_run:
        note("dry run: nothing was written; what is found would be redacted")
    codes = [baselines.exit_with(exit_code(found), exit_zero)]
    if held is not None:
        error_line(held)
        codes.append(held.exit_code)
    return worst_exit(codes)


def _in_files(paths: list[Path], scanner: Scanner, fail_on: FailOn, jobs: int, *, learn: bool) -> Report:
    total = 0
    for path in paths:
        with suppress(OSError):  # what cannot be read is told by the scan
            total += path.stat().st_size
    with progress.data(total * 2 if learn else total) as observer:
        return scan_with(
            scanner,
            paths,
            fail_on=fail_on,
            jobs=jobs,
            stdin=sys.stdin.buffer,
            learn=learn,
            observer=observer,
        )


def _in_store(
    store: Path,
    scanner: Scanner,
    redact: bool,
    fail_on: FailOn,
    sensitive: tuple[str, ...],
    jobs: int,
    *,
    learn: bool,
) -> tuple[Report, WorldError | None]:
    from geode_traj.jobs.scan_store import scan_store

    with progress.data(None) as observer:
        done = scan_store(
            store,
            scanner,
            redact=redact,
            fail_on=fail_on,
            sensitive=sensitive,
            jobs=jobs,
            learn=learn,
            observer=observer,
        )
    return done.report, done.held


def _refuse(profile: Profile, *, given: bool, store: bool, redact: bool, dry_run: bool) -> None:
    if given == store:
        raise WorldError("TE101", what="the call", why="name files or folders, or give --store")
    if (redact and not store) or (dry_run and not redact):
        raise WorldError("TE101", what="the call", why="--redact goes with --store, --dry-run with --redact")
    if redact and profile == "publish":
        raise WorldError("TE101", what="--redact", why="personal data stays in a store; see `review sign`")
