"""`explain`: the page of a code."""

from __future__ import annotations

import click

from geode_traj.cli.output import say
from geode_traj.errors import WorldError
from geode_traj.jobs.pages import all_pages


@click.command()
@click.argument("code")
def command(code: str) -> int:
    """Explain the code of a finding or an error."""
    page = all_pages().get(code.upper())
    if page is None:
        raise WorldError("TE105", name=code)
    say(f"{page.code} ({page.severity})")
    say("")
    say(page.text)
    if page.hint:
        say("")
        say(f"hint: {page.hint}")
    return 0
