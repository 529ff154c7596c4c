"""`env`: the environment variables that stand for options."""

from __future__ import annotations

import os
from collections.abc import Iterator

import click

from geode_traj.cli.output import table

_OTHERS = (
    ("SOURCE_DATE_EPOCH", "the time that releases and reviews state, in Unix seconds"),
    ("NO_COLOR", "no colour"),
    ("FORCE_COLOR", "colour although no terminal is there"),
)


@click.command()
@click.option("--set", "only_set", is_flag=True, help="Only those that are set.")
@click.pass_context
def command(context: click.Context, only_set: bool) -> int:
    """List the environment variables that stand for options.

    GEODE_TRAJ_<COMMAND>_<OPTION> goes before the configuration files, and a flag before the variable. Values
    are not printed.
    """
    root = context.find_root()
    rows = [*_options(root.command, root, "GEODE_TRAJ"), *_OTHERS]
    table(
        (name, "set" if name in os.environ else "-", what)
        for name, what in rows
        if name in os.environ or not only_set
    )
    return 0


def _options(command: click.Command, context: click.Context, prefix: str) -> Iterator[tuple[str, str]]:
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from _options(below, context, f"{prefix}_{name.upper().replace('-', '_')}")
        return
    for option in command.params:
        if isinstance(option, click.Option) and option.name:
            yield f"{prefix}_{option.name.upper()}", option.opts[0]
