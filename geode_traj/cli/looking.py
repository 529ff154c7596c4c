"""What is looked for besides the rules, as options of every verb that scans."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from geode_traj.cli.options import PATH, Decorator, sensitive_option
from geode_traj.cli.output import note
from geode_traj.errors import WorldError

if TYPE_CHECKING:
    from geode_traj.scan.engine import Scanner
    from geode_traj.scan.rules import Profile

_ENGINES = ("detect-secrets", "kingfisher")  # `scan.engines.NAMES`, which takes its time to import
_KNOWN = (
    click.option("--known-env", is_flag=True,
                 help="Look for your own secrets in variables whose names say so."),
    click.option("--known-file", "known_files", type=PATH, multiple=True, metavar="FILE",
                 help="Look for the secrets in this file, one a line or NAME=value (repeatable)."),
)  # fmt: skip
_ENGINE = click.option("--engine", "engines", type=click.Choice(_ENGINES), multiple=True,
                       help="Ask this scanner too (repeatable; for publishing).")  # fmt: skip


def known_options() -> Decorator:
    """`--known-env` and `--known-file`: the caller's own secrets."""
    return _all(_KNOWN)


def scanner_options() -> Decorator:
    """`--sensitive-field`, `--known-env`, `--known-file` and `--engine`: what `scanner` takes."""
    return _all((sensitive_option(), *_KNOWN, _ENGINE))


def _all(options: Iterable[Decorator]) -> Decorator:
    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(list(options)):
            command = option(command)
        return command

    return decorate


def scanner(
    profile: Profile,
    sensitive_fields: Iterable[str],
    known_env: bool,
    known_files: Iterable[Path],
    engines: Iterable[str] = (),
) -> Scanner:
    """Return the scanner that a call asks for; raise `WorldError` TE101 for what cannot be looked for."""
    from geode_traj.jobs.scan_known import named_engines, secrets
    from geode_traj.scan.engine import Scanner

    if engines and profile == "import":
        raise WorldError("TE101", what="--engine", why="other scanners are for --profile publish")
    others = tuple(named_engines(engines))
    known, unusable = secrets(os.environ if known_env else {}, known_files)
    if unusable:
        note(f"{unusable} value(s) of --known-file are too short or too common to look for")
    return Scanner(profile, sensitive_fields, known=known, engines=others)
