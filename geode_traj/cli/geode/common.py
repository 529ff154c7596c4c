"""What GEODE's verbs share: being hidden, the folder of `sessions.db`, refusals."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from geode_traj.cli.options import PATH
from geode_traj.cli.output import error_line, note
from geode_traj.errors import EXIT_USAGE, TrajError

Verb = Callable[..., int]


def geode_verb(name: str, ours: str) -> Callable[[Verb], click.Command]:
    """Make a hidden command of GEODE's name that first says, on stderr, what our own verb is."""

    def make(function: Verb) -> click.Command:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> int:
            note(f"note: this is GEODE's `session {name}`; our own verb is `geode-traj {ours}`")
            return function(*args, **kwargs)

        return click.command(name, hidden=True)(run)

    return make


def refusing(function: Verb) -> Verb:
    """Turn every error into GEODE's refusal, exit 2."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> int:
        try:
            return function(*args, **kwargs)
        except TrajError as error:
            error_line(error)
            return EXIT_USAGE

    return run


def sessions_dir_option() -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--sessions-dir`: the folder that holds `sessions.db`."""
    return click.option(
        "--sessions-dir",
        "folder",
        type=PATH,
        default=default_sessions_dir,
        callback=lambda _context, _parameter, value: value.expanduser(),
        show_default="the project's under ~/.geode",
        help="The folder that holds sessions.db.",
    )


def default_sessions_dir() -> Path:
    """Return GEODE's folder for the current project, or its `.geode/session` where only that is filled."""
    project = str(Path.cwd().resolve()).replace(os.sep, "-")
    newer = Path.home() / ".geode" / "projects" / project / "sessions"
    older = Path.cwd() / ".geode" / "session"
    return older if _filled(older) and not _filled(newer) else newer


def _filled(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())
