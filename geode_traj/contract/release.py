"""The manifest of a release as pure rules: names, paths, review record, quality (record contract §8).

What a manifest says is either given (source, scope, time, review) or counted from the files; nothing here
reads a file. A release that would have to admit a fault in a field that the contract fixes is refused, so
those fields are constants.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.contract.kinds import RELEASE, TRAJECTORY
from geode_traj.contract.times import iso_seconds, parse
from geode_traj.errors import DataError

MANIFEST: Final = "manifest.json"
MAX_SOURCE: Final = 128
MAX_SCOPE: Final = 256
REVIEW_BOUNDS: Final = {
    "reviewer": 128,
    "reviewed_at": 64,  # to the second once normalised; any ISO 8601 time is read
    "method": 256,
    "scope": 256,
    "attestation": 2048,
}
_MAX_PART: Final = 64
_KEPT: Final = 51
_OUTSIDE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,159}")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def bounded(what: str, text: str, limit: int) -> str:
    """Return `text` stripped; `DataError` TE314 when nothing is left or it is over `limit` characters."""
    stripped = text.strip()
    if not stripped:
        raise DataError("TE314", what=what, why="it is empty")
    if len(stripped) > limit:
        raise DataError("TE314", what=what, why=f"it has more than {limit} characters")
    return stripped


def name_part(text: str) -> str:
    """Return a text as it stands in a folder name: 1 to 64 of `A-Za-z0-9._-`; `DataError` TE314 if none."""
    plain = _OUTSIDE.sub("-", text.strip()).strip("-")
    if not plain:
        raise DataError("TE314", what="the name", why="it holds no letter, digit, dot or underscore")
    if len(plain) <= _MAX_PART:
        return plain
    return f"{plain[:_KEPT]}-{sha256_bytes(plain.encode())[:12]}"


def release_name(source: str, scope: str, published_at: str, manifest_sha256: str) -> str:
    """Return the name of a release folder, which binds source, scope, time (to the second) and manifest."""
    stamp = published_at.replace("-", "").replace(":", "")
    return "-".join((name_part(source), name_part(scope), stamp, manifest_sha256[:12]))


def is_release_name(text: str) -> bool:
    """Tell whether a release folder can have this name, by its letters and its length."""
    return _NAME.fullmatch(text) is not None and text.strip(".") != ""


def file_names(trajectory_ids: Iterable[str]) -> dict[str, str]:
    """Return a file name for each id: its slug in lower case, made unique where two ids give the same.

    The name of one id depends on the set of ids, not on their order.
    """
    slugs = {id_: _slug(id_) for id_ in trajectory_ids}
    taken = Counter(slugs.values())
    return {
        id_: f"{slug}.json" if slug and taken[slug] == 1 else f"{slug or 'trajectory'}-{_tag(id_)}.json"
        for id_, slug in slugs.items()
    }


def _slug(trajectory_id: str) -> str:
    plain = _OUTSIDE.sub("-", trajectory_id.lower()).strip("-._")
    if plain == PurePosixPath(MANIFEST).stem:
        return f"{plain}-{_tag(trajectory_id)}"
    return name_part(plain) if plain else ""


def _tag(trajectory_id: str) -> str:
    return sha256_bytes(trajectory_id.encode())[:12]


def path_fault(path: str) -> str | None:
    """Say why a path cannot be a trajectory file's in a manifest, None where it can."""
    if _CONTROL.search(path):
        return "it holds a control character"
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or str(pure) != path:
        return "it is not a plain relative path"
    if pure.suffix != ".json":
        return "it does not end in .json"
    return "it is the manifest's own name" if pure.name == MANIFEST else None


@dataclass(frozen=True, slots=True)
class PrivacyReview:
    """Who reviewed what, when (UTC to the second) and how; every text stripped and within its bound."""

    reviewer: str
    reviewed_at: str
    method: str
    scope: str
    attestation: str

    def to_json(self) -> dict[str, str]:
        """Return the record with the digest over its five fields."""
        fields = asdict(self)
        return {**fields, "record_sha256": record_sha256(fields)}


def record_sha256(review: Mapping[str, Any]) -> str:
    """Return the digest of the compact JSON of a review's five fields, each stripped."""
    return sha256_bytes(dumps({key: str(review[key]).strip() for key in REVIEW_BOUNDS}))


def privacy_review(value: object, *, place: str = "") -> PrivacyReview:
    """Read a privacy review record, with or without its digest.

    Raises `DataError` TE314 for a shape or bound that does not fit, TE401 for a digest that is not its own.
    """
    if not isinstance(value, dict) or value.keys() - {"record_sha256"} != REVIEW_BOUNDS.keys():
        why = f"it is not an object with the keys {', '.join(REVIEW_BOUNDS)}"
        raise DataError("TE314", place=place, what="the privacy review", why=why)
    fields = {key: _review_text(key, value[key]) for key in REVIEW_BOUNDS}
    time = parse(fields["reviewed_at"])
    if time is None or not time[1]:
        raise DataError("TE314", place=place, what="reviewed_at", why="it is no date-time with a zone")
    review = PrivacyReview(**{**fields, "reviewed_at": iso_seconds(time[0])})
    if value.get("record_sha256") not in (None, review.to_json()["record_sha256"]):
        raise DataError("TE401", place=place, what="record_sha256", why="the review's fields give another")
    return review


def _review_text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise DataError("TE314", what=key, why="it is not a text")
    return bounded(key, value, REVIEW_BOUNDS[key])


@dataclass(frozen=True, slots=True)
class ReleaseFile:
    """What a release counts of one trajectory file; `path` is relative to the manifest."""

    path: str
    bytes: int
    sha256: str
    records: int
    trajectory_id: str
    scope_complete: bool
    replay_complete: bool
    reviewed: bool
    evidence_refs: int
    runtime_event_refs: int
    artifact_digests: int

    def to_json(self) -> dict[str, Any]:
        """Return the file's entry in the manifest."""
        return {
            "path": self.path,
            "bytes": self.bytes,
            "sha256": self.sha256,
            "records": self.records,
            "trajectory_id": self.trajectory_id,
            "scope_complete": self.scope_complete,
            "replay_complete": self.replay_complete,
            "complete": self.replay_complete,
        }


def quality(files: Sequence[ReleaseFile], secret_scan: Mapping[str, int]) -> dict[str, Any]:
    """Return the manifest's `quality`: what the files sum up to, and the hits of the gate classes."""
    scope = sum(file.scope_complete for file in files)
    replay = sum(file.replay_complete for file in files)
    digests = sum(file.artifact_digests for file in files)
    return {
        "schema_valid": True,
        "integrity_recomputed": True,
        "trajectory_ids_unique": True,
        "privacy_reviewed": all(file.reviewed for file in files),
        "scope_complete_trajectories": scope,
        "scope_incomplete_trajectories": len(files) - scope,
        "replay_complete_trajectories": replay,
        "replay_incomplete_trajectories": len(files) - replay,
        "complete_trajectories": replay,
        "incomplete_trajectories": len(files) - replay,
        "trajectory_events": sum(file.records for file in files),
        "evidence_refs": sum(file.evidence_refs for file in files),
        "runtime_event_refs": sum(file.runtime_event_refs for file in files),
        "secret_scan": dict(secret_scan),
        "source_digest_refs": digests,
        "source_digests_verified": digests,
        "remote_readback_required": True,
    }


def manifest(
    files: Iterable[ReleaseFile],
    *,
    source: str,
    scope: str,
    review: PrivacyReview,
    published_at: float,
    supersedes: str | None,
    replay_required: bool,
    secret_scan: Mapping[str, int],
) -> dict[str, Any]:
    """Return the manifest of a release; `published_at` in Unix seconds, the fraction is cut."""
    ordered = sorted(files, key=lambda file: file.path)
    return {
        "schema_id": RELEASE,
        "schema_version": 1,
        "producer_schema_id": TRAJECTORY,
        "release_source": source,
        "release_scope": scope,
        "published_at": iso_seconds(published_at),
        "supersedes": supersedes,
        "admission": {
            "scope_complete_required": True,
            "replay_complete_required": replay_required,
            "privacy_review_required": True,
        },
        "privacy_review": review.to_json(),
        "files": [file.to_json() for file in ordered],
        "quality": quality(ordered, secret_scan),
    }


def scanned_text(manifest: Mapping[str, Any]) -> str:
    """Return the text of a manifest over which the gate classes are counted, beside that of the files."""
    fields = {
        key: manifest[key] for key in ("release_source", "release_scope", "supersedes", "privacy_review")
    }
    paths = sorted(entry["path"] for entry in manifest["files"])
    return json.dumps({**fields, "paths": paths}, sort_keys=True, ensure_ascii=False)
