"""A stored event, and what a source says before it is one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Row(NamedTuple):
    """One row of `session_events` (record contract §2), in column order without `schema_version`.

    A named tuple, not a dataclass: millions of them pass through `executemany`.
    `occurred_at` is Unix seconds, `payload_json` compact JSON, `id` 0 until stored.
    """

    id: int
    event_id: str
    occurred_at: float
    session_id: str
    session_generation: int
    turn_id: str
    call_id: str
    parent_event_id: str | None
    kind: str
    role: str
    status: str
    model: str
    provider: str
    payload_json: str
    payload_hash: str
    source: str


@dataclass(slots=True)
class Event:
    """One event as its source tells it, before ids, redaction and bounds.

    `key` is the source's own id of the record, or "" (the line number stands for it then). `generation`
    counts from 1 within the source. `time` is None where the source gives none that can be read. `n` numbers
    the events that one record gives; `raw` says the record was kept whole because its kind is unknown.
    `event_id` is set only by formats with ids of their own; `aliases` are ids the same record may be stored
    under. `content_key` names what the record says apart from the file it stands in: a record whose key is
    stored already is a copy (a resume, a fork) and is linked, not stored again. `copied_from` names the
    sessions that a fork may have copied the record from: only of theirs is it a copy, and it becomes the
    original of others only once a copy was met before it. `time_rule` tells how `time` was read where the
    source left it open (`naive_as_utc`).
    Not frozen: the assembler fills it in place, once, and hands it on to nobody.
    """

    kind: str
    session_id: str
    line: int
    record_sha256: str
    payload: dict[str, Any]
    time: float | None = None
    generation: int = 1
    key: str = ""
    n: int = 0
    raw: bool = False
    turn_id: str = ""
    call_id: str = ""
    parent_event_id: str | None = None
    role: str = ""
    status: str = ""
    model: str = ""
    provider: str = ""
    source: str = ""
    event_id: str = ""
    aliases: tuple[str, ...] = ()
    escaped: tuple[str, ...] = ()
    nonfinite: tuple[str, ...] = ()
    content_key: str = ""
    copied_from: tuple[str, ...] = ()
    time_rule: str = ""


@dataclass(frozen=True, slots=True)
class Damaged:
    """A record that cannot be an event: where it stands, its digest, why, and its bytes if they fit."""

    line: int
    offset: int
    length: int
    sha256: str
    reason: str
    data: bytes | None
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """Records that hold no event by nature: `what` is blank or foreign."""

    what: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Loss:
    """Something the source itself lost or cannot give, with its reason (importer decision J6)."""

    reason: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Session:
    """What a source declares of a session and an export repeats (reasons, damaged lines, head fields)."""

    session_id: str
    declared: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Link:
    """How a session hangs together with another: `kind` is parent (a sub-agent's), fork, resume or copy."""

    session_id: str
    kind: str
    target: str


Item = Event | Damaged | Skipped | Loss | Session | Link
