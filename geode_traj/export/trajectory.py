"""One or several sessions of the store as a line-framed trajectory, streamed (record contract §5).

The store is read once, in database order; only counts are kept. Turn and call ids that sources did not give
are derived here, marked and counted; bodies kept as blobs are put back in a full export.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from geode_traj.codec.framed import Document, EventText, frame, join
from geode_traj.codec.pointer import put
from geode_traj.contract import session_export
from geode_traj.contract.derive import Derived, Deriver, rules_of
from geode_traj.contract.encoding import encode, encode_seen
from geode_traj.contract.exported import digest_payload, event
from geode_traj.contract.issues import has_issue
from geode_traj.contract.kinds import CALLS, RESULTS, TRAJECTORY
from geode_traj.contract.quality import Completeness, Quality, completeness, unique
from geode_traj.contract.times import is_calendar, iso
from geode_traj.errors import DataError
from geode_traj.export import references
from geode_traj.export.references import References
from geode_traj.model.event import Row
from geode_traj.store import blobs, events, imports, links

Content = Literal["full", "digest"]
# Of these a digest export too needs what a cut body tells: tool names, references, failures.
_TELLING: Final = CALLS | RESULTS | references.EVIDENCE_KINDS | {"session.ended"}


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export states of itself, for the line a person reads and for gates."""

    trajectory_id: str
    records: int
    completeness: Completeness
    derived: int


class Export:
    """The export of some sessions as one trajectory: iterate `chunks`, then `result` is known.

    `trajectory_id` is required for several sessions (`DataError` TE302 when none has events).
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        session_ids: Sequence[str],
        *,
        trajectory_id: str | None = None,
        content: Content = "full",
        companions: References | None = None,
    ) -> None:
        self._db = connection
        self._ids = unique(session_ids)
        self._content = content
        self._given = companions or References()
        self._declared = imports.declared(connection, self._ids)
        self._blobs = blobs.references(connection, self._ids)
        self._head = session_export.head(self._ids, trajectory_id)
        self._deriver = Deriver()
        self._quality = Quality()
        self._derived: Counter[str] = Counter()
        self._derived_ids = 0
        self._missing_blobs = 0
        self._redactions: Counter[str] = Counter()
        self._evidence: list[dict[str, Any]] = []
        self._last: dict[str, str] = {}
        self._failing: set[str] = set()
        self._latest = 0.0
        self._result: Exported | None = None

    @property
    def result(self) -> Exported:
        """What was exported; known once `chunks` is exhausted."""
        if self._result is None:
            raise RuntimeError("the export is not finished")
        return self._result

    def chunks(self) -> Iterator[bytes]:
        """Yield the file's bytes; raise `DataError` TE302 when there is no event."""
        head = self._opening()
        yield frame(head, encode)[0]
        yield from join(encoded for _, encoded in self._events())
        yield frame(head | self._closing(), encode)[1]

    def document(self) -> Document:
        """Return the same trajectory as values, for a reader that needs no bytes."""
        document = Document(True, iter(()), self._opening())

        def values() -> Iterator[EventText]:
            for ordinal, (value, encoded) in enumerate(self._events(), start=1):
                yield EventText(ordinal, value, encoded)
            document.head.update(self._closing())

        document.events = values()
        return document

    def _opening(self) -> dict[str, Any]:
        latest = events.latest_time(self._db, self._ids)
        if latest is None:
            raise DataError("TE302", what=", ".join(self._ids) or "no session was named")
        self._latest = latest
        head: dict[str, Any] = {
            **self._head,
            "schema_id": TRAJECTORY,
            "schema_version": 1,
            "captured_at": iso(latest),
        }
        stated = [declared.get("head", {}) for declared in self._declared]
        if len(stated) == 1 and self._declared[0].get("sessions") == self._ids:
            head |= {
                key: stated[0][key] for key in ("source", "outcome", "trajectory_class") if key in stated[0]
            }
        linked = {target for one in self._ids for _, target in links.of_session(self._db, one)}
        if linked.difference(self._ids):
            head["source"] = {**head["source"], "parents": sorted(linked.difference(self._ids))}
        head["source"] = {**head["source"], **self._given.source}
        earlier = [item for one in stated for item in one.get("artifact_digests", [])]
        head["artifact_digests"] = references.merged_artifacts([*self._given.artifacts, *earlier])
        return head

    def _events(self) -> Iterator[tuple[dict[str, Any], bytes]]:
        for ordinal, row in enumerate(events.read(self._db, self._ids), start=1):
            payload = whole = events.payload(row)
            kept = self._blobs.get(row.event_id)
            if kept and (self._content == "full" or row.kind in _TELLING):
                whole = self._restore(events.payload(row), kept)  # its parts are replaced in place
            self._last[row.session_id] = row.kind
            if row.kind == "session.ended" and session_export.reports_failures(whole):
                self._failing.add(row.session_id)
            self._evidence += references.verification(row.kind, whole)
            derived = self._deriver.feed(row, whole)
            restored = whole is not payload and self._content == "full"
            try:
                body = whole if restored else payload
                exported, encoded, suspect = self._written(row, body, derived, ordinal, restored)
            # What JSON or a calendar cannot say, stored by a writer that did not mind.
            except (ValueError, OverflowError, OSError):
                exported, encoded, suspect = self._written(*self._storable(row), derived, ordinal)
            self._count(row, exported, issue=suspect and has_issue(exported["payload"]))
            yield exported, encoded

    def _written(
        self, row: Row, payload: dict[str, Any], derived: Derived, ordinal: int, restored: bool = False
    ) -> tuple[dict[str, Any], bytes, bool]:
        """Return an event, its bytes, and whether its payload must be looked at for an issue."""
        exported = event(row, payload, derived, ordinal, restored=restored)
        if self._content == "digest":
            exported["payload"] = digest_payload(row.kind, exported["payload"])
        return exported, *encode_seen(exported)

    def _storable(self, row: Row) -> tuple[Row, dict[str, Any]]:
        """Return a row and its payload as they can be written; a time outside the calendar is marked."""
        payload = events.storable(events.payload(row))
        if not is_calendar(row.occurred_at):
            row = row._replace(occurred_at=self._latest)
            payload["_timestamp_invalid"] = True
        return row, payload

    def _restore(self, payload: dict[str, Any], kept: list[tuple[str, str]]) -> dict[str, Any]:
        """Return the payload with its cut bodies put back where the import took them."""
        whole = {key: value for key, value in payload.items() if key != "_blobs"}
        for pointer, sha256 in kept:
            try:
                body = blobs.read(self._db, sha256)
            except DataError:  # the payload stays as it was cut, its marker with it
                self._missing_blobs += 1
                continue
            if not pointer:
                whole = body
            else:
                put(whole, pointer, body)
        return whole

    def _count(self, row: Row, exported: dict[str, Any], *, issue: bool) -> None:
        payload = exported["payload"]
        self._quality.feed(row.kind, row.session_id, exported["turn_id"], exported["call_id"], issue=issue)
        rules, ids = rules_of(payload)
        for rule in rules:
            self._derived[rule] += 1
        self._derived_ids += ids
        listed = payload.get("_redactions")
        if isinstance(listed, list):
            self._redactions.update(str(item.get("class")) for item in listed if isinstance(item, dict))

    def _closing(self) -> dict[str, Any]:
        stated = [declared.get("head", {}) for declared in self._declared]
        redactions = [item for one in self._declared for item in one.get("redactions", [])]
        privacy = {**self._head["privacy"], **({"redactions": redactions} if redactions else {})}
        fidelity = next((one["fidelity"] for one in self._declared if "fidelity" in one), None)
        damaged = sum(imports.count_damaged(self._db, session_id) for session_id in self._ids)
        damaged += sum(self._declared_damage().values())
        scope = self._export_reasons(damaged)
        computed = completeness(
            self._quality,
            declared_scope=scope,
            declared_replay=[reason for one in self._declared for reason in one.get("replay", [])],
            scope_declared_complete=not scope,
            replay_declared_complete=not scope,
            privacy=privacy,
            fidelity=fidelity,
        )
        self._result = Exported(
            self._head["trajectory_id"], self._quality.events, computed, self._derived_ids
        )
        return {
            "privacy": privacy,
            "evidence_refs": references.merged(
                [
                    *self._given.evidence,
                    *self._evidence,
                    *(item for one in stated for item in one.get("evidence_refs", [])),
                ]
            ),
            "runtime_event_refs": references.merged(
                [
                    *self._given.runtime,
                    *references.hook_events(self._db, self._ids),
                    *(item for one in stated for item in one.get("runtime_event_refs", [])),
                ]
            ),
            "integrity": {
                "record_count": self._quality.events,
                **computed.to_json(),
                "quality": self._quality.to_json(),
                "derived": dict(self._derived),
                "value_redactions": dict(self._redactions),
                "damaged_lines": damaged,
                **({"missing_blobs": self._missing_blobs} if self._missing_blobs else {}),
                **({"fidelity": fidelity} if fidelity is not None else {}),
            },
        }

    def _declared_damage(self) -> dict[tuple[str, ...], int]:
        """Return what files declared, by their sessions: a later file of the same counts the same lines."""
        counts: dict[tuple[str, ...], int] = {}
        for one in self._declared:
            sessions = tuple(one.get("sessions", []))
            counts[sessions] = max(counts.get(sessions, 0), one.get("damaged_lines", 0))
        return counts

    def _export_reasons(self, damaged: int) -> list[str]:
        reasons = [reason for one in self._declared for reason in one.get("scope", [])]
        for session_id in self._ids:
            reasons += session_export.session_reasons(
                session_id, self._last.get(session_id), failing=session_id in self._failing
            )
        if damaged:
            reasons.append(session_export.DAMAGED.format(count=damaged))
        return unique(reasons)
