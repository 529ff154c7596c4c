"""One pass over a trajectory: schema, counts, checks, claims.

Rules, in order:

1. Bytes that are no strict JSON, or no trajectory, are unreadable: one finding, no verdict on the rest.
2. Every event must be valid by schema; one that is not is a finding with its pointers and is left out of the
   counts, so the file is invalid. A dated trajectory is judged as it stands after normalisation.
3. Each well-formed event is counted, then seen by every event check.
4. After the last event the head is checked by schema, then by every file check.
5. An error finding makes the file invalid; else an incomplete scope makes it incomplete.

At most `PER_CODE` findings of one code are kept; a note says how many more there were.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, Final

from geode_traj.codec import schema
from geode_traj.codec.files import reading, sha256_bytes, sha256_file
from geode_traj.codec.framed import Document, EventText
from geode_traj.contract import dated
from geode_traj.contract.kinds import TRAJECTORY
from geode_traj.errors import DataError, TrajError
from geode_traj.model.finding import Finding, Place
from geode_traj.verify.facts import Facts, view
from geode_traj.verify.registry import Check, Hit, all_checks
from geode_traj.verify.result import Verdict, Verified

PER_CODE: Final = 100


def verify_path(path: Path, *, name: str | None = None) -> Verified:
    """Verify a file; `name` is what reports call it. Never raises for bad data, only for a bad disk."""
    shown = name if name is not None else str(path)
    try:
        sha256, size = sha256_file(path)
        with reading(path) as stream:
            return verify_stream(stream, name=shown, sha256=sha256, size=size)
    except TrajError as error:
        return unreadable(shown, error)


def verify_bytes(data: bytes, *, name: str = "-") -> Verified:
    """Verify a trajectory held in memory."""
    return verify_stream(io.BytesIO(data), name=name, sha256=sha256_bytes(data), size=len(data))


def verify_stream(stream: BinaryIO, *, name: str, sha256: str, size: int) -> Verified:
    """Verify the first `size` bytes of a seekable stream; `sha256` is reported as their digest."""
    try:
        document, dated_id = dated.read(stream, place=name, size=size)
        return verify_document(document, name=name, sha256=sha256, size=size, dated_id=dated_id)
    except DataError as error:
        return unreadable(name, error, sha256=sha256, size=size)


def verify_document(
    document: Document, *, name: str, sha256: str = "", size: int = 0, dated_id: str = ""
) -> Verified:
    """Verify events as they come from any iterator; the document's head must be complete after the last one.

    `dated_id` is the schema id of the publication that the document was normalised from (record contract §7).
    Raises whatever the iterator raises.
    """
    run = _Run(name, dated_id)
    for text in document.events:
        run.event(text)
    return run.finish(document, sha256, size)


def unreadable(name: str, error: TrajError, *, sha256: str = "", size: int = 0) -> Verified:
    """Return the result for an input that could not be read as a trajectory."""
    line = error.place.rpartition(":")[2]
    place = Place(file=name, line=int(line) if error.place != name and line.isdigit() else None)
    finding = Finding("GT101", "error", error.message, place, hint=error.hint)
    return Verified(name, sha256, size, None, "unreadable", (finding,))


class _Run:
    """The state of one verification."""

    def __init__(self, name: str, dated_id: str) -> None:
        self._name = name
        self._dated_id = dated_id
        self._facts = Facts()
        self._counts: Counter[str] = Counter()
        self._findings: list[Finding] = []
        self._is_event = schema.validator(TRAJECTORY, "event")
        checks = all_checks().values()
        self._event_checks = [(check, check.on_event) for check in checks if check.on_event is not None]
        self._file_checks = [check for check in checks if check.on_file]

    def event(self, text: EventText) -> None:
        place = Place(file=self._name, line=text.line, ordinal=text.ordinal)
        if not self._is_event(text.value):
            self._facts.malformed += 1
            pointer = f"/events/{text.ordinal - 1}"
            self._schema(text.value, "event", pointer, place)
            return
        plain = text.data if text.data is not None and b"\\u" not in text.data else None
        event = view(text.ordinal, text.value, place, plain)
        self._facts.feed(event)
        for check, on_event in self._event_checks:
            for hit in on_event(self._facts, event):
                self._add(check.code, check.severity, hit, check.hint)
        self._facts.done(event)

    def finish(self, document: Document, sha256: str, size: int) -> Verified:
        facts = self._facts
        facts.head = document.head
        place = Place(file=self._name)
        schema_id = document.head.get("schema_id")
        known = schema_id == TRAJECTORY
        if not known:
            self._add("GT103", "error", Hit("schema_id is not geode.trajectory@1", place), "see `schema`")
        elif not schema.is_valid(TRAJECTORY, {**document.head, "events": []}):
            self._schema({**document.head, "events": []}, None, "", place)
        else:
            for check in self._file_checks:
                if check.on_file is not None:
                    self._take(check, check.on_file(facts))
        if self._dated_id:
            self._add("GT205", "note", Hit("dated schema, normalised", place), "")
            schema_id = self._dated_id
        for code, count in sorted(self._counts.items()):
            if count > PER_CODE:
                more = f"{count - PER_CODE} more finding(s) of {code} are not listed"
                self._findings.append(Finding(code, "note", more, place))
        return self._result(document.head, sha256, size, schema_id if isinstance(schema_id, str) else None)

    def _result(self, head: dict[str, Any], sha256: str, size: int, schema_id: str | None) -> Verified:
        facts = self._facts
        computed = facts.completeness()
        verdict: Verdict = "valid" if computed.scope_complete else "incomplete"
        if any(finding.severity == "error" for finding in self._findings):
            verdict = "invalid"
        privacy = head.get("privacy")
        trajectory_id = head.get("trajectory_id")
        return Verified(
            name=self._name,
            sha256=sha256,
            bytes=size,
            schema_id=schema_id,
            verdict=verdict,
            findings=tuple(self._findings),
            trajectory_id=trajectory_id if isinstance(trajectory_id, str) else "",
            events=facts.quality.events + facts.malformed,
            scope_complete=computed.scope_complete and not facts.malformed,
            replay_complete=computed.replay_complete and not facts.malformed,
            scope_reasons=computed.scope_reasons,
            replay_reasons=computed.replay_reasons,
            quality=facts.quality.to_json(),
            review_state=_text(privacy, "review_state"),
            evidence_refs=len(_list(head, "evidence_refs")),
            runtime_event_refs=len(_list(head, "runtime_event_refs")),
            artifact_digests=tuple(
                (_text(item, "path"), _text(item, "sha256")) for item in _list(head, "artifact_digests")
            ),
            derived_ids=facts.derived_ids,
        )

    def _schema(self, value: Any, part: str | None, pointer: str, place: Place) -> None:
        if self._counts["GT102"] > PER_CODE:  # explaining costs far more than telling
            self._counts["GT102"] += 1
            return
        for below, message in schema.problems(TRAJECTORY, value, part=part):
            where = Place(place.file, place.line, place.ordinal, pointer=pointer + below)
            self._add("GT102", "error", Hit(message, where), "see `schema geode.trajectory@1`")

    def _take(self, check: Check, hits: Iterable[Hit]) -> None:
        for hit in hits:
            self._add(check.code, check.severity, hit, check.hint)

    def _add(self, code: str, severity: Any, hit: Hit, hint: str) -> None:
        self._counts[code] += 1
        if self._counts[code] <= PER_CODE:
            place = hit.place if hit.place.file else Place(file=self._name, pointer=hit.place.pointer)
            self._findings.append(Finding(code, severity, hit.message, place, hit.related, hint))


def _text(value: Any, key: str) -> str:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _list(head: dict[str, Any], key: str) -> list[Any]:
    found = head.get(key)
    return found if isinstance(found, list) else []
