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
    since = f", since ruleset {page.since}" if page.since else ""
    say(f"{page.code} ({page.severity}{since})")
    say("")
    say(page.text)
    if page.hint:
        say("")
        say(f"hint: {page.hint}")
    if page.example:
        say("")
        say("For example:")
        for line in page.example.splitlines():
            say(f"    {line}" if line else "")
    return 0
