"""GT8xx, provenance: what the trajectory refers to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.pointer import below
from geode_traj.model.finding import Place
from geode_traj.verify.facts import Facts
from geode_traj.verify.registry import Hit, file_check

_LISTS: Final = ("runtime_event_refs", "evidence_refs")
_UNTYPED: Final = "legacy.external-reference"
_SNAPSHOT: Final = "crucible_tau2_trajectory_snapshot.v4"
_HEX: Final = re.compile(r"[0-9a-f]{64}")
_NAMED_DIGEST: Final = re.compile(r"(?:[A-Za-z0-9-]{0,64}:)?([0-9a-f]{64})")


@file_check("GT801", "error", "list each artifact path once")
def repeated_artifact(facts: Facts) -> Iterator[Hit]:
    """A path stands twice in `artifact_digests`."""
    seen: set[str] = set()
    for index, item in enumerate(_artifacts(facts)):
        if item["path"] in seen:
            yield Hit("artifact path is listed twice", Place(pointer=f"/artifact_digests/{index}"))
        seen.add(item["path"])


@file_check("GT802", "error", "list each reference once")
def repeated_reference(facts: Facts) -> Iterator[Hit]:
    """A (kind, reference) pair stands twice in a list of references."""
    for name in _LISTS:
        seen: set[tuple[str, str]] = set()
        for index, item in enumerate(facts.head.get(name, [])):
            key = (item["kind"], item["reference"])
            if key in seen:
                yield Hit("reference is listed twice", Place(pointer=f"/{name}/{index}"))
            seen.add(key)


@file_check("GT803", "note", "name the schema that it is of", since="2")
def untyped_reference(facts: Facts) -> Iterator[Hit]:
    """A reference has no type of its own: the legacy one stands for it, as an older publication gave none."""
    for pointer, item in _references(facts):
        if item["schema_id"] == _UNTYPED:
            yield Hit("reference without a type", Place(pointer=pointer))


@file_check("GT804", "note", "without one nobody can tell whether it is still the same", since="2")
def undigested_reference(facts: Facts) -> Iterator[Hit]:
    """A reference states no digest of what it refers to.

    A digest is `sha256`, `raw_artifact_sha256`, or one that the reference itself consists of.
    """
    for pointer, item in _references(facts):
        if not _digests(item):
            yield Hit("reference without a digest", Place(pointer=pointer))


@file_check("GT805", "error", "these are not the bytes that were meant", since="2")
def digest_differs(facts: Facts) -> Iterator[Hit]:
    """Given bytes have another digest than the trajectory states for them.

    Asked only for bytes that the caller gives, by the path of an artifact or the path or name of a reference.
    """
    for pointer, item in (*_listed(facts), *_references(facts)):
        for name in (item.get("path"), item.get("reference")):
            given = facts.given.get(name) if isinstance(name, str) else None
            if given is not None and _digests(item) and given not in _digests(item):
                yield Hit("the given bytes have another digest", Place(pointer=pointer))
                break


@file_check("GT806", "warning", "refer to a snapshot whose contract passed its identity preflight", since="2")
def crucible_without_preflight(facts: Facts) -> Iterator[Hit]:
    """A crucible reference is not one that an identity preflight stands behind.

    Such a one names the frozen contract, is of the snapshot's schema, and states the digest of the artifact;
    where it tells how the contract was validated, it was by `identity_preflight`.
    """
    for pointer, item in _references(facts):
        if item["kind"] == "crucible_evidence" and not (
            item["schema_id"] == _SNAPSHOT
            and _is_digest(item.get("raw_artifact_sha256"))
            and item.get("contract_validation", "identity_preflight") == "identity_preflight"
        ):
            yield Hit("crucible reference without an identity preflight", Place(pointer=pointer))


@file_check("GT807", "warning", "derive the replay again from this ATIF file", since="2")
def replay_of_another(facts: Facts) -> Iterator[Hit]:
    """A derived replay states the digest of another ATIF file than the one listed.

    Artifacts tell what they are by `kind` (atif, replay); a replay names what it was derived from in
    `derived_from_sha256`.
    """
    originals = {item["sha256"] for _, item in _listed(facts) if item.get("kind") == "atif"}
    for pointer, item in _listed(facts):
        origin = item.get("derived_from_sha256")
        if item.get("kind") == "replay" and originals and isinstance(origin, str) and origin not in originals:
            yield Hit("the replay was derived from another ATIF file", Place(pointer=pointer))


@file_check("GT808", "warning", "one path is one file", since="2")
def digests_disagree(facts: Facts) -> Iterator[Hit]:
    """A reference and an artifact of one path state different digests."""
    stated = {item["path"]: item["sha256"] for _, item in _listed(facts)}
    for pointer, item in _references(facts):
        artifact = stated.get(item.get("path", ""))
        if artifact is not None and _is_digest(item.get("sha256")) and item["sha256"] != artifact:
            yield Hit("the artifact of this path has another digest", Place(pointer=below(pointer, "sha256")))


def _artifacts(facts: Facts) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = facts.head.get("artifact_digests", [])
    return listed


def _listed(facts: Facts) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((f"/artifact_digests/{index}", item) for index, item in enumerate(_artifacts(facts)))


def _references(facts: Facts) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in _LISTS:
        for index, item in enumerate(facts.head.get(name, [])):
            yield f"/{name}/{index}", item


def _digests(item: dict[str, Any]) -> set[str]:
    named = _NAMED_DIGEST.fullmatch(item.get("reference", ""))
    stated = (item.get("sha256"), item.get("raw_artifact_sha256"), named[1] if named else None)
    return {value for value in stated if isinstance(value, str) and _HEX.fullmatch(value)}


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and _HEX.fullmatch(value) is not None
