"""GEODE run events, `geode.run-event@1`: `events.jsonl` of a run or of a session (record contract §9).

A row that projects a session event becomes that event again: exactly it, under its own id, where its recorded
payload hash proves that nothing was changed. Rows of run timelines keep their kind where it is one of the
contract's, else they are kept whole. A file over 16 MiB was compacted: its marker row tells how much is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from geode_traj.codec.jsonl import Line
from geode_traj.codec.reading import Tolerated
from geode_traj.contract.exported import stored_payload
from geode_traj.contract.ids import COLUMN_BOUNDS, MAX_EVENT_ID, MAX_SESSION_ID
from geode_traj.contract.kinds import KINDS, OUR_MARKERS
from geode_traj.model.event import Event, Item, Loss, Session
from geode_traj.sources.base import Input, Probe
from geode_traj.sources.lines import JsonLines
from geode_traj.sources.values import epoch_time, text

SCHEMA: Final = "geode.run-event@1"
_TRUNCATED: Final = "projection.truncated"
_ROLES: Final = {"message.user": "user", "message.assistant": "assistant"}
_ALIASES: Final = {"ts": "occurred_at", "seq": "ordinal", "event": "kind"}
# What a session projection lays over the payload of the event; the hash is named otherwise in trajectories.
_PROJECTED: Final = frozenset(
    "session_generation parent_event_id role status model provider source payload_hash".split()
)
_COLUMNS: Final = ("turn_id", "call_id", "status", "model", "provider")


class GeodeRunEvents(JsonLines):
    """One timeline file; rows of several sessions may stand in it."""

    name = "geode-run-events"
    reads = "GEODE events.jsonl, geode.run-event@1: run timelines and session projections"
    gives_not = ("rows dropped by compaction", "whole bodies", "usage of single model calls")

    def detect(self, probe: Probe) -> bool:
        """Match when most of the first objects name the schema."""
        return probe.mostly(lambda row: row.get("schema_id") == SCHEMA)

    def time_of(self, row: dict[str, Any]) -> float | None:
        """Return a row's time under its name or its old one."""
        return epoch_time(row.get("occurred_at", row.get("ts")))

    def reader(self, given: Input) -> _Reader:
        """Return a reader of one file's rows."""
        return _Reader(given)


class _Reader:
    """Turns rows into events; ids met are kept, since only a first of its id can be the event itself."""

    def __init__(self, given: Input) -> None:
        self._given = given
        self._ids: set[str] = set()

    def rows(self, line: Line, sha256: str, read: Tolerated) -> list[Item]:
        """Return the event of a row, and what its file lost."""
        row: dict[str, Any] = read.value
        session = row.get("session_id")
        event = Event(
            kind=text(row.get("kind", row.get("event"))),
            session_id=session if isinstance(session, str) and session else self._given.default_session,
            line=line.number,
            record_sha256=sha256,
            payload={},
            time=epoch_time(row.get("occurred_at", row.get("ts"))),
            key=self._key(row, line.number),
        )
        if _is_projection(row, event.kind):
            lost = self._project(event, row, read)
        else:
            lost = []
            self._keep(event, row, read)
        return [event, *lost, *_compaction(event, row)]

    def end(self) -> tuple[Item, ...]:
        """Return nothing: a file that ends says nothing."""
        return ()

    def _key(self, row: dict[str, Any], number: int) -> str:
        """Return the row's own id; of a second row by that id, with its line."""
        own = row.get("event_id")
        if not isinstance(own, str) or not own:
            return ""
        if own in self._ids:
            return f"{own}@{number}"
        self._ids.add(own)
        return own

    def _project(self, event: Event, row: dict[str, Any], read: Tolerated) -> list[Item]:
        """Undo a session projection; say so where the recorded hash does not prove the payload."""
        projected: dict[str, Any] = row["payload"]
        role, parent, generation = (
            projected.get(key) for key in ("role", "parent_event_id", "session_generation")
        )
        event.role = text(role)
        event.parent_event_id = parent if isinstance(parent, str) else None
        event.generation = generation if type(generation) is int and 0 < generation < 1 << 31 else 1
        event.source = text(projected.get("source"))
        for key in ("turn_id", "call_id"):
            setattr(event, key, text(row.get(key)))
        for key in ("status", "model", "provider"):
            setattr(event, key, text(projected.get(key)))
        event.payload, proven = _stored(projected)
        rest = _rest(event, row)
        exact = proven and not (rest or read.escaped or read.nonfinite or read.duplicates)
        if exact and event.time is not None and event.key == row["event_id"]:
            event.event_id = event.key
            return []
        kept = {key: event.payload.pop(key) for key in OUR_MARKERS & event.payload.keys()}
        if not proven:
            kept |= {key: projected[key] for key in _PROJECTED & projected.keys()}
        self._mark(event, {**rest, **({"payload": kept} if kept else {})}, row, read)
        return [] if proven else [Loss("payload_differs_from_source")]

    def _keep(self, event: Event, row: dict[str, Any], read: Tolerated) -> None:
        """Keep a row of a run timeline: under its kind, or whole where that is none of the contract's."""
        payload = row.get("payload")
        given = payload if isinstance(payload, dict) else {}
        for key in _COLUMNS:
            value = row.get(key, given.get(key))
            setattr(event, key, value if isinstance(value, str) else "")
        if event.kind in KINDS and isinstance(payload, dict):
            event.role = _ROLES.get(event.kind, "")
            event.payload = {key: value for key, value in payload.items() if key not in OUR_MARKERS}
            fields = {key: value for key, value in row.items() if not _placed(event, key, value)}
            markers = {key: payload[key] for key in OUR_MARKERS & payload.keys()}
            self._mark(event, {**fields, **({"payload": markers} if markers else {})}, row, read)
            return
        operation = event.kind
        event.kind, event.raw = "legacy.imported", operation != _TRUNCATED
        event.payload = {"operation": operation, "record": row}
        self._mark(event, {}, row, read)

    def _mark(self, event: Event, fields: dict[str, Any], row: dict[str, Any], read: Tolerated) -> None:
        legacy: dict[str, Any] = {
            "event": text(row.get("kind", row.get("event"))),
            "line_number": event.line,
            "source_digest": self._given.sha256,
            "source_path": self._given.name,
        }
        stamp = row.get("occurred_at", row.get("ts"))
        if event.time is None and stamp is not None:
            legacy["timestamp_invalid"] = True
            fields = {**fields, "occurred_at": stamp}
        if read.duplicates:
            legacy["duplicates"] = read.duplicates
        if fields:
            legacy["fields"] = fields
        event.payload["_legacy"] = legacy
        whole = event.payload.get("record") is row
        event.escaped = _pointers(read.escaped, event.payload, whole)
        event.nonfinite = _pointers(read.nonfinite, event.payload, whole)


def _placed(event: Event, key: str, value: Any) -> bool:
    """Tell whether a row's value stands in a column of the event, whole, or names its schema."""
    if key in ("session_id", "turn_id", "call_id"):
        return bool(value == getattr(event, key)) and len(value) <= MAX_SESSION_ID
    if key in ("schema_id", "schema_version"):
        return value in (SCHEMA, 1)
    return key == "payload" or (key == "occurred_at" and event.time is not None)


def _is_projection(row: dict[str, Any], kind: str) -> bool:
    payload = row.get("payload")
    return kind in KINDS and isinstance(payload, dict) and payload.keys() >= _PROJECTED


def _stored(projected: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return the payload under a projection, and whether its hash is proven.

    A key of the payload's own by the name `role` or `payload_hash` leaves no trace; only the former is tried.
    """
    base = {key: value for key, value in projected.items() if key not in ("role", "payload_hash")}
    base["source_payload_hash"] = projected["payload_hash"]
    payload, proven = stored_payload(base)
    if not proven:
        other, proven = stored_payload({**base, "role": projected["role"]})
        payload = other if proven else payload
    return payload, proven


def _rest(event: Event, row: dict[str, Any]) -> dict[str, Any]:
    """Return what a projected row says beyond the event: it holds nothing else as GEODE writes it."""
    said = {
        "schema_id": (SCHEMA,),
        "schema_version": (1,),
        "event_id": (event.key,),
        "session_id": (event.session_id,),
        "component": ("agentic_loop",),
        "level": ("info", "error"),
        "kind": (event.kind,),
        "action": (event.kind,),
        "actor_type": (event.role or ("tool" if event.kind == "tool.completed" else "agent"), "tool"),
        "actor_id": (event.session_id,),
        "entity_type": ("session",),
        "entity_id": (event.session_id,),
        "gen_tag": ("",),
        "task_id": ("",),
    }
    columns = {"turn_id": event.turn_id, "call_id": event.call_id, "occurred_at": event.time}
    rest = {}
    for key, value in row.items():
        if key in ("payload", "ordinal") or value in said.get(key, ()):
            continue  # the ordinal is the row's number in a database that order stands for
        if key in columns and value == columns[key] and len(str(value)) <= COLUMN_BOUNDS["turn_id"]:
            continue
        if key in _ALIASES and value == row.get(_ALIASES[key]):
            continue
        rest[key] = value
    if len(event.key) > MAX_EVENT_ID or len(event.session_id) > MAX_SESSION_ID:
        rest["event_id"] = row.get("event_id")
    return rest


def _pointers(found: Sequence[str], payload: dict[str, Any], whole: bool) -> tuple[str, ...]:
    """Return where values of the row stand in the payload of its event."""
    if whole:
        return tuple(f"/record{pointer}" for pointer in found)
    fields = payload["_legacy"].get("fields", {})
    places = []
    for pointer in found:
        head, _, rest = pointer[1:].partition("/")
        if head == "payload" and rest:
            places.append(f"/{rest}")
        elif head in fields:
            places.append(f"/_legacy/fields{pointer}")
    return tuple(places)


def _compaction(event: Event, row: dict[str, Any]) -> list[Item]:
    """Return what a compaction marker says: how many rows are gone, which the session's export repeats."""
    if text(row.get("kind", row.get("event"))) != _TRUNCATED:
        return []
    payload = row.get("payload")
    dropped = payload.get("dropped_rows") if isinstance(payload, dict) else None
    count = dropped if type(dropped) is int and 0 < dropped < 1 << 63 else 0
    reason = f"{count or 'unknown number of'} run event(s) dropped by compaction"
    return [Loss("projection_truncated", count or 1), Session(event.session_id, {"scope": [reason]})]


SOURCE = GeodeRunEvents()
