"""What is wrong with a `geode.trajectory@1` document (record contract §5 and §6)."""

from __future__ import annotations

from collections.abc import Iterator

from .quality import completeness, quality
from .text import is_date, is_date_time, is_hex64, same

REQUIRED = {
    "schema_id",
    "schema_version",
    "trajectory_id",
    "captured_at",
    "source",
    "events",
    "outcome",
    "integrity",
    "privacy",
    "provenance",
}
OPTIONAL = {
    "published_at",
    "observed_on",
    "trajectory_class",
    "runtime_event_refs",
    "evidence_refs",
    "artifact_digests",
}
EVENT = {
    "event_id",
    "ordinal",
    "occurred_at",
    "kind",
    "actor",
    "session_id",
    "turn_id",
    "call_id",
    "payload",
}
INTEGRITY = {
    "record_count",
    "scope_complete",
    "replay_complete",
    "complete",
    "scope_incompleteness",
    "replay_incompleteness",
    "incompleteness",
    "quality",
}
REFERENCE_KINDS = {"runtime_event", "sil_eval", "crucible_evidence", "native_receipt", "legacy"}


def is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _event_problems(at: str, event: object) -> Iterator[str]:
    if not isinstance(event, dict) or event.keys() != EVENT:
        yield f"{at}: an event has exactly {sorted(EVENT)}"
        return
    if not is_text(event["event_id"]) or len(event["event_id"]) > 128:
        yield f"{at}/event_id: 1 to 128 characters"
    if not is_int(event["ordinal"]) or event["ordinal"] < 1:
        yield f"{at}/ordinal: an integer from 1"
    if not is_date_time(event["occurred_at"]):
        yield f"{at}/occurred_at: a date-time with a zone"
    for key in ("kind", "actor"):
        if not is_text(event[key]):
            yield f"{at}/{key}: a string that is not empty"
    for key in ("session_id", "turn_id", "call_id"):
        if not isinstance(event[key], str):
            yield f"{at}/{key}: a string"
    if not isinstance(event["payload"], dict):
        yield f"{at}/payload: an object"


def _reference_problems(at: str, references: object) -> Iterator[str]:
    if not isinstance(references, list):
        yield f"{at}: a list"
        return
    seen = set()
    for index, item in enumerate(references):
        here = f"{at}/{index}"
        if not isinstance(item, dict):
            yield f"{here}: an object"
            continue
        if item.get("kind") not in REFERENCE_KINDS:
            yield f"{here}/kind: one of {sorted(REFERENCE_KINDS)}"
        for key in ("schema_id", "authority", "reference"):
            if not is_text(item.get(key)):
                yield f"{here}/{key}: a string that is not empty"
        if "sha256" in item and not is_hex64(item["sha256"]):
            yield f"{here}/sha256: 64 hex digits"
        if "path" in item and not isinstance(item["path"], str):
            yield f"{here}/path: a string"
        name = (str(item.get("kind")), str(item.get("reference")))
        if name in seen:
            yield f"{here}: (kind, reference) stands twice"
        seen.add(name)


def _artifact_problems(artifacts: object) -> Iterator[str]:
    if not isinstance(artifacts, list) or not all(isinstance(item, dict) for item in artifacts):
        yield "/artifact_digests: a list of objects"
        return
    for index, item in enumerate(artifacts):
        if not is_text(item.get("path")) or not is_hex64(item.get("sha256")):
            yield f"/artifact_digests/{index}: path and sha256"
    paths = [item.get("path") for item in artifacts]
    if any(paths.count(path) > 1 for path in paths):
        yield "/artifact_digests: a path stands twice"


def _source_problems(source: object) -> Iterator[str]:
    if not isinstance(source, dict):
        yield "/source: an object"
        return
    for key in ("harness", "session"):
        if not is_text(source.get(key)):
            yield f"/source/{key}: a string that is not empty"
    if source.get("parents") is not None and not isinstance(source["parents"], list):
        yield "/source/parents: a list or null"


def _optional_problems(doc: dict) -> Iterator[str]:
    if "published_at" in doc and not is_date_time(doc["published_at"]):
        yield "/published_at: a date-time with a zone"
    if "observed_on" in doc and not is_date(doc["observed_on"]):
        yield "/observed_on: a date"
    classes = doc.get("trajectory_class", [])
    if not isinstance(classes, list) or not all(isinstance(item, str) for item in classes):
        yield "/trajectory_class: a list of strings"
    elif len(set(classes)) != len(classes):
        yield "/trajectory_class: unique strings"
    for key in ("runtime_event_refs", "evidence_refs"):
        if key in doc:
            yield from _reference_problems(f"/{key}", doc[key])
    if "artifact_digests" in doc:
        yield from _artifact_problems(doc["artifact_digests"])


def _integrity_shape(integrity: object) -> Iterator[str]:
    if not isinstance(integrity, dict):
        yield "/integrity: an object"
        return
    for key in sorted(INTEGRITY - integrity.keys()):
        yield f"/integrity/{key}: missing"
    for key in sorted(INTEGRITY & integrity.keys()):
        value = integrity[key]
        if key == "record_count":
            right = is_int(value)
        elif key == "quality":
            right = isinstance(value, dict)
        elif key.endswith("incompleteness"):
            right = isinstance(value, list) and all(isinstance(item, str) for item in value)
        else:
            right = isinstance(value, bool)
        if not right:
            yield f"/integrity/{key}: wrong type"


def shape_problems(doc: object) -> list[str]:
    """Return what breaks the shape of §5; places are JSON pointers."""
    if not isinstance(doc, dict):
        return [": an object"]
    problems = [f"/{key}: missing" for key in sorted(REQUIRED - doc.keys())]
    problems += [f"/{key}: no such key" for key in sorted(doc.keys() - REQUIRED - OPTIONAL)]
    if problems:
        return problems
    if doc["schema_id"] != "geode.trajectory@1":
        problems.append("/schema_id: geode.trajectory@1")
    if not is_int(doc["schema_version"]) or doc["schema_version"] != 1:
        problems.append("/schema_version: 1")
    if not is_text(doc["trajectory_id"]):
        problems.append("/trajectory_id: a string that is not empty")
    if not is_date_time(doc["captured_at"]):
        problems.append("/captured_at: a date-time with a zone")
    problems += [
        f"/{key}: an object" for key in ("outcome", "privacy", "provenance") if not isinstance(doc[key], dict)
    ]
    problems += _source_problems(doc["source"])
    if isinstance(doc["events"], list):
        for index, event in enumerate(doc["events"]):
            problems += _event_problems(f"/events/{index}", event)
    else:
        problems.append("/events: a list")
    return [*problems, *_optional_problems(doc), *_integrity_shape(doc["integrity"])]


def check_trajectory(doc: object) -> list[str]:
    """Return every problem of `doc`: its shape, else its order and each integrity claim that is false."""
    problems = shape_problems(doc)
    if problems or not isinstance(doc, dict):
        return problems
    found = quality(doc["events"])
    if not found["event_id_unique"]:
        problems.append("/events: event ids are not unique")
    if not found["ordinal_contiguous"]:
        problems.append("/events: ordinals are not 1..n in order")
    truth = {"record_count": len(doc["events"]), "quality": found, **completeness(doc)}
    problems += [
        f"/integrity/{key}: false claim"
        for key in sorted(truth)
        if not same(doc["integrity"][key], truth[key])
    ]
    return problems
