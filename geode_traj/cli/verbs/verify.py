"""`verify`: trajectories, every claim recomputed."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import click

from geode_traj.cli.options import PATH, format_option, output_option
from geode_traj.cli.output import show_report
from geode_traj.codec.files import CHUNK
from geode_traj.jobs.verify_files import Require, report, verify_paths
from geode_traj.verify import Verified, verify_stream


@click.command()
@click.argument("paths", nargs=-1, required=True, type=PATH)
@click.option("--require", type=click.Choice(["scope", "replay"]), help="Fail where this is not complete.")
@click.option("--require-native-ids", is_flag=True, help="Fail where ids were derived.")
@format_option()
@output_option()
def command(
    paths: tuple[Path, ...], require: Require | None, require_native_ids: bool, form: str, output: Path | None
) -> int:
    """Verify trajectory files, every claim recomputed.

    Of folders, every *.json; - is stdin. Ids, ordinals, correlation, pairing, payloads and every claim of
    `integrity` are recomputed; all findings are reported.

    Exit: 1 false claims or not complete as required, 3 unreadable, 5 no file matched, 12 --output exists.
    """
    found, code = report(_results(paths), require=require, native_ids=require_native_ids)
    show_report(found, form, output)
    return code


def _results(paths: tuple[Path, ...]) -> Iterator[Verified]:
    for path in paths:
        if str(path) == "-":
            yield _standard_input()
        else:
            yield from verify_paths([path])


def _standard_input() -> Verified:
    """Verify what comes in, kept on disk beyond a few MB: it is read twice."""
    digest = hashlib.sha256()
    size = 0
    with tempfile.SpooledTemporaryFile(max_size=CHUNK * 8) as copy:
        while chunk := sys.stdin.buffer.read(CHUNK):
            digest.update(chunk)
            size += copy.write(chunk)
        copy.seek(0)
        return verify_stream(cast(BinaryIO, copy), name="-", sha256=digest.hexdigest(), size=size)
