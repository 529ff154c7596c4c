"""A strict GEODE reader of a release folder (record contract §8): everything recomputed, nothing believed."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path, PurePosixPath

from .gates import GATES, gate_hits
from .text import Refused, compact, is_hex64, is_second, same, sha256, strict_json
from .trajectory import check_trajectory, is_int, is_text

MANIFEST = {
    "schema_id",
    "schema_version",
    "producer_schema_id",
    "release_source",
    "release_scope",
    "published_at",
    "supersedes",
    "admission",
    "privacy_review",
    "files",
    "quality",
}
REVIEW_BOUNDS = {"reviewer": 128, "reviewed_at": 20, "method": 256, "scope": 256, "attestation": 2048}
FILE = {
    "path",
    "bytes",
    "sha256",
    "records",
    "trajectory_id",
    "scope_complete",
    "replay_complete",
    "complete",
}
CLASSES = {*GATES, "known_secret"}


def _demand(true: bool, reason: str) -> None:
    if not true:
        raise Refused(reason)


def _exactly(value: object, keys: set[str], what: str) -> dict:
    _demand(isinstance(value, dict) and value.keys() == keys, f"{what}: exactly {sorted(keys)}")
    return value  # type: ignore[return-value]


def _stripped(value: object, limit: int, what: str) -> str:
    _demand(is_text(value) and str(value) == str(value).strip(), f"{what}: stripped, not empty")
    _demand(len(str(value)) <= limit, f"{what}: at most {limit} characters")
    return str(value)


def name_part(text: str) -> str:
    """Return `text` as it stands in a release folder's name; refused when nothing is left."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", text.strip()).strip("-")
    _demand(plain != "", "a name without a usable character")
    return plain if len(plain) <= 64 else f"{plain[:51]}-{sha256(plain)[:12]}"


def release_name(manifest: dict, manifest_sha256: str) -> str:
    """Return the folder name that binds the manifest's source, scope, time and bytes."""
    stamp = datetime.fromisoformat(manifest["published_at"]).strftime("%Y%m%dT%H%M%SZ")
    parts = (name_part(manifest["release_source"]), name_part(manifest["release_scope"]))
    return "-".join((*parts, stamp, manifest_sha256[:12]))


def record_sha256(review: dict) -> str:
    """Return the digest of the five fields of a privacy review, each stripped."""
    return sha256(compact({key: review[key].strip() for key in REVIEW_BOUNDS}))


def _check_review(review: object, scope: str) -> None:
    record = _exactly(review, {*REVIEW_BOUNDS, "record_sha256"}, "privacy_review")
    for key, limit in REVIEW_BOUNDS.items():
        _stripped(record[key], limit, f"privacy_review/{key}")
    _demand(is_second(record["reviewed_at"]), "privacy_review/reviewed_at: to the second, Z")
    _demand(record["scope"] == scope, "privacy_review/scope: not the release's")
    _demand(record["record_sha256"] == record_sha256(record), "privacy_review/record_sha256: false claim")


def _check_path(path: object) -> str:
    _demand(is_text(path), "files/path: a string that is not empty")
    text = str(path)
    pure = PurePosixPath(text)
    _demand(str(pure) == text and not pure.is_absolute() and ".." not in pure.parts, "files/path: relative")
    _demand(pure.suffix == ".json" and pure.name != "manifest.json", "files/path: a trajectory's .json")
    return text


def _check_shape(manifest: object) -> dict:
    whole = _exactly(manifest, MANIFEST, "manifest")
    _demand(whole["schema_id"] == "geode.trajectory-release@1", "schema_id")
    _demand(is_int(whole["schema_version"]) and whole["schema_version"] == 1, "schema_version")
    _demand(whole["producer_schema_id"] == "geode.trajectory@1", "producer_schema_id")
    _stripped(whole["release_source"], 128, "release_source")
    scope = _stripped(whole["release_scope"], 256, "release_scope")
    _demand(is_second(whole["published_at"]), "published_at: to the second, Z")
    _demand(whole["supersedes"] is None or is_text(whole["supersedes"]), "supersedes: a string or null")
    admission = _exactly(
        whole["admission"],
        {"scope_complete_required", "replay_complete_required", "privacy_review_required"},
        "admission",
    )
    _demand(admission["scope_complete_required"] is True, "admission/scope_complete_required")
    _demand(isinstance(admission["replay_complete_required"], bool), "admission/replay_complete_required")
    _demand(admission["privacy_review_required"] is True, "admission/privacy_review_required")
    _check_review(whole["privacy_review"], scope)
    _demand(isinstance(whole["files"], list) and whole["files"] != [], "files: a list that is not empty")
    paths = [_check_path(_exactly(entry, FILE, "files")["path"]) for entry in whole["files"]]
    _demand(paths == sorted(set(paths)), "files: sorted by path, each path once")
    return whole


def _check_closed_world(folder: Path, declared: set[str]) -> None:
    for item in sorted(folder.rglob("*")):
        name = item.relative_to(folder).as_posix()
        if item.is_dir() and not item.is_symlink():
            continue
        _demand(item.is_file() and not item.is_symlink(), f"{name}: not a plain file")
        _demand(name in declared, f"{name}: undeclared")


def _read_file(folder: Path, entry: dict, admission: dict) -> tuple[dict, str]:
    path = entry["path"]
    file = folder / path
    _demand(file.is_file(), f"{path}: missing")
    data = file.read_bytes()
    _demand(is_int(entry["bytes"]) and entry["bytes"] == len(data), f"{path}: bytes")
    _demand(is_hex64(entry["sha256"]) and entry["sha256"] == sha256(data), f"{path}: sha256")
    doc = strict_json(data)
    problems = check_trajectory(doc)
    _demand(not problems, f"{path}: {'; '.join(problems)}")
    assert isinstance(doc, dict)
    integrity = doc["integrity"]
    flags = {key: integrity[key] for key in ("scope_complete", "replay_complete", "complete")}
    truth = {"records": len(doc["events"]), "trajectory_id": doc["trajectory_id"], **flags}
    _demand(same({key: entry[key] for key in truth}, truth), f"{path}: false claim")
    _demand(flags["scope_complete"], f"{path}: scope is not complete")
    _demand(flags["replay_complete"] or not admission["replay_complete_required"], f"{path}: replay")
    _demand(doc["privacy"].get("review_state") == "reviewed", f"{path}: not reviewed")
    return doc, data.decode("utf-8")


def metadata_text(manifest: dict) -> str:
    """Return the text, beside the files, over which the gate classes are counted."""
    return json.dumps(
        {
            "release_source": manifest["release_source"],
            "release_scope": manifest["release_scope"],
            "supersedes": manifest["supersedes"],
            "paths": sorted(entry["path"] for entry in manifest["files"]),
            "privacy_review": manifest["privacy_review"],
        },
        sort_keys=True,
        ensure_ascii=False,
    )


def release_quality(docs: list[dict], texts: list[str]) -> dict:
    """Return the manifest's `quality` block; `texts` are the files' raw text and the metadata's."""
    scope = sum(doc["integrity"]["scope_complete"] for doc in docs)
    replay = sum(doc["integrity"]["replay_complete"] for doc in docs)
    digests = sum(len(doc.get("artifact_digests", [])) for doc in docs)
    hits = [gate_hits(text) for text in texts]
    return {
        "schema_valid": True,
        "integrity_recomputed": True,
        "trajectory_ids_unique": len({doc["trajectory_id"] for doc in docs}) == len(docs),
        "privacy_reviewed": all(doc["privacy"].get("review_state") == "reviewed" for doc in docs),
        "scope_complete_trajectories": scope,
        "scope_incomplete_trajectories": len(docs) - scope,
        "replay_complete_trajectories": replay,
        "replay_incomplete_trajectories": len(docs) - replay,
        "complete_trajectories": replay,
        "incomplete_trajectories": len(docs) - replay,
        "trajectory_events": sum(len(doc["events"]) for doc in docs),
        "evidence_refs": sum(len(doc.get("evidence_refs", [])) for doc in docs),
        "runtime_event_refs": sum(len(doc.get("runtime_event_refs", [])) for doc in docs),
        "secret_scan": {name: sum(hit[name] for hit in hits) for name in sorted(CLASSES)},
        "source_digest_refs": digests,
        "source_digests_verified": digests,
        "remote_readback_required": True,
    }


def read_release(folder: str | Path, expected_manifest_sha256: str | None = None) -> dict:
    """Read a release folder as a strict GEODE would; raise `Refused` on the first thing that is not right.

    Returns {release, manifest_sha256, manifest, trajectories: {path: document}}. The folder may be reached by
    a relative or symlinked path: its real name is what counts.
    """
    root = Path(folder).resolve()
    _demand((root / "manifest.json").is_file(), "no manifest.json")
    data = (root / "manifest.json").read_bytes()
    digest = sha256(data)
    _demand(expected_manifest_sha256 in (None, digest), "the manifest's digest is not the expected one")
    manifest = _check_shape(strict_json(data))
    _demand(root.name == release_name(manifest, digest), "the folder's name does not bind the manifest")
    _check_closed_world(root, {"manifest.json", *(entry["path"] for entry in manifest["files"])})
    read = {entry["path"]: _read_file(root, entry, manifest["admission"]) for entry in manifest["files"]}
    docs = [doc for doc, _ in read.values()]
    truth = release_quality(docs, [*(text for _, text in read.values()), metadata_text(manifest)])
    _demand(truth["trajectory_ids_unique"], "a trajectory id stands twice")
    found = {name: count for name, count in truth["secret_scan"].items() if count}
    _demand(not found, f"secret scan: {found}")
    claimed = _exactly(manifest["quality"], set(truth), "quality")
    false = [key for key in sorted(truth) if not same(claimed[key], truth[key])]
    _demand(not false, f"quality: false claim {false}")
    return {
        "release": root.name,
        "manifest_sha256": digest,
        "manifest": manifest,
        "trajectories": {path: doc for path, (doc, _) in read.items()},
    }
