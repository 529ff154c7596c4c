"""`verify`: trajectories, every claim recomputed."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import click

from geode_traj.cli import known
from geode_traj.cli.options import PATH, baseline_options, format_option, output_option
from geode_traj.cli.output import show_report
from geode_traj.codec.files import CHUNK
from geode_traj.jobs import selection
from geode_traj.jobs.verify_files import Require, exit_code, report, verify_paths
from geode_traj.verify import Verified, verify_stream


@click.command()
@click.argument("paths", nargs=-1, required=True, type=PATH)
@click.option("--select", metavar="CODES", help="Judge by these codes or families only: GT401,GT7.")
@click.option("--require", type=click.Choice(["scope", "replay"]), help="Fail where this is not complete.")
@click.option("--require-native-ids", is_flag=True, help="Fail where ids were derived.")
@baseline_options()
@format_option()
@output_option()
def command(
    paths: tuple[Path, ...],
    select: str | None,
    require: Require | None,
    require_native_ids: bool,
    baseline: Path | None,
    write_baseline: Path | None,
    exit_zero: bool,
    form: str,
    output: Path | None,
) -> int:
    """Verify trajectory files, every claim recomputed.

    Of folders, every *.json; - is stdin. Ids, ordinals, correlation, pairing, payloads and every claim of
    `integrity` are recomputed; all findings are reported. Verdicts are those of the whole file, whatever
    --select leaves out and a --baseline knows; these only decide what fails.

    Exit: 1 false claims or not complete as required, 3 unreadable, 5 no file matched, 12 --output exists.
    """
    chosen = selection.parse(select) if select is not None else None
    baselined = known.read(baseline, write_baseline)
    found, _ = report(_results(paths), require=require, native_ids=require_native_ids, select=chosen)
    found = baselined.apply(found)
    if form == "text":
        from geode_traj.jobs import event_lines

        found = event_lines.shown(found)
    show_report(found, form, output)
    return known.exit_with(exit_code(found), exit_zero)


def _results(paths: tuple[Path, ...]) -> Iterator[Verified]:
    for path in paths:
        if str(path) == "-":
            yield _standard_input()
        else:
            yield from verify_paths([path])


def _standard_input() -> Verified:
    """Verify what comes in, kept on disk beyond a few MB: it is read twice."""
    import tempfile

    digest = hashlib.sha256()
    size = 0
    with tempfile.SpooledTemporaryFile(max_size=CHUNK * 8) as copy:
        while chunk := sys.stdin.buffer.read(CHUNK):
            digest.update(chunk)
            size += copy.write(chunk)
        copy.seek(0)
        return verify_stream(cast(BinaryIO, copy), name="-", sha256=digest.hexdigest(), size=size)
