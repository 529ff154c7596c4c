"""Verifying foreign transcripts as if they had been imported and exported; nothing is stored.

The import goes into a store that has no name and is gone afterwards, so that what is judged is exactly what
an import would give: redacted, bounded, paired and accounted for. Each session is a result of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from geode_traj.codec.files import reading
from geode_traj.codec.framed import Document, EventText
from geode_traj.contract import atif
from geode_traj.errors import CODES, DataError
from geode_traj.export.trajectory import Export
from geode_traj.jobs import plans, verify_records
from geode_traj.jobs.found import UNKNOWN, Found, Watch
from geode_traj.migrate.apply import run
from geode_traj.migrate.plan import Planned
from geode_traj.model.finding import Place
from geode_traj.model.receipt import MigrateReceipt
from geode_traj.sources import document as documents
from geode_traj.sources.base import Source
from geode_traj.sources.lines import JsonLines
from geode_traj.store import events, imports, opening
from geode_traj.verify import Verified, verify_document

_MENDED: Final = {
    "_escaped": "text that is no Unicode",
    "_nonfinite": "a number that is none",
    "duplicates": "a repeated key",
}


def verify_planned(planned: list[Planned], path: Path, watch: Watch | None) -> Iterator[Verified]:
    """Verify the units of one source, planned without a store: first the file itself, then its sessions.

    The file is a result of its own where it holds several sessions and something is to be said of it. What
    cannot be read is an unreadable result.
    """
    todo = [one for one in planned if one.action == "import"]
    found = Found(str(path))
    for one in planned:
        found.sha256 = one.given.file_sha256 or one.given.sha256
        found.size = one.given.file_size
        if one.action in ("fail", "skip"):
            yield _not_read(found, one.given.name, one.code, one.reason)
    if todo:
        found.schema_id = _own_claims(todo[0], found)
        yield from _imported(todo, found, watch)


def _not_read(found: Found, name: str, code: str | None, reason: str | None) -> Verified:
    hint = CODES[code].hint if code else "see `formats` for what is read"
    if code in ("TE205", "TE206"):  # their hint is for those who may name a format
        hint = "see `formats` for what is read"
    message = (reason or UNKNOWN).removeprefix(f"{name}: ")
    return Found(found.file, found.sha256, found.size).unreadable(name, message, hint)


def _imported(todo: list[Planned], found: Found, watch: Watch | None) -> Iterator[Verified]:
    source = todo[0].reader
    with opening.open_scratch() as connection:
        receipts = run(connection, todo)
        sessions: dict[str, bool] = {}
        for receipt in receipts:
            if receipt.status == "failed":
                yield _not_read(found, receipt.source, receipt.code, receipt.reason)
                continue
            _account(receipt, found)
            for session_id in receipt.sessions:
                sessions[session_id] = events.last(connection, session_id) is not None
        judged = [session_id for session_id, holds in sessions.items() if holds]
        for session_id in sessions:
            if session_id not in judged:
                _damage(connection, session_id, found)
        if len(judged) != 1:
            yield from _alone(receipts, found, nothing=not judged)
        for session_id in judged:
            own = found if len(judged) == 1 else Found(found.file, found.sha256, found.size, found.schema_id)
            own.add("GT150", f"read as {source.name}, as if imported")
            _damage(connection, session_id, own)
            document = _looked_at(Export(connection, [session_id]).document(), source, own)
            document = watch(document) if watch else document
            result = verify_document(
                document, name=found.file, sha256=found.sha256, size=found.size, plan=plans.of(watch)
            )
            name = found.file if len(judged) == 1 else f"{found.file}#{session_id}"
            yield _joined(result, own, name)


def _alone(receipts: list[MigrateReceipt], found: Found, *, nothing: bool) -> Iterator[Verified]:
    """Yield the result of the file itself, where there is something to say of it."""
    if nothing and any(receipt.status != "failed" for receipt in receipts):
        yield found.unreadable(found.file, "it holds no event", "see `formats` for what is read")
    elif found.findings:
        yield found.result(found.file, sum(receipt.total for receipt in receipts))


def _joined(result: Verified, own: Found, name: str) -> Verified:
    verdict = "invalid" if own.verdict == "invalid" else result.verdict
    findings = (*own.findings, *result.findings)
    return replace(result, name=name, verdict=verdict, findings=findings, schema_id=own.schema_id)


def _account(receipt: MigrateReceipt, found: Found) -> None:
    """Tell what of a source gave no event, or only one that says little."""
    for reason, count in sorted(receipt.losses.items()):
        found.add("GT152", f"lost at the source: {reason} ({count})")
    skipped = {"blank": receipt.blank, "foreign": receipt.foreign}
    if any(skipped.values()):
        counts = ", ".join(f"{count} {what}" for what, count in skipped.items() if count)
        found.add("GT153", f"record(s) without an event: {counts}")
    if receipt.kept_raw:
        found.add("GT154", f"{receipt.kept_raw} record(s) of unknown kinds are kept whole")


def _damage(connection: Any, session_id: str, found: Found) -> None:
    for line in imports.damaged(connection, session_id):
        span = (line.offset, line.offset + line.length)
        found.partial = True
        found.add("GT151", f"damaged: {line.reason}", Place(found.file, line=line.line, span=span))


def _looked_at(document: Document, source: Source, own: Found) -> Document:
    """Tell what was mended in each event's record; name its line, where the source's records are lines."""
    inner = document.events
    lines = isinstance(source, JsonLines)

    def events() -> Iterator[EventText]:
        for given in inner:
            text, payload = given, given.value["payload"]
            legacy = payload.get("_legacy")
            told = legacy if isinstance(legacy, dict) else {}
            number = told.get("line_number")
            if lines and type(number) is int and number > 0:
                text = replace(given, line=number)
            marks = {**payload, "duplicates": told.get("duplicates")}
            if any(marks.get(mark) for mark in _MENDED):
                what = ", ".join(word for mark, word in _MENDED.items() if marks.get(mark))
                own.add("GT156", f"mended: {what}", Place(own.file, line=text.line, ordinal=text.ordinal))
            yield text

    document.events = events()
    return document


def _own_claims(planned: Planned, found: Found) -> str | None:
    """Judge what a file claims of itself, before any import; return what it claims to be."""
    path = planned.given.path
    if planned.reader.name == "geode-run-events" and not planned.given.packed:
        verify_records.judge_file(path, verify_records.RUN_EVENTS, found, damage=False)
        return verify_records.RUN_EVENT
    if planned.reader.name != "atif":
        return None
    with reading(path) as stream:
        try:
            value: Any = documents.load(stream, planned.given.size, found.file).value
        except DataError:  # the import says so
            return None
    for fault in atif.faults(value) if isinstance(value, dict) else ():
        found.add(fault.code, fault.message, Place(found.file, pointer=fault.pointer or None))
    version = value.get("schema_version") if isinstance(value, dict) else None
    return version if version in atif.VERSIONS else None
