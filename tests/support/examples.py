"""Writes the examples of `explain` from the vectors that fail.

    python -m tests.support.examples

An example is the events that a vector's finding names, what matters little left out, and the finding.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from geode_traj.codec import pointer
from geode_traj.codec.text import clip
from geode_traj.jobs.pages import EXAMPLES
from geode_traj.model.finding import Finding, Place
from geode_traj.verify import verify_path

VECTORS = Path(__file__).resolve().parents[2] / "fixtures" / "verify"
_WIDTH = 400
_FIRST = ("ordinal", "occurred_at", "kind", "actor", "event_id", "session_id", "turn_id", "call_id")
# What a store adds to every payload; it is shown where a finding points at it.
_ROW = {
    "model",
    "provider",
    "status",
    "source",
    "session_generation",
    "parent_event_id",
    "source_payload_hash",
}


def made() -> dict[str, str]:
    """Return an example for each code that has a vector, of the first one by name."""
    found: dict[str, str] = {}
    for folder in sorted(VECTORS.glob("GT*")):
        code = folder.name.partition("-")[0]
        path = folder / "fail.json"
        if code not in found and path.is_file():
            lines = list(_example(path, code))
            if lines:
                found[code] = "\n".join(lines)
    return found


def _example(path: Path, code: str) -> Iterator[str]:
    finding = next((found for found in verify_path(path).findings if found.code == code), None)
    if finding is None:
        return
    try:
        document = json.loads(path.read_bytes())
    except ValueError:
        yield from (clip(line, _WIDTH) for line in path.read_text("utf-8", "replace").splitlines()[:3])
    else:
        yield from _excerpt(document, finding)
    yield f"{finding.severity} {code}  {finding.message}"


def _excerpt(document: Any, finding: Finding) -> Iterator[str]:
    places = [finding.place, *finding.related[:2]]
    ordinals = sorted({place.ordinal for place in places if place.ordinal is not None})
    events = document.get("events", []) if isinstance(document, dict) else []
    for ordinal in ordinals:
        if ordinal <= len(events) and isinstance(events[ordinal - 1], dict):
            yield clip(_event(events[ordinal - 1], [place.pointer or "" for place in places]), _WIDTH)
    if not ordinals:
        yield clip(_head(document, finding.place), _WIDTH)


def _event(event: dict[str, Any], pointers: list[str]) -> str:
    named = {step for text in pointers for step in pointer.split(text) if text}
    shown = {key: event[key] for key in _FIRST if event.get(key) not in ("", None) or key in named}
    payload = event.get("payload")
    if isinstance(payload, dict):
        payload = {key: value for key, value in payload.items() if key not in _ROW or key in named}
    return json.dumps({**shown, "payload": payload}, ensure_ascii=False)


def _head(document: Any, place: Place) -> str:
    head = {key: value for key, value in document.items() if key != "events"}
    steps = pointer.split(place.pointer) if place.pointer else []
    key = str(steps[0]) if steps else "integrity"
    return json.dumps({key: head.get(key)} if key in head else head, ensure_ascii=False)


def main() -> None:
    """Write the packaged file."""
    EXAMPLES.write_text(json.dumps(made(), indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
