"""GEODE trajectories, `geode.trajectory@1`, back into a store without loss (record contract §7, Ours)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.framed import Document, EventText, read
from geode_traj.codec.schema import is_valid
from geode_traj.contract.exported import stored_payload
from geode_traj.contract.ids import MAX_EVENT_ID
from geode_traj.contract.kinds import KINDS, TRAJECTORY
from geode_traj.contract.session_export import own_reasons
from geode_traj.contract.times import parse
from geode_traj.errors import DataError
from geode_traj.model.event import Damaged, Event, Item, Loss, Session
from geode_traj.sources.base import FileSource, Input, Probe
from geode_traj.sources.fields import word

_SCHEMA: Final = re.compile(rb'"schema_id"\s*:\s*"geode\.trajectory@1"')
_COMPLETE_LINE: Final = re.compile(rb"\}\s*\n\s*\{")
# Head fields that the next export repeats; the rest it states anew.
_HEAD: Final = (
    "source", "outcome", "trajectory_class", "artifact_digests", "evidence_refs", "runtime_event_refs",
)  # fmt: skip


class GeodeTrajectory(FileSource):
    """One trajectory file; its sessions come back with ids, order, columns and payloads as exported."""

    name = "geode-trajectory"
    keeps_ids = True
    reads = "geode.trajectory@1 files, line-framed or not"

    def detect(self, probe: Probe) -> bool:
        """Match one JSON object that names the schema at its head or its tail."""
        return one_object(probe) and bool(_SCHEMA.search(probe.head) or _SCHEMA.search(probe.tail))

    def document(self, stream: BinaryIO, place: str, size: int) -> Document:
        """Start reading the file."""
        return read(stream, place=place, size=size)

    def fits(self, head: dict[str, Any]) -> bool:
        """Tell whether the head, all but the events, is one of this schema."""
        return is_valid(TRAJECTORY, {**head, "events": []})

    def first_time(self, given: Input, stream: BinaryIO) -> float | None:
        """Return the time of the first event."""
        for text in self.document(stream, given.name, given.size).events:
            time = text.value.get("occurred_at") if isinstance(text.value, dict) else None
            parsed = parse(time) if isinstance(time, str) else None
            if parsed:
                return parsed[0]
        return None

    def count(self, stream: BinaryIO, size: int) -> int:
        """Count the events."""
        return sum(1 for _ in self.document(stream, "", size).events)

    def read(self, given: Input, stream: BinaryIO) -> Iterator[Item]:
        """Yield the events, then what the file declares of their sessions."""
        document = self.document(stream, given.name, given.size)
        sessions: dict[str, None] = {}
        ids: set[str] = set()
        for text in document.events:
            data = text.data if text.data is not None else dumps(text.value)
            sha256 = sha256_bytes(data)
            reason = _refused(text.value, ids)
            if reason:
                yield Damaged(text.line or text.ordinal, text.offset or 0, len(data), sha256, reason, data)
                continue
            ids.add(text.value["event_id"])
            sessions[text.value["session_id"]] = None
            yield from _event(text, sha256)
        head = document.head
        if not self.fits(head):
            raise DataError("TE208", name=TRAJECTORY, why="its head does not fit", place=given.name)
        declared = _declared(head, list(sessions))
        for session in sessions:
            yield Session(session, declared)


def one_object(probe: Probe) -> bool:
    """Tell whether a file may be one JSON object, not JSON lines that only mention a schema."""
    if not probe.head.lstrip().startswith(b"{"):
        return False
    first = probe.head.split(b"\n", 1)[0].rstrip()
    return not (first.endswith(b"}") and _COMPLETE_LINE.search(probe.head))


def _refused(value: Any, ids: set[str]) -> str | None:
    """Return why an event cannot be stored under its own id, None when it can."""
    if not is_valid(TRAJECTORY, value, part="event") or parse(value["occurred_at"]) is None:
        return "not_an_event"
    if not 0 < len(value["event_id"]) <= MAX_EVENT_ID or not value["session_id"]:
        return "not_an_event"
    return "repeated_event_id" if value["event_id"] in ids else None


def _event(text: EventText, sha256: str) -> Iterator[Item]:
    value: dict[str, Any] = text.value
    exported: dict[str, Any] = value["payload"]
    payload, proven = stored_payload(exported)
    if not proven and "source_payload_hash" in exported:
        yield Loss("payload_differs_from_source")
    derived = exported.get("_derived")
    derived = derived if isinstance(derived, dict) else {}
    native_turn = exported.get("_native_turn_id")
    turn = value["turn_id"] if "turn_id" not in derived else native_turn
    seconds = parse(value["occurred_at"])
    generation = exported.get("session_generation")
    parent = exported.get("parent_event_id")
    yield Event(
        kind=value["kind"],
        session_id=value["session_id"],
        line=text.ordinal,
        record_sha256=sha256,
        payload=payload,
        time=seconds[0] if seconds else None,
        raw=value["kind"] not in KINDS,
        generation=generation if isinstance(generation, int) and 0 < generation < 1 << 31 else 1,
        turn_id=turn if isinstance(turn, str) else "",
        call_id="" if "call_id" in derived else value["call_id"],
        parent_event_id=parent if isinstance(parent, str) else None,
        role="" if value["actor"] == "agent" else value["actor"],
        status=word(exported, "status"),
        model=word(exported, "model"),
        provider=word(exported, "provider"),
        source=word(exported, "source") or "geode-trajectory",
        event_id=value["event_id"],
    )


def _declared(head: dict[str, Any], sessions: list[str]) -> dict[str, Any]:
    """Return what the next export must repeat: declared reasons, damaged lines, head fields of its own."""
    integrity = head.get("integrity")
    integrity = integrity if isinstance(integrity, dict) else {}
    privacy = head.get("privacy")
    redactions = privacy.get("redactions") if isinstance(privacy, dict) else None
    damaged = integrity.get("damaged_lines")
    scope = integrity.get("scope_incompleteness")
    declared: dict[str, Any] = {
        "scope": own_reasons(scope),
        "replay": own_reasons(integrity.get("replay_incompleteness"), follows=bool(scope)),
        "damaged_lines": damaged if type(damaged) is int and damaged > 0 else 0,
        "fidelity": integrity.get("fidelity"),
        "redactions": redactions if isinstance(redactions, list) else None,
        "head": {key: head[key] for key in _HEAD if key in head},
        "sessions": sessions,
    }
    return {key: value for key, value in declared.items() if value}


SOURCE = GeodeTrajectory()
