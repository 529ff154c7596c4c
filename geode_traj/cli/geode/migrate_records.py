"""`session migrate-records`: legacy transcripts into sessions.db."""

from __future__ import annotations

from pathlib import Path

import click

from geode_traj.cli.geode.common import geode_verb, sessions_dir_option
from geode_traj.cli.options import PATH, sensitive_option
from geode_traj.cli.output import error_line, note, say
from geode_traj.codec.text import neutralise
from geode_traj.errors import EXIT_FINDINGS, EXIT_USAGE, WorldError


@geode_verb("migrate-records", "migrate")
@click.option("--source", "sources", multiple=True, type=PATH, help="A transcript or a folder of them.")
@click.option("--session-id", default="", help="The session of rows that name none; for one file only.")
@sessions_dir_option()
@click.option("--dry-run", is_flag=True, help="Count; write nothing.")
@sensitive_option()
def command(
    sources: tuple[Path, ...], session_id: str, folder: Path, dry_run: bool, sensitive_fields: tuple[str, ...]
) -> int:
    """Import legacy transcripts into sessions.db.

    Exit: 1 a source is missing or unreadable, 2 refused: the same bytes are filed under another session.
    """
    from geode_traj.jobs import geode_records

    given = [path.expanduser() for path in sources] or [Path.home() / ".geode" / "transcripts"]
    try:
        files = geode_records.find(given)
    except WorldError as error:
        say(f"Missing source: {neutralise(error.place)}")
        return EXIT_FINDINGS
    if session_id and len(files) != 1:
        raise click.BadParameter("needs exactly one source file", param_hint="--session-id")
    if not files:
        say("No legacy JSONL files found.")
        return 0
    if dry_run:
        rows, errors = geode_records.count(files)
        for unread in errors:
            error_line(unread)
        say(f"Would inspect {len(files) - len(errors)} file(s), {rows} valid JSON object row(s).")
        return EXIT_FINDINGS if errors else 0
    store = folder / "sessions.db"
    done = geode_records.migrate(
        files, store, session_id=session_id or None, sensitive_fields=sensitive_fields
    )
    for refusal in done.refused:
        error_line(refusal)
    for receipt in done.failed:
        note(f"error {receipt.code}: {neutralise(receipt.reason or '')} ({neutralise(receipt.source)})")
    if done.damaged:
        note(f"{done.damaged} damaged line(s) were kept beside the events")
    if done.files:
        where = neutralise(str(store.resolve()))
        say(
            f"Recognized {done.events} event(s) from {done.files} file(s) in {where}. "
            "Duplicate source digests were not reinserted; sources were not modified."
        )
    if done.refused:
        return EXIT_USAGE
    return EXIT_FINDINGS if done.failed else 0
