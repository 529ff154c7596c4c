"""RL11xx, the lists: SHA256SUMS, release.json and the files say the same."""

from __future__ import annotations

from collections.abc import Iterator

from geode_traj.release import layout
from geode_traj.release.check.facts import Facts
from geode_traj.release.check.registry import Hit, release_check


def _listed(facts: Facts) -> dict[str, str]:
    """Return the sums by path, for paths that may stand in a release and in its lists."""
    return {
        path: digest
        for digest, path in facts.sums or []
        if layout.is_path(path, facts.name) and layout.covered(path)
    }


@release_check("RL1101", "write it again with sha256sum, names sorted")
def sums_malformed(facts: Facts) -> Iterator[Hit]:
    """SHA256SUMS is not lines of a digest, two spaces and a name, sorted by name, each name once."""
    if facts.sums_fault is not None:
        yield Hit(facts.sums_fault, layout.SUMS)


@release_check("RL1102", "never unpack it: such a name leads elsewhere")
def listed_name(facts: Facts) -> Iterator[Hit]:
    """SHA256SUMS lists a name that no file of a release can have: absolute, upward, a drive, `~`, hidden."""
    for _, path in facts.sums or []:
        if not layout.is_path(path, facts.name):
            yield Hit("a listed name is none that may stand in a release", path)


@release_check("RL1103", "list only what was written before")
def names_itself(facts: Facts) -> Iterator[Hit]:
    """SHA256SUMS lists itself or a signature over it, which no digest can truly cover."""
    for _, path in facts.sums or []:
        if not layout.covered(path):
            yield Hit("a list cannot cover what is made after it", path)


@release_check("RL1104", "copy the release again, whole")
def listed_missing(facts: Facts) -> Iterator[Hit]:
    """A file that SHA256SUMS lists is not there."""
    for path in _listed(facts):
        if not facts.tree.holds(path):
            yield Hit("it is listed but missing", path)


@release_check("RL1105", "remove it: nobody signed it")
def extra_file(facts: Facts) -> Iterator[Hit]:
    """A file stands in the release that SHA256SUMS does not list."""
    if facts.sums is not None:
        listed = {path for _, path in facts.sums}
        for path in facts.tree.files:
            if layout.covered(path) and path not in listed:
                yield Hit("it is not listed", path)


@release_check("RL1106", "copy the release again from where it was published")
def digest_differs(facts: Facts) -> Iterator[Hit]:
    """A file's bytes are not those whose digest SHA256SUMS lists."""
    for path, digest in _listed(facts).items():
        actual = facts.digest(path)
        if actual is not None and actual != digest:
            yield Hit("its bytes are not the listed ones", path)


@release_check("RL1107", "write it again: two readers may see two documents")
def release_not_json(facts: Facts) -> Iterator[Hit]:
    """release.json is not strict JSON: UTF-8 without byte order mark, no key twice, no NaN, not too deep."""
    if facts.release.fault is not None:
        yield Hit(facts.release.fault.message, layout.RELEASE)


@release_check("RL1108", "see `schema geode-traj.release@1`")
def release_shape(facts: Facts) -> Iterator[Hit]:
    """release.json does not fit its schema."""
    for pointer, message in facts.release.problems:
        yield Hit(message, layout.RELEASE, pointer)


@release_check("RL1109", "they must come from one staging")
def lists_differ(facts: Facts) -> Iterator[Hit]:
    """SHA256SUMS is not, byte for byte, what release.json and its own digest give."""
    release, digest = facts.release.value, facts.digest(layout.RELEASE)
    sums = facts.seen.get(layout.SUMS)
    if release is None or digest is None or facts.sums is None or sums is None:
        return
    lines = [(file["path"], file["sha256"]) for file in release["files"]]
    text = "".join(layout.sums_line(sha, path) for path, sha in sorted([*lines, (layout.RELEASE, digest)]))
    if text.encode() != sums.data:
        yield Hit("it is not what release.json lists", layout.SUMS)


@release_check("RL1110", "sort the list by path")
def release_order(facts: Facts) -> Iterator[Hit]:
    """release.json does not list its files sorted by path."""
    if facts.release.value is not None:
        paths = [file["path"] for file in facts.release.value["files"]]
        if paths != sorted(paths):
            yield Hit("its files are not sorted by path", layout.RELEASE, "/files")


@release_check("RL1111", "state the size in bytes")
def size_differs(facts: Facts) -> Iterator[Hit]:
    """release.json states the right digest for a file and a wrong size."""
    if facts.release.value is not None:
        for index, file in enumerate(facts.release.value["files"]):
            seen = facts.seen.get(file["path"])
            same = seen is not None and seen.fault is None and seen.sha256 == file["sha256"]
            if seen is not None and same and seen.size != file["bytes"]:
                yield Hit("the stated size is not the file's", layout.RELEASE, f"/files/{index}/bytes")


@release_check("RL1112", "give the folder the name it was published under")
def other_release(facts: Facts) -> Iterator[Hit]:
    """release.json is another release's: its id is not the folder's name."""
    if facts.release.value is not None and facts.release.value["release_id"] != facts.folder:
        yield Hit("release_id is not the folder's name", layout.RELEASE, "/release_id")


@release_check("RL1113", "both must come from one staging")
def manifest_disagrees(facts: Facts) -> Iterator[Hit]:
    """release.json and the manifest name another time, source, scope or superseded release."""
    release, manifest = facts.release.value, facts.manifest.value
    if release is None or manifest is None:
        return
    pairs = {"source": "release_source", "scope": "release_scope"}
    for key in ("published_at", "source", "scope", "supersedes"):
        if release[key] != manifest[pairs.get(key, key)]:
            yield Hit("the manifest says otherwise", layout.RELEASE, f"/{key}")


@release_check("RL1114", "both must come from one staging")
def trajectories_disagree(facts: Facts) -> Iterator[Hit]:
    """release.json and the manifest do not list the same trajectories: ids, paths, numbers of events."""
    release = facts.release.value
    if release is None or facts.manifest.value is None:
        return
    stated = [(item["path"], item["trajectory_id"], item["events"]) for item in release["trajectories"]]
    wanted = [
        (facts.prefix + entry["path"], entry["trajectory_id"], entry["records"]) for entry in facts.entries
    ]
    if stated != wanted:
        yield Hit("the manifest lists others", layout.RELEASE, "/trajectories")


@release_check("RL1115", "the first release has sequence 1 and no previous one")
def sequence(facts: Facts) -> Iterator[Hit]:
    """The sequence number and the previous digest contradict each other, or the number is below 1."""
    release = facts.release.value
    if release is not None and (
        release["sequence"] < 1 or (release["sequence"] == 1) != (release["previous"] is None)
    ):
        yield Hit("sequence and previous contradict each other", layout.RELEASE, "/sequence")


@release_check("RL1116", "a release holds one GEODE folder, named like itself")
def second_manifest(facts: Facts) -> Iterator[Hit]:
    """A second manifest stands in the release: a reader could take the wrong one for the signed release's."""
    for path in facts.tree.files:
        if path.rpartition("/")[2] == layout.MANIFEST and not path.startswith(facts.prefix):
            yield Hit("it is a second manifest", path)


@release_check("RL1117", "run `scan` on it, and stage again")
def gate_hits(facts: Facts) -> Iterator[Hit]:
    """A file beside the trajectories holds text that no release may hold.

    The eight gate classes (record contract §8) over the raw text of README.md, release.json, the manifest and
    all else.
    """
    for path, seen in facts.seen.items():
        if not path.startswith(facts.prefix) or path == facts.prefix + layout.MANIFEST:
            for cls, count in (seen.hits or {}).items():
                if count:
                    yield Hit(f"{count} {cls} hit(s)", path)


@release_check("RL1118", "publish UTF-8 text with lines of ordinary length")
def not_scanned(facts: Facts) -> Iterator[Hit]:
    """A file is no UTF-8 text, or has an endless line: the gate classes cannot be counted in it."""
    for path, seen in facts.seen.items():
        if seen.fault is None and seen.hits is None:
            yield Hit("it cannot be scanned", path)
