"""`config`: what is configured, and where."""

from __future__ import annotations

import click

from geode_traj.cli import config
from geode_traj.cli.output import table


@click.group()
def command() -> None:
    """Show the configuration that the files of the user and of the project give."""


@command.command()
@click.option("--origin", is_flag=True, help="Name the file, or the default, that each value comes from.")
def show(origin: bool) -> int:
    """Show every key with its value.

    The user's file stands in the configuration folder of the system; a project's is the nearest
    `geode-traj.toml`, or `[tool.geode-traj]` of a pyproject.toml. Flags and the variables that `env` lists go
    before both.
    """
    rows = [("store", str(config.default_store()), "default")]
    for path, given in config.files():
        if "store" in given:
            rows[0] = ("store", given["store"], str(path))
        rows += [("policy", given["policy"], str(path))] if "policy" in given else []
        rows += [("sensitive_fields", name, str(path)) for name in given.get("sensitive_fields", [])]
    table(row if origin else row[:2] for row in rows)
    return 0
