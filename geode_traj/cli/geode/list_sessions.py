"""`session list`: GEODE's own index of sessions."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Final

import click

from geode_traj.cli.geode.common import geode_verb, sessions_dir_option
from geode_traj.cli.output import note, say
from geode_traj.codec.text import clip, neutralise

_INPUT: Final = 60
_ID: Final = 256


@geode_verb("list", "list")
@click.option("--limit", "-n", type=click.IntRange(min=0), default=50, show_default=True)
@sessions_dir_option()
def command(limit: int, folder: Path) -> int:
    """List the sessions of GEODE's own index, newest first; events are not looked at."""
    from geode_traj.store import geode_sessions, opening

    limit = min(limit, 1 << 31)  # SQLite counts no further than 64 bits
    store = folder / "sessions.db"
    if store.exists():
        with opening.open_reader(store) as connection:
            sessions = geode_sessions.from_table(connection, limit)
    else:
        sessions, unread = geode_sessions.from_folders(folder, limit)
        if unread:
            note(f"{unread} state.json file(s) could not be read")
    where = neutralise(str(folder))
    if not sessions:
        say(f"No sessions found in {where}.")
        return 0
    rows = [
        (
            clip(one.session_id, _ID), clip(one.status, _ID), _local(one.updated_at), str(one.rounds),
            str(one.messages), clip(one.model, _ID), clip(" ".join(one.user_input.split()), _INPUT),
        )
        for one in sessions
    ]  # fmt: skip
    id_width = max(len("SESSION_ID"), *(len(row[0]) for row in rows))
    model_width = max(len("MODEL"), *(len(row[5]) for row in rows))
    form = f"{{:<{id_width}}} {{:<9}} {{:<19}} {{:>6}} {{:>5}} {{:<{model_width}}} {{}}"
    header = form.format("SESSION_ID", "STATUS", "UPDATED", "ROUNDS", "MSGS", "MODEL", "INPUT")
    say(header)
    say("-" * len(header))
    for row in rows:
        say(form.format(*row))
    say(f"\n{len(rows)} session(s) in {where}.")
    return 0


def _local(seconds: float) -> str:
    """Return a time as the machine's clocks show it, to the second."""
    try:
        return datetime.fromtimestamp(seconds).isoformat(" ", "seconds") if seconds > 0 else "-"
    except (OverflowError, OSError, ValueError):
        return "-"
