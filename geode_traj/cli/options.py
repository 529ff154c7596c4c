"""Options that several verbs share."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from geode_traj import report
from geode_traj.cli.config import default_store, sensitive_fields
from geode_traj.contract.times import is_calendar, parse
from geode_traj.errors import WorldError

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
PATH = click.Path(path_type=Path)


def store_option() -> Decorator:
    """`--store`: the database to work on."""
    return click.option(
        "--store",
        type=PATH,
        default=default_store,
        show_default="sessions.db in the user's data folder",
        help="The store (a GEODE sessions.db).",
    )


def sensitive_option() -> Decorator:
    """`--sensitive-field`: names that add to those of the configuration."""
    return click.option(
        "--sensitive-field",
        "sensitive_fields",
        multiple=True,
        metavar="NAME",
        callback=lambda _context, _option, given: sensitive_fields(given),
        help="Treat the values of keys of this name as secrets too (repeatable; adds to the configuration).",
    )


def format_option(*names: str) -> Decorator:
    """`--format`: how the result is written."""
    choices = names or report.names()
    default = "text" if "text" in choices else choices[0]
    return click.option("--format", "form", type=click.Choice(choices), default=default, show_default=True)


def output_option() -> Decorator:
    """`--output`: a file for the report instead of stdout."""
    return click.option("--output", type=PATH, help="Write the report to this new file.")


def baseline_options() -> Decorator:
    """`--baseline`, `--write-baseline`, `--exit-zero`: which findings make the command fail."""
    options = (
        click.option("--baseline", type=PATH, metavar="FILE",
                     help="Findings that this file lists are told as known and do not fail."),
        click.option("--write-baseline", type=PATH, metavar="FILE",
                     help="Write what is found into this baseline: all of it is known from now on."),
        click.option("--exit-zero", is_flag=True, help="Exit 0 where findings would make it 1."),
    )  # fmt: skip

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def moment(text: str | None, name: str) -> float | None:
    """Return an ISO 8601 time with a zone in Unix seconds; raise `WorldError` TE101 for anything else."""
    if text is None:
        return None
    parsed = parse(text)
    if parsed is None or not parsed[1]:
        raise WorldError("TE101", what=name, why="give a time like 2026-01-31T09:30:00Z")
    return parsed[0]


def now() -> float:
    """Return SOURCE_DATE_EPOCH if it is set, else the time, in Unix seconds; raise `WorldError` TE101."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not given:
        return time.time()
    if not (given.isascii() and given.isdigit() and is_calendar(int(given[:16]))):
        raise WorldError("TE101", what="SOURCE_DATE_EPOCH", why="give whole Unix seconds")
    return float(given)


def moment_or_now(text: str | None, name: str) -> float:
    """Return a given time, else SOURCE_DATE_EPOCH, else the clock's, in Unix seconds (release.md §1)."""
    given = moment(text, name)
    return now() if given is None else given


def pairs(values: tuple[str, ...], name: str) -> list[tuple[str, Path]]:
    """Split `NAME=PATH` values; raise `WorldError` TE101 for one without a name or path."""
    split = []
    for value in values:
        left, equals, right = value.partition("=")
        if not (left and equals and right):
            raise WorldError("TE101", what=name, why="give NAME=PATH")
        split.append((left, Path(right)))
    return split
