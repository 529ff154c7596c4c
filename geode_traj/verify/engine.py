"""One pass over a trajectory: schema, counts, checks, claims.

Rules, in order:

1. Bytes that are no strict JSON are read on as far as that goes (`verify.salvage`), each flaw a finding.
   Where no trajectory comes out the file is unreadable, and there is no verdict on the rest.
2. Every event must be valid by schema; one that is not is a finding with its pointers and is left out of the
   counts, so the file is invalid. A dated trajectory is judged as it stands after normalisation.
3. Each well-formed event is counted, then seen by the event checks that it concerns.
4. After the last event the head is checked by schema, then by every file check.
5. An error finding makes the file invalid, unless it speaks of the run (`OF_THE_RUN`): a file may tell a bad
   run truly. Else an incomplete scope makes it incomplete.

At most `PER_CODE` findings of one code are kept; a note says how many more there were.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Final

from geode_traj.codec import schema
from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import reading, sha256_bytes, sha256_file
from geode_traj.codec.framed import MAX_WHOLE, Document, EventText
from geode_traj.contract import dated
from geode_traj.contract.kinds import TRAJECTORY
from geode_traj.contract.plan import Plan
from geode_traj.errors import DataError, TrajError
from geode_traj.model.finding import Finding, Place
from geode_traj.verify.conduct import Conduct
from geode_traj.verify.facts import Facts, view
from geode_traj.verify.layout import Layout
from geode_traj.verify.look import EXPONENT, look
from geode_traj.verify.registry import Check, EventCheck, Hit, all_checks
from geode_traj.verify.result import OF_THE_RUN, Verdict, Verified
from geode_traj.verify.salvage import CODES, Flaw, salvage

PER_CODE: Final = 100
_NONE: Final[Mapping[str, str]] = MappingProxyType({})


def verify_path(
    path: Path, *, name: str | None = None, given: Mapping[str, str] = _NONE, plan: Plan | None = None
) -> Verified:
    """Verify a file; `name` is what reports call it. Never raises for bad data, only for a bad disk.

    `given` are SHA-256 digests (hex) of bytes that the caller holds, by the path or reference that the
    trajectory names them by: what it claims of them is compared. `plan` stands above all that the file
    declares: what ran is reconciled with it.
    """
    shown = name if name is not None else str(path)
    try:
        sha256, size = sha256_file(path)
        with reading(path) as stream:
            return verify_stream(stream, name=shown, sha256=sha256, size=size, given=given, plan=plan)
    except TrajError as error:
        return unreadable(shown, error)


def verify_bytes(
    data: bytes, *, name: str = "-", given: Mapping[str, str] = _NONE, plan: Plan | None = None
) -> Verified:
    """Verify a trajectory held in memory."""
    digest = sha256_bytes(data)
    return verify_stream(io.BytesIO(data), name=name, sha256=digest, size=len(data), given=given, plan=plan)


def verify_stream(
    stream: BinaryIO,
    *,
    name: str,
    sha256: str,
    size: int,
    given: Mapping[str, str] = _NONE,
    plan: Plan | None = None,
) -> Verified:
    """Verify the first `size` bytes of a seekable stream; `sha256` is reported as their digest."""
    layout = Layout()
    try:
        document, dated_id = dated.read(stream, place=name, size=size)
        run = _Run(name, dated_id, given, plan, None if dated_id else layout)
        for text in document.events:
            run.event(text)
    except DataError as error:
        return _salvaged(stream, error, name=name, sha256=sha256, size=size, given=given, plan=plan)
    layout.finish(document, stream, size)
    return run.finish(document.head, sha256, size)


def verify_document(
    document: Document,
    *,
    name: str,
    sha256: str = "",
    size: int = 0,
    dated_id: str = "",
    given: Mapping[str, str] = _NONE,
    plan: Plan | None = None,
) -> Verified:
    """Verify events as they come from any iterator; the document's head must be complete after the last one.

    `dated_id` is the schema id of the publication that the document was normalised from (record contract §7).
    How the file is laid out is not judged. Raises whatever the iterator raises.
    """
    run = _Run(name, dated_id, given, plan, None)
    for text in document.events:
        run.event(text)
    return run.finish(document.head, sha256, size)


def unreadable(name: str, error: TrajError, *, sha256: str = "", size: int = 0) -> Verified:
    """Return the result for an input that could not be read as a trajectory."""
    line = error.place.rpartition(":")[2]
    place = Place(file=name, line=int(line) if error.place != name and line.isdigit() else None)
    finding = Finding(CODES.get(error.code, "GT101"), "error", error.message, place, hint=error.hint)
    return Verified(name, sha256, size, None, "unreadable", (finding,))


def _salvaged(
    stream: BinaryIO,
    error: DataError,
    *,
    name: str,
    sha256: str,
    size: int,
    given: Mapping[str, str],
    plan: Plan | None,
) -> Verified:
    """Judge what can still be read of a file that strict reading refused with `error`."""
    document = Document(True, iter(()))
    items: Iterable[EventText | Flaw] = salvage(stream, size, document)
    dated_id = ""
    if size <= MAX_WHOLE:
        items = list(items)
        if dated.is_dated(document.head.get("schema_id")):
            dated_id = str(document.head["schema_id"])
            items = _normalised(items, document)
    run = _Run(name, dated_id, given, plan, None)
    explained = False
    for item in items:
        if isinstance(item, Flaw):
            explained |= item.lost and item.position is None
            run.flaw(item)
        else:
            run.event(item)
    if document.head:
        return run.finish(document.head, sha256, size)
    found = unreadable(name, error, sha256=sha256, size=size)
    return run.unreadable(found, told=explained)


def _normalised(items: list[EventText | Flaw], document: Document) -> list[EventText | Flaw]:
    events = [item for item in items if isinstance(item, EventText)]
    made = dated.normalise({**document.head, "events": [text.value for text in events]})
    values = made.pop("events")
    document.head = made
    flaws: list[EventText | Flaw] = [item for item in items if isinstance(item, Flaw)]
    return flaws + [EventText(text.ordinal, value) for text, value in zip(events, values, strict=True)]


_Checks = list[tuple[Check, EventCheck]]


@cache
def _event_checks() -> tuple[_Checks, dict[str, _Checks], _Checks]:
    """Return the event checks: those of any kind, all of each kind that some check names, those by a sign."""
    checks = [(check, check.on_event) for check in all_checks().values() if check.on_event is not None]
    plain = [pair for pair in checks if not pair[0].sign]
    kinds = frozenset[str]().union(*(check.kinds or () for check, _ in plain))
    return (
        [pair for pair in plain if pair[0].kinds is None],
        {kind: [pair for pair in plain if _concerns(pair[0], kind)] for kind in kinds},
        [pair for pair in checks if pair[0].sign],
    )


def _concerns(check: Check, kind: str) -> bool:
    return check.kinds is None or kind in check.kinds


class _Run:
    """The state of one verification."""

    def __init__(
        self, name: str, dated_id: str, given: Mapping[str, str], plan: Plan | None, layout: Layout | None
    ) -> None:
        self._name = name
        self._dated_id = dated_id
        self._layout = layout
        self._facts = Facts(given=given, conduct=Conduct(plan))
        self._counts: Counter[str] = Counter()
        self._findings: list[Finding] = []
        self._is_event = schema.validator(TRAJECTORY, "event")
        self._checks = all_checks()
        self._any, self._by_kind, self._by_sign = _event_checks()

    def event(self, text: EventText) -> None:
        signs, encoded = look(text.value, text.data)
        if self._layout is not None and self._layout.differs is None:
            self._layout.feed(text, encoded or dumps(text.value, plain=not signs & EXPONENT))
        if not self._is_event(text.value):
            self._facts.malformed += 1
            place = Place(file=self._name, line=text.line, ordinal=text.ordinal)
            self._schema(text.value, "event", f"/events/{text.ordinal - 1}", place)
            return
        event = view(self._name, text, signs)
        facts = self._facts
        facts.feed(event)
        for check, on_event in self._by_kind.get(event.kind, self._any):
            for hit in on_event(facts, event):
                self._add(check, hit)
        if event.signs:
            for check, on_event in self._by_sign:
                if check.sign & event.signs and _concerns(check, event.kind):
                    for hit in on_event(facts, event):
                        self._add(check, hit)
        facts.done(event)

    def flaw(self, flaw: Flaw) -> None:
        place = Place(self._name, flaw.line, flaw.position, None, flaw.pointer, flaw.span)
        self._told(flaw.code, flaw.message, place)
        if flaw.lost and flaw.position is not None:
            self._facts.malformed += 1

    def unreadable(self, found: Verified, *, told: bool) -> Verified:
        """Return the result of a file without a head; `told` says that the flaws tell why."""
        more = () if told else found.findings
        return replace(found, findings=(*more, *self._findings))

    def finish(self, head: dict[str, Any], sha256: str, size: int) -> Verified:
        facts = self._facts
        facts.head = head
        place = Place(file=self._name)
        schema_id = head.get("schema_id")
        if schema_id != TRAJECTORY:
            self._told("GT103", "schema_id is not geode.trajectory@1", place)
        elif not schema.is_valid(TRAJECTORY, {**head, "events": []}):
            self._schema({**head, "events": []}, None, "", place)
        else:
            for check in self._checks.values():
                for hit in check.on_file(facts) if check.on_file is not None else ():
                    self._add(check, hit)
        if self._dated_id:
            self._told("GT205", "dated schema, normalised", place)
            schema_id = self._dated_id
        if schema_id == TRAJECTORY and self._layout is not None and self._layout.differs is not None:
            self._told("GT115", "not written canonically", replace(self._layout.differs, file=self._name))
        for code, count in sorted(self._counts.items()):
            if count > PER_CODE:
                more = f"{count - PER_CODE} more finding(s) of {code} are not listed"
                self._findings.append(Finding(code, "note", more, place))
        return self._result(head, sha256, size, schema_id if isinstance(schema_id, str) else None)

    def _result(self, head: dict[str, Any], sha256: str, size: int, schema_id: str | None) -> Verified:
        facts = self._facts
        computed = facts.completeness()
        verdict: Verdict = "valid" if computed.scope_complete else "incomplete"
        if any(
            found.severity == "error" and int(found.code[2:]) // 100 != OF_THE_RUN for found in self._findings
        ):
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
            accounting=facts.conduct.calls(),
            reconciliation=facts.conduct.reconciliation(head),
        )

    def _schema(self, value: Any, part: str | None, pointer: str, place: Place) -> None:
        if self._counts["GT102"] > PER_CODE:  # explaining costs far more than telling
            self._counts["GT102"] += 1
            return
        for below, message in schema.problems(TRAJECTORY, value, part=part):
            self._told("GT102", message, replace(place, pointer=pointer + below))

    def _told(self, code: str, message: str, place: Place) -> None:
        self._add(self._checks[code], Hit(message, place))

    def _add(self, check: Check, hit: Hit) -> None:
        code = check.code
        self._counts[code] += 1
        if self._counts[code] <= PER_CODE:
            place = hit.place if hit.place.file else replace(hit.place, file=self._name)
            related = tuple(one if one.file else replace(one, file=self._name) for one in hit.related)
            self._findings.append(Finding(code, check.severity, hit.message, place, related, check.hint))


def _text(value: Any, key: str) -> str:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _list(head: dict[str, Any], key: str) -> list[Any]:
    found = head.get(key)
    return found if isinstance(found, list) else []
