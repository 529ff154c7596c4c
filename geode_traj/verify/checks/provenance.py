"""GT8xx, provenance: what the trajectory refers to."""

from __future__ import annotations

from collections.abc import Iterator

from geode_traj.model.finding import Place
from geode_traj.verify.facts import Facts
from geode_traj.verify.registry import Hit, file_check


@file_check("GT801", "error", "list each artifact path once")
def repeated_artifact(facts: Facts) -> Iterator[Hit]:
    """A path stands twice in `artifact_digests`."""
    seen: set[str] = set()
    for index, item in enumerate(facts.head.get("artifact_digests", [])):
        if item["path"] in seen:
            yield Hit("artifact path is listed twice", Place(pointer=f"/artifact_digests/{index}"))
        seen.add(item["path"])


@file_check("GT802", "error", "list each reference once")
def repeated_reference(facts: Facts) -> Iterator[Hit]:
    """A (kind, reference) pair stands twice in a list of references."""
    for name in ("runtime_event_refs", "evidence_refs"):
        seen: set[tuple[str, str]] = set()
        for index, item in enumerate(facts.head.get(name, [])):
            key = (item["kind"], item["reference"])
            if key in seen:
                yield Hit("reference is listed twice", Place(pointer=f"/{name}/{index}"))
            seen.add(key)
