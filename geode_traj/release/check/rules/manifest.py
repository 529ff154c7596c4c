"""RL12xx, the GEODE manifest: its form, what it binds, and the files it declares (record contract §8)."""

from __future__ import annotations

from collections.abc import Iterator

from geode_traj.contract.release import MAX_SCOPE, MAX_SOURCE, path_fault, record_sha256, release_name
from geode_traj.contract.times import parse
from geode_traj.errors import DataError
from geode_traj.release import layout
from geode_traj.release.check.facts import Facts
from geode_traj.release.check.registry import Hit, release_check

_BOUNDS = {"release_source": MAX_SOURCE, "release_scope": MAX_SCOPE}


def _in_manifest(facts: Facts, message: str, pointer: str | None = None) -> Hit:
    return Hit(message, facts.prefix + layout.MANIFEST, pointer)


@release_check("RL1201", "write it again: two readers may see two documents", geode=True)
def manifest_not_json(facts: Facts) -> Iterator[Hit]:
    """manifest.json is not strict JSON: UTF-8 without byte order mark, no key twice, no NaN, not too deep."""
    if facts.manifest.fault is not None:
        yield _in_manifest(facts, facts.manifest.fault.message)


@release_check("RL1202", "see `schema geode.trajectory-release@1`", geode=True)
def manifest_shape(facts: Facts) -> Iterator[Hit]:
    """manifest.json does not fit its schema: a key too many or too few, a wrong type, a count of secrets."""
    for pointer, message in facts.manifest.problems:
        yield _in_manifest(facts, message, pointer)


@release_check("RL1203", "give the folder back its name", geode=True)
def name_not_bound(facts: Facts) -> Iterator[Hit]:
    """The folder's name is not the one that source, scope, time and the manifest's digest give."""
    manifest, digest = facts.manifest.value, facts.digest(facts.prefix + layout.MANIFEST)
    if manifest is None or digest is None:
        return
    try:
        name = release_name(
            manifest["release_source"], manifest["release_scope"], manifest["published_at"], digest
        )
    except DataError as error:
        yield _in_manifest(facts, error.message)
        return
    if name != facts.name:
        yield _in_manifest(facts, "the folder's name does not bind this manifest")


@release_check("RL1204", "fetch the release again, or ask which digest is right", geode=True)
def unexpected_manifest(facts: Facts) -> Iterator[Hit]:
    """The manifest's digest is not the one that was recorded beforehand."""
    digest = facts.digest(facts.prefix + layout.MANIFEST)
    if digest is not None and facts.expected_manifest not in (None, digest):
        yield _in_manifest(facts, "its digest is not the expected one")


@release_check("RL1205", "name each file once, relative to the manifest, sorted", geode=True)
def manifest_paths(facts: Facts) -> Iterator[Hit]:
    """A declared path leads out of the folder, is no trajectory's, or is not in order, each once."""
    for index, entry in enumerate(facts.entries):
        fault = path_fault(entry["path"])
        if fault is not None:
            yield _in_manifest(facts, fault, f"/files/{index}/path")
    paths = [entry["path"] for entry in facts.entries]
    if paths != sorted(set(paths)):
        yield _in_manifest(facts, "the files are not sorted by path, each once", "/files")


@release_check("RL1206", "remove it: a GEODE reader refuses the folder", geode=True)
def undeclared(facts: Facts) -> Iterator[Hit]:
    """A file stands in the GEODE folder that the manifest does not declare."""
    if facts.manifest.value is not None:
        declared = {facts.prefix + entry["path"] for entry in facts.entries}
        declared.add(facts.prefix + layout.MANIFEST)
        for path in facts.tree.files:
            if path.startswith(facts.prefix) and path not in declared:
                yield Hit("the manifest does not declare it", path)


@release_check("RL1207", "copy the release again, whole", geode=True)
def declared_missing(facts: Facts) -> Iterator[Hit]:
    """A file that the manifest declares is not there."""
    for index, entry in enumerate(facts.entries):
        if path_fault(entry["path"]) is None and not facts.tree.holds(facts.prefix + entry["path"]):
            yield _in_manifest(facts, "the declared file is missing", f"/files/{index}/path")


@release_check("RL1208", "copy the release again from where it was published", geode=True)
def declared_bytes(facts: Facts) -> Iterator[Hit]:
    """A trajectory file's size or digest is not the declared one."""
    for index, entry in enumerate(facts.entries):
        seen = facts.seen.get(facts.prefix + entry["path"])
        if seen is None or seen.fault is not None:
            continue
        for key, actual in (("bytes", seen.size), ("sha256", seen.sha256)):
            if entry[key] != actual:
                yield _in_manifest(facts, f"{key} is not the file's", f"/files/{index}/{key}")


@release_check("RL1209", "strip the texts and use times that exist", geode=True)
def manifest_texts(facts: Facts) -> Iterator[Hit]:
    """A text of the manifest is not stripped, is blank, or a time does not exist."""
    manifest = facts.manifest.value
    if manifest is None:
        return
    review = manifest["privacy_review"]
    texts = {f"/{key}": manifest[key] for key in _BOUNDS}
    texts |= {f"/privacy_review/{key}": value for key, value in review.items()}
    for pointer, text in texts.items():
        if text != text.strip():
            yield _in_manifest(facts, "the text is not stripped", pointer)
    times = {
        "/published_at": manifest["published_at"],
        "/privacy_review/reviewed_at": review["reviewed_at"],
    }
    for pointer, time in times.items():
        if parse(time) is None:
            yield _in_manifest(facts, "the time does not exist", pointer)


@release_check("RL1210", "the record was changed after the review: review again", geode=True)
def review_digest(facts: Facts) -> Iterator[Hit]:
    """The privacy review's record_sha256 is not the digest of its other fields."""
    if facts.manifest.value is not None:
        review = facts.manifest.value["privacy_review"]
        if review["record_sha256"] != record_sha256(review):
            yield _in_manifest(facts, "it is not the digest of the record", "/privacy_review/record_sha256")


@release_check("RL1211", "review for the scope that is published", geode=True)
def review_scope(facts: Facts) -> Iterator[Hit]:
    """The privacy review was made for another scope than the release has."""
    manifest = facts.manifest.value
    if manifest is not None and manifest["privacy_review"]["scope"] != manifest["release_scope"]:
        yield _in_manifest(facts, "the review's scope is not the release's", "/privacy_review/scope")
