"""RL13xx, the trajectories: verified again from their bytes, against what the manifest claims of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from geode_traj.contract.gates import count_hits
from geode_traj.contract.release import quality, scanned_text
from geode_traj.release import layout
from geode_traj.release.check.facts import Facts, release_file
from geode_traj.release.check.registry import Hit, release_check
from geode_traj.release.check.trajectory import faults

# Constants of the schema that other checks recompute; a claim of theirs cannot be false alone.
_ELSEWHERE = {"schema_valid", "integrity_recomputed", "trajectory_ids_unique", "secret_scan"}


@release_check("RL1301", "run `verify` on it for every finding", geode=True)
def not_valid(facts: Facts) -> Iterator[Hit]:
    """A trajectory is unreadable or invalid when it is verified again: its own claims are false."""
    for path, seen in facts.seen.items():
        if seen.fault is None and seen.verified is not None:
            codes = faults(seen.verified, geode_only=not facts.prefix)
            if codes:
                yield Hit(f"the trajectory is {seen.verified.verdict}: {', '.join(codes)}", path)


@release_check("RL1302", "stage again: the manifest is written from what is counted", geode=True)
def claims_false(facts: Facts) -> Iterator[Hit]:
    """The manifest's entry claims another id, number of records or completeness than the file gives."""
    for entry, verified in facts.trajectories():
        truth = release_file(entry["path"], verified).to_json()
        for key in ("records", "trajectory_id", "scope_complete", "replay_complete", "complete"):
            if entry[key] != truth[key]:
                yield Hit(f"the manifest's {key} is not what it gives", facts.prefix + entry["path"])


@release_check("RL1303", "a release admits scope-complete trajectories only", geode=True)
def scope_incomplete(facts: Facts) -> Iterator[Hit]:
    """A trajectory's scope is not complete: something of the run is missing."""
    for entry, verified in facts.trajectories():
        if not verified.scope_complete:
            yield Hit("its scope is not complete", facts.prefix + entry["path"])


@release_check("RL1304", "stage again, and admit it with --allow-replay-incomplete", geode=True)
def replay_incomplete(facts: Facts) -> Iterator[Hit]:
    """A trajectory cannot be replayed in full, though the manifest requires it."""
    for entry, verified in facts.trajectories():
        required = facts.manifest.value and facts.manifest.value["admission"]["replay_complete_required"]
        if required and verified.scope_complete and not verified.replay_complete:
            yield Hit("its replay is not complete", facts.prefix + entry["path"])


@release_check("RL1305", "review it, and stage what the review wrote", geode=True)
def not_reviewed(facts: Facts) -> Iterator[Hit]:
    """A trajectory does not say that it was reviewed."""
    for entry, verified in facts.trajectories():
        if verified.review_state != "reviewed":
            yield Hit("its review_state is not 'reviewed'", facts.prefix + entry["path"])


@release_check("RL1306", "each trajectory stands once in a release", geode=True)
def id_twice(facts: Facts) -> Iterator[Hit]:
    """Two files are the same trajectory by id."""
    ids = Counter(verified.trajectory_id for _, verified in facts.trajectories())
    for entry, verified in facts.trajectories():
        if ids[verified.trajectory_id] > 1:
            yield Hit("its trajectory_id stands twice", facts.prefix + entry["path"])


@release_check("RL1307", "stage again: the manifest is written from what is counted", geode=True)
def quality_false(facts: Facts) -> Iterator[Hit]:
    """The manifest's `quality` is not what its files sum up to."""
    counted = [release_file(entry["path"], verified) for entry, verified in facts.trajectories()]
    if facts.manifest.value is None or len(counted) != len(facts.entries):
        return
    claimed = facts.manifest.value["quality"]
    for key, truth in quality(counted, claimed["secret_scan"]).items():
        if key not in _ELSEWHERE and claimed[key] != truth:
            yield Hit(f"{key} is not {truth}", facts.prefix + layout.MANIFEST, f"/quality/{key}")


@release_check("RL1308", "redact it in a new review; nothing is disguised", geode=True)
def secrets_found(facts: Facts) -> Iterator[Hit]:
    """A trajectory's raw text, or a text of the manifest, has a hit of a gate class.

    The manifest claims none of any class; they are counted again over the bytes and over source, scope,
    supersedes, paths and review record.
    """
    found = [
        (path, seen.hits or {})
        for path, seen in facts.seen.items()
        if path.startswith(facts.prefix) and path != facts.prefix + layout.MANIFEST
    ]
    if facts.manifest.value is not None:
        found.append((facts.prefix + layout.MANIFEST, count_hits(scanned_text(facts.manifest.value))))
    for path, hits in found:
        for cls, count in hits.items():
            if count:
                yield Hit(f"{count} {cls} hit(s)", path)
