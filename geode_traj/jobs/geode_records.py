"""GEODE's `session migrate-records`: legacy transcripts into its database by its own rules (§15)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from geode_traj.codec.files import reading
from geode_traj.errors import DataError, TrajError, WorldError
from geode_traj.migrate.apply import apply
from geode_traj.migrate.plan import Plan, plan
from geode_traj.model.event import Event
from geode_traj.model.receipt import MigrateReceipt
from geode_traj.sources.base import Input
from geode_traj.sources.geode_legacy import SOURCE
from geode_traj.store import imports, opening


@dataclass(frozen=True, slots=True)
class Recognized:
    """What GEODE counts: `events` of `files`, those of earlier imports of the same bytes too.

    `damaged` lines were kept beside the events. `refused` holds a TE301 for each file whose bytes are filed
    under another session, `failed` the receipts of files that could not be read.
    """

    events: int
    files: int
    damaged: int
    refused: tuple[DataError, ...]
    failed: tuple[MigrateReceipt, ...]


def find(sources: Iterable[Path]) -> list[Path]:
    """Return the files named, and of folders every `*.jsonl` below, sorted; each once, links followed.

    Raises `WorldError` TE102 for a missing source.
    """
    files: list[Path] = []
    for source in sources:
        if source.is_dir():
            files.extend(path for path in sorted(source.rglob("*.jsonl")) if path.is_file())
        elif source.exists():
            files.append(source)
        else:
            raise WorldError("TE102", path=source.name, place=str(source))
    return list(dict.fromkeys(path.resolve() for path in files))


def count(files: Iterable[Path]) -> tuple[int, list[TrajError]]:
    """Return how many lines of the files are JSON objects, and an error for each file that is unreadable."""
    rows = 0
    errors: list[TrajError] = []
    for path in files:
        try:
            with reading(path) as stream:
                given = Input(path, str(path), "", path.stat().st_size)
                rows += sum(isinstance(item, Event) for item in SOURCE.read(given, stream))
        except TrajError as error:
            errors.append(error)
    return rows, errors


def migrate(
    files: Iterable[Path],
    store: Path,
    *,
    session_id: str | None = None,
    sensitive_fields: tuple[str, ...] = (),
) -> Recognized:
    """Import legacy transcripts; the same bytes under another session id are refused, the rest goes on."""
    planned = plan(files, store, format_name=SOURCE.name, session_id=session_id)
    receipts = list(apply(planned, store, sensitive_fields=sensitive_fields))
    filed = _filed(planned, store)
    refused: list[DataError] = []
    recognized = 0
    for one in planned.sources:
        receipt = filed.get(one.given.sha256)
        if receipt is None:
            continue
        given = one.given.receipt_session
        if receipt.session_id != given:
            refused.append(DataError("TE301", stored=receipt.session_id, given=given, place=one.given.name))
        else:
            recognized += receipt.row_count
    failed = tuple(one for one in receipts if one.status == "failed" and one.code != "TE301")
    return Recognized(
        events=recognized,
        files=len(planned.sources) - len(refused) - len(failed),
        damaged=sum(one.damaged_count for one in receipts),
        refused=tuple(refused),
        failed=failed,
    )


def _filed(planned: Plan, store: Path) -> dict[str, imports.Receipt]:
    if not store.exists():  # nothing could be imported
        return {}
    with opening.open_reader(store) as connection:
        receipts = [imports.receipt(connection, one.given.sha256) for one in planned.sources]
    return {receipt.source_digest: receipt for receipt in receipts if receipt is not None}
