"""`migrate`: transcripts into the store."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path

import click

from geode_traj.cli import progress
from geode_traj.cli.options import PATH, sensitive_option, store_option
from geode_traj.cli.output import masked, note, say
from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import write_new
from geode_traj.codec.text import clip
from geode_traj.errors import EXIT_FINDINGS, EXIT_NO_INPUT, EXIT_PARTIAL, WorldError, worst_exit
from geode_traj.migrate.apply import apply
from geode_traj.migrate.beside import cores
from geode_traj.migrate.plan import Plan, plan
from geode_traj.model.receipt import MigrateReceipt
from geode_traj.sources.base import all_sources


@click.command()
@click.argument("sources", nargs=-1, required=True, type=PATH)
@store_option()
@click.option("--format", "form", default="auto", show_default=True, metavar="NAME",
              help=f"Read every source as this format ({', '.join(all_sources())}).")  # fmt: skip
@click.option("--session-id", help="The session of rows that name none.")
@sensitive_option()
@click.option("--dry-run", is_flag=True, help="Print the plan that would run; write nothing.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes at work (default: one a core).")
@click.option("--receipts", type=PATH, help="Write one JSON receipt a source to this new file.")
@click.option("--quiet", "-q", is_flag=True, help="Print the summary only.")
def command(
    sources: tuple[Path, ...],
    store: Path,
    form: str,
    session_id: str | None,
    sensitive_fields: tuple[str, ...],
    dry_run: bool,
    jobs: int | None,
    receipts: Path | None,
    quiet: bool,
) -> int:
    """Import transcripts, files or whole folders, into the store.

    Formats are told by content. The same bytes are imported once; of a grown file only what is new. Secrets
    are redacted before anything is stored, and sources are never changed. However many processes are at work,
    the result is the same.

    Exit: 1 lines were damaged, 3 a source failed or was refused, 4 a newer version wrote the store, 5 nothing
    to import, 12 the receipts file exists.
    """
    if receipts is not None and os.path.lexists(receipts):  # before the work they account for is done
        raise WorldError("TE601", path=receipts.name, place=str(receipts))
    planned = plan(sources, store, format_name=None if form == "auto" else form, session_id=session_id)
    if dry_run:
        return _show_plan(planned, store)
    done: list[MigrateReceipt] = []

    def run() -> Iterator[bytes]:
        with progress.records(planned.records, quiet=quiet) as observer:
            running = apply(
                planned, store, sensitive_fields=sensitive_fields, observer=observer, jobs=jobs or cores()
            )
            for receipt in running:
                done.append(receipt)
                if not quiet:
                    _show(receipt)
                yield dumps(receipt.to_json()) + b"\n"

    if receipts is not None:
        write_new(receipts, run(), mode=0o600)  # opened before anything is imported
    else:
        deque(run(), maxlen=0)
    _summary(done)
    return _exit_code(done)


def _show_plan(planned: Plan, store: Path) -> int:
    for one in planned.sources:
        form = one.source.name if one.source else "-"
        reason = f": {clip(masked(one.reason), 200)}" if one.reason else ""
        name = clip(masked(one.given.name), 200)
        say(f"{one.action:<9} {form:<16} {one.total:>8} record(s)  {name}{reason}")
    count = sum(one.action == "import" for one in planned.sources)
    say(f"Would import {planned.records} record(s) from {count} source(s) into {clip(str(store), 200)}.")
    note("dry run: nothing was written")
    return _exit_code([one.receipt() for one in planned.sources])


def _show(receipt: MigrateReceipt) -> None:
    name = clip(masked(receipt.source), 200)
    if receipt.status not in ("imported", "extended"):
        code = f" {receipt.code}" if receipt.code else ""
        reason = (receipt.reason or "").removeprefix(f"{receipt.source}: ")
        say(f"{receipt.status:<9}{code} {name}: {clip(masked(reason), 300)}")
        return
    redacted = sum(session.redactions.total() for session in receipt.sessions.values())
    counted = (
        (receipt.known, "known"),
        (receipt.kept_raw, "kept raw"),
        (receipt.blank, "blank"),
        (receipt.foreign, "foreign"),
        (receipt.damaged_count, "DAMAGED"),
        (redacted, "value(s) redacted"),
    )
    parts = [f"{receipt.new} new event(s)", *(f"{count} {what}" for count, what in counted if count)]
    say(f"{receipt.status:<9} {name}: {receipt.total} record(s), {', '.join(parts)}")
    for line in receipt.damaged[:5]:
        place = f"line {line['line']} at byte {line['offset']}, {line['length']} byte(s)"
        say(f"          {place}: {line['reason']}")
    if receipt.damaged_count > 5:
        say(f"          and {receipt.damaged_count - 5} more damaged line(s)")
    for reason, count in sorted(receipt.losses.items()):
        say(f"          lost at the source: {reason} ({count})")


def _summary(done: list[MigrateReceipt]) -> None:
    statuses = Counter(receipt.status for receipt in done)
    counts = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
    events = sum(receipt.new for receipt in done)
    damaged = sum(receipt.damaged_count for receipt in done)
    note(f"{len(done)} source(s): {counts or 'none'}; {events} new event(s), {damaged} damaged line(s)")


def _exit_code(done: list[MigrateReceipt]) -> int:
    codes = [EXIT_FINDINGS for receipt in done if receipt.damaged_count]
    codes += [EXIT_PARTIAL for receipt in done if receipt.status == "failed"]
    if not done or all(receipt.status == "skipped" for receipt in done):
        codes.append(EXIT_NO_INPUT)
    return worst_exit(codes)
