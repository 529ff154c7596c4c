"""Dated trajectories, `geode.trajectory@YYYY-MM-DD`, as `geode.trajectory@1` in memory (record contract §7).

Rules, in order:

1. Events keep their order and get ordinals 1..n; times, session, turn, call and event ids are filled in. An
   absent event id is the digest of the eight other fields as they stand here.
2. References without a type get the legacy one; provenance, outcome and privacy get their defaults.
3. Replay is declared incomplete, and counts, quality and completeness are computed as for any file.
4. Ours: nothing of the publication is dropped. Event fields without a place stay in `payload._legacy.fields`
   (after the id was computed), head fields in `provenance.legacy_fields`.

Pure: the given document is not changed, and the published file never is.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, BinaryIO, Final

from geode_traj.codec import framed, schema
from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.framed import Document
from geode_traj.contract import times
from geode_traj.contract.issues import has_issue
from geode_traj.contract.kinds import DATED_PREFIX, TRAJECTORY
from geode_traj.contract.quality import Quality, completeness

_DATED: Final = re.compile(re.escape(DATED_PREFIX) + r"(\d{4}-\d{2}-\d{2})", re.ASCII)
_NAMED: Final = re.compile(rb'"schema_id"\s*:\s*"geode\.trajectory@\d{4}-\d{2}-\d{2}"')
_HEAD: Final = 1 << 18
_TAIL: Final = 1 << 16
_TIMES: Final = ("occurred_at", "timestamp", "ts")
_NO_SESSION: Final = "legacy-publication"
_NO_HARNESS: Final = "legacy"
_REFERENCE: Final = {"schema_id": "legacy.external-reference", "authority": "immutable legacy publication"}
_REFERENCE_NAMES: Final = ("path", "id", "contract_id")
_LISTS: Final = {"runtime_event_refs": "runtime_event", "evidence_refs": "legacy"}
_OPTIONAL: Final = ("published_at", "observed_on", "trajectory_class", "artifact_digests")
UNDECLARED_REPLAY: Final = "legacy publication does not declare replay completeness"
FIDELITY: Final = "legacy fidelity scope: {scope}"
REDACTIONS: Final = "legacy publication declares privacy redactions"


def is_dated(schema_id: object) -> bool:
    """Tell whether a schema id is a dated one."""
    return isinstance(schema_id, str) and _DATED.fullmatch(schema_id) is not None


def names_dated(head: bytes, tail: bytes) -> bool:
    """Tell whether a file's first or last bytes name a dated schema: then its whole is worth a look."""
    return bool(_NAMED.search(head) or _NAMED.search(tail))


def read(stream: BinaryIO, *, place: str = "", size: int) -> tuple[Document, str]:
    """Read a trajectory of `size` bytes; return it, and the schema id of a dated one, else "".

    A dated one is read whole (up to the codec's limit for that) and comes normalised, line-framed or not.
    """
    head = stream.read(_HEAD)
    stream.seek(max(0, size - _TAIL))
    tail = stream.read(_TAIL)
    stream.seek(0)
    document = framed.read(stream, place=place, size=size)
    if size > framed.MAX_WHOLE or not names_dated(head, tail):
        return document, ""
    events = list(document.events)
    schema_id = document.head.get("schema_id")
    if not is_dated(schema_id):
        return Document(document.framed, iter(events), document.head), ""
    made = normalise({**document.head, "events": [text.value for text in events]})
    values = [
        replace(text, value=value, data=None) for text, value in zip(events, made.pop("events"), strict=True)
    ]
    return Document(document.framed, iter(values), made), str(schema_id)


def normalise(document: dict[str, Any]) -> dict[str, Any]:
    """Return a dated trajectory, its `events` included, as a `geode.trajectory@1` document.

    What cannot be made to fit (an event that is no object) stays as it is, for the schema to refuse.
    """
    head = {key: value for key, value in document.items() if key != "events"}
    given = document.get("events")
    listed = given if isinstance(given, list) else []
    captured = _captured(head, listed)
    own_id = _text(head.get("trajectory_id"))
    source = _source(head.get("source"), own_id)
    events = [
        _event(item, ordinal, captured, source["session"]) if isinstance(item, dict) else item
        for ordinal, item in enumerate(listed, start=1)
    ]
    privacy = head["privacy"] if isinstance(head.get("privacy"), dict) else {"review_state": "unknown"}
    made: dict[str, Any] = {
        "schema_id": TRAJECTORY,
        "schema_version": 1,
        "trajectory_id": own_id or f"migrated-{_digest(_text(head['schema_id']), 16)}",
        "captured_at": captured,
        "source": source,
        "outcome": head["outcome"] if isinstance(head.get("outcome"), dict) else {"scored": False},
        "privacy": privacy,
        "integrity": _integrity(head.get("integrity"), events, privacy),
        **{name: _references(head[name], kind) for name, kind in _LISTS.items() if name in head},
    }
    _take_over(head, made)
    given_provenance = head.get("provenance")
    provenance = given_provenance if isinstance(given_provenance, dict) else {}
    made["provenance"] = {**provenance, "migrated_from_schema_id": head["schema_id"]}
    rest = _rest(head, made)
    if rest:
        made["provenance"]["legacy_fields"] = rest
    made["events"] = events
    return made


def _take_over(head: dict[str, Any], made: dict[str, Any]) -> None:
    """Keep the optional head fields that fit; times are written as the contract writes them."""
    for key in _OPTIONAL:
        if key not in head:
            continue
        value = head[key]
        parsed = times.parse(value) if key == "published_at" and isinstance(value, str) else None
        candidate = times.iso(parsed[0]) if parsed else value
        if schema.is_valid(TRAJECTORY, {**_SMALLEST, key: candidate}):
            made[key] = candidate


def _rest(head: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    """Return the head fields that the made head does not repeat as they were."""
    placed = {"schema_id", "integrity", "provenance"}
    placed |= {name for name in _LISTS if isinstance(head.get(name), list)}
    rest = {
        key: value
        for key, value in head.items()
        if key not in placed and (key not in made or made[key] != value)
    }
    if "provenance" in head and not isinstance(head["provenance"], dict):
        rest["provenance"] = head["provenance"]
    if isinstance(rest.get("source"), dict):  # only what filling in replaced
        rest["source"] = {k: v for k, v in rest["source"].items() if made["source"].get(k) != v}
    return {key: value for key, value in rest.items() if value != {} or head.get(key) == {}}


def _source(given: Any, trajectory_id: str) -> dict[str, Any]:
    source = dict(given) if isinstance(given, dict) else {}
    session = next((text for key in ("session", "run") if (text := _text(source.get(key)))), "")
    source["harness"] = _text(source.get("harness")) or _NO_HARNESS
    source["session"] = session or trajectory_id or _NO_SESSION
    for key in ("run", "task"):
        if key in source and not isinstance(source[key], str):
            del source[key]
    parents = source.get("parents")
    if parents is not None and not (
        isinstance(parents, list) and all(isinstance(one, str) for one in parents)
    ):
        del source["parents"]
    return source


def _captured(head: dict[str, Any], events: list[Any]) -> str:
    """Return the capture time; without one, that of publication, the last event, or the schema's own day."""
    for key in ("captured_at", "published_at"):
        parsed = _moment(head.get(key))
        if parsed is not None:
            return times.iso(parsed)
    stamps = [_moment(_stamp(item)) for item in events if isinstance(item, dict)]
    latest = max((stamp for stamp in stamps if stamp is not None), default=None)
    if latest is not None:
        return times.iso(latest)
    day = times.parse(f"{_text(head['schema_id'])[len(DATED_PREFIX) :]}T00:00:00Z")
    return times.iso(day[0] if day else 0.0)


def _stamp(event: dict[str, Any]) -> Any:
    return next((event[key] for key in _TIMES if event.get(key) not in (None, "")), None)


def _moment(value: Any) -> float | None:
    """Return an ISO 8601 time (naive: UTC) or Unix seconds as Unix seconds, None where it is neither."""
    if isinstance(value, str):
        parsed = times.parse(value)
        return parsed[0] if parsed else None
    return float(value) if times.is_calendar(value) else None


def _event(given: dict[str, Any], ordinal: int, captured: str, session: str) -> dict[str, Any]:
    payload = given.get("payload", {})
    payload = dict(payload) if isinstance(payload, dict) else {"value": payload}
    stamp = _stamp(given)
    seconds = _moment(stamp)
    if seconds is None:
        payload["_timestamp_missing" if stamp is None else "_timestamp_invalid"] = True
    event: dict[str, Any] = {
        "ordinal": ordinal,
        "occurred_at": captured if seconds is None else times.iso(seconds),
        "kind": _text(given.get("kind")) or "legacy.imported",
        "actor": _text(given.get("actor")) or "agent",
        "session_id": _text(given.get("session_id")) or session,
        "turn_id": _text(given.get("turn_id")) or _text(payload.get("turn_id")),
        "call_id": _text(given.get("call_id")) or _text(payload.get("call_id")),
        "payload": payload,
    }
    event["event_id"] = _text(given.get("event_id")) or sha256_bytes(dumps(event))[:32]
    rest = {key: value for key, value in given.items() if key != "payload" and event.get(key) != value}
    if rest:
        legacy = payload.get("_legacy")
        kept = legacy if isinstance(legacy, dict) else {} if legacy is None else {"_legacy": legacy}
        fields = kept.get("fields")
        event["payload"] = {
            **payload,
            "_legacy": {**kept, "fields": {**(fields if isinstance(fields, dict) else {}), **rest}},
        }
    return event


def _integrity(given: Any, events: list[Any], privacy: dict[str, Any]) -> dict[str, Any]:
    """Return the computed integrity under the old one's declarations, which is kept beside it."""
    old = given if isinstance(given, dict) else {}
    listed = old.get("incompleteness")
    declared = [text for text in listed if isinstance(text, str) and text] if isinstance(listed, list) else []
    if "complete" not in old:
        declared.append(UNDECLARED_REPLAY)
    fidelity = old.get("fidelity")
    scope = fidelity.get("scope") if isinstance(fidelity, dict) else fidelity
    if isinstance(scope, str) and scope:
        declared.append(FIDELITY.format(scope=scope))
    if privacy.get("redactions"):
        declared.append(REDACTIONS)
    quality = Quality()
    ids: set[str] = set()
    for event in events:
        if isinstance(event, dict):
            ids.add(event["event_id"])
            issue = has_issue(event["payload"])
            quality.feed(event["kind"], event["session_id"], event["turn_id"], event["call_id"], issue=issue)
    quality.ids_unique = len(ids) == quality.events
    computed = completeness(
        quality, declared_replay=declared, replay_declared_complete=False, privacy=privacy, fidelity=fidelity
    )
    return {
        "record_count": len(events),
        **computed.to_json(),
        "quality": quality.to_json(),
        **({"fidelity": fidelity} if fidelity is not None else {}),
        **({"legacy_integrity": given} if given is not None else {}),
    }


def _references(given: Any, kind: str) -> list[dict[str, Any]]:
    """Return references with their types filled in; of two by the same name the later gets one of its own."""
    made: list[dict[str, Any]] = []
    names: set[tuple[str, str]] = set()
    for number, item in enumerate(given if isinstance(given, list) else [], start=1):
        fallback = f"legacy-{number}-{_digest(dumps(item), 16)}"
        reference = _reference(item, kind, fallback)
        if (reference["kind"], reference["reference"]) in names:
            reference["reference"] = fallback
        names.add((reference["kind"], reference["reference"]))
        made.append(reference)
    return made


def _reference(item: Any, kind: str, fallback: str) -> dict[str, Any]:
    if schema.is_valid(TRAJECTORY, item, part="reference"):
        return dict(item)
    fields = item if isinstance(item, dict) else {"value": item}
    name = next((text for key in _REFERENCE_NAMES if (text := _text(fields.get(key)))), fallback)
    reference = {**fields, "kind": kind, **_REFERENCE, "reference": _text(fields.get("reference")) or name}
    for key in ("schema_id", "authority"):
        reference[key] = _text(fields.get(key)) or reference[key]
    lost = {key: value for key, value in fields.items() if reference[key] != value}
    for key in ("path", "sha256"):
        if key in fields and not schema.is_valid(TRAJECTORY, {**_TYPED, key: fields[key]}, part="reference"):
            lost[key] = reference.pop(key)
    return {**reference, **({"legacy_fields": lost} if lost else {})}


def _digest(value: str | bytes, digits: int) -> str:
    return sha256_bytes(value.encode() if isinstance(value, str) else value)[:digits]


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


_TYPED: Final[dict[str, Any]] = {"kind": "legacy", **_REFERENCE, "reference": "r"}
# The least a trajectory may be: one optional field at a time is tried in it.
_SMALLEST: Final[dict[str, Any]] = {
    "schema_id": TRAJECTORY, "schema_version": 1, "trajectory_id": "t", "captured_at": "2000-01-01T00:00:00Z",
    "source": {"harness": "h", "session": "s"}, "events": [], "outcome": {}, "privacy": {}, "provenance": {},
    "integrity": {
        "record_count": 0, "scope_complete": False, "replay_complete": False, "complete": False,
        "scope_incompleteness": [], "replay_incompleteness": [], "incompleteness": [],
        "quality": Quality().to_json(),
    },
}  # fmt: skip
