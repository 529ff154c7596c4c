"""`schema`: the packaged JSON schemas."""

from __future__ import annotations

import json

import click

from geode_traj.cli.output import say
from geode_traj.codec import schema


@click.command()
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """Print a packaged JSON schema, or list their names.

    Draft 2020-12. Additions only: a later version of a shape has every key of an earlier one.
    """
    if name is None:
        for known in schema.names():
            say(known)
    else:
        say(json.dumps(schema.load(name), indent=2, ensure_ascii=False))
    return 0
