"""stdout for results, stderr for everything else, and nothing from data unneutralised."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from geode_traj.codec.files import write_new
from geode_traj.codec.text import escape, neutralise
from geode_traj.errors import TrajError
from geode_traj.model.report import Report
from geode_traj.report import render

if TYPE_CHECKING:
    from geode_traj.scan.engine import Scanner


def say(line: str) -> None:
    """Print one result line to stdout, as UTF-8 whatever the locale; what hides in it becomes visible."""
    click.echo(_bytes(line))


def note(line: str) -> None:
    """Print one line of progress or diagnostics to stderr."""
    click.echo(_bytes(line), err=True)


def error_line(error: TrajError) -> None:
    """Print an error: code, message, place, hint; a credential in a path that was given is no less one."""
    place = f" ({neutralise(error.place)})" if error.place else ""
    note(f"error {error.code}: {masked(neutralise(error.message) + place)}")
    if error.hint:
        note(f"hint: {error.hint}")


def masked(line: str) -> str:
    """Return a line that names a path without the credentials that it holds."""
    from geode_traj.scan.finding import without

    return without(line, _scanner().find(line))


@cache
def _scanner() -> Scanner:
    from geode_traj.scan.engine import Scanner  # it takes its time to load

    return Scanner("import")


def show_report(report: Report, form: str, output: Path | None = None) -> None:
    """Print a report, or write it to a file that appears whole."""
    if form == "sarif":
        from geode_traj.jobs.pages import explained

        report = explained(report)
    if output is None:
        for line in render(report, form):
            say(line)
    else:
        write_new(output, _lines(render(report, form)))


def _lines(lines: Iterable[str]) -> Iterable[bytes]:
    for line in lines:
        yield _bytes(line) + b"\n"


def _bytes(line: str) -> bytes:
    # The last door: JSON keeps control and bidi characters in its strings, and terminals obey them there too.
    return escape(line).encode()


def table(rows: Iterable[tuple[str, ...]]) -> None:
    """Print aligned columns; the last one is not padded."""
    listed = [tuple(neutralise(cell) for cell in row) for row in rows]
    widths = [max(len(row[i]) for row in listed) for i in range(len(listed[0]))] if listed else []
    for row in listed:
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        say("  ".join([*cells, row[-1]]).rstrip())
