"""`list`: the sessions of the store."""

from __future__ import annotations

from pathlib import Path

import click

from geode_traj.cli.options import format_option, moment, store_option
from geode_traj.cli.output import say, table
from geode_traj.codec.canonical import dumps
from geode_traj.codec.text import neutralise
from geode_traj.contract.times import iso
from geode_traj.store import events, opening
from geode_traj.store.events import SessionSummary


@click.command()
@store_option()
@click.option(
    "--status", type=click.Choice(["ended", "attested", "open"]), help="Only sessions that stand so."
)
@click.option("--source", help="Only sessions with events of this source.")
@click.option("--since", metavar="TIME", help="Only sessions with an event at or after this time.")
@click.option("-q", "--quiet", is_flag=True, help="Print ids only.")
@format_option("text", "json", "jsonl")
def command(
    store: Path, status: str | None, source: str | None, since: str | None, quiet: bool, form: str
) -> int:
    """List the sessions of the store.

    How they stand (ended, attested, open), their span, how many events, from which sources.

    Exit: 3 no store, 4 a newer version wrote it.
    """
    after = moment(since, "--since")
    with opening.open_reader(store) as connection:
        found = [
            session
            for session in events.summaries(connection)
            if (status is None or session.status == status)
            and (source is None or source in session.sources)
            and (after is None or session.last >= after)
        ]
    if quiet:
        for session in found:
            say(neutralise(session.session_id))
    elif form == "json":
        say(dumps([_json(session) for session in found]).decode())
    elif form == "jsonl":
        for session in found:
            say(dumps(_json(session)).decode())
    else:
        header = ("STATUS", "EVENTS", "GEN", "FIRST", "LAST", "SOURCES", "SESSION")
        table([header, *(_row(session) for session in found)])
    return 0


def _row(session: SessionSummary) -> tuple[str, ...]:
    return (
        session.status,
        str(session.events),
        str(session.generations),
        iso(session.first),
        iso(session.last),
        ",".join(session.sources),
        session.session_id,
    )


def _json(session: SessionSummary) -> dict[str, object]:
    return {
        "session_id": session.session_id,
        "status": session.status,
        "events": session.events,
        "generations": session.generations,
        "first": iso(session.first),
        "last": iso(session.last),
        "sources": list(session.sources),
    }
