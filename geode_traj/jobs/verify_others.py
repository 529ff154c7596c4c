"""Verifying what is no trajectory, told by its content.

In this order: a GEODE store; a ledger of GEODE's; a release's manifest; any format that `migrate` reads. What
nothing reads is unreadable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from geode_traj.codec import sqlite_in
from geode_traj.codec.files import is_folder, reading, sha256_file
from geode_traj.errors import TrajError
from geode_traj.jobs.found import Watch, unknown
from geode_traj.jobs.verify_foreign import verify_planned
from geode_traj.jobs.verify_manifest import is_manifest, verify_manifest
from geode_traj.jobs.verify_records import kind_of, verify_ledger
from geode_traj.jobs.verify_store import is_store, verify_store
from geode_traj.migrate.plan import plan
from geode_traj.sources.base import HEAD_BYTES, TAIL_BYTES, Probe, claim
from geode_traj.verify import Verified


def is_transcript(folder: Path) -> bool:
    """Tell whether a folder as a whole is one transcript of a known format."""
    try:
        return claim(folder) is not None
    except TrajError:
        return True  # of several formats: reading it says so


def by_content(path: Path, watch: Watch | None, trajectory: Callable[[Path], Verified]) -> Iterator[Verified]:
    """Verify a path by what it holds; `trajectory` is asked where it may have been meant as one.

    Raises `TrajError` where the path as a whole cannot be read.
    """
    if is_folder(path):
        yield from verify_planned(list(plan([path], None).sources), path, watch)
        return
    probe = _probe(path)
    kind = None if probe.head.startswith(sqlite_in.MAGIC) else kind_of(probe)
    if is_store(probe):
        yield from verify_store(path, watch)
    elif kind is not None:
        yield verify_ledger(path, kind)
    elif is_manifest(probe):
        yield verify_manifest(path)
    else:
        planned = list(plan([path], None).sources)
        if any(one.code == "TE205" for one in planned):
            yield trajectory(path) if _meant(probe) else unknown(path, *sha256_file(path))
        else:
            yield from verify_planned(planned, path, watch)


def _probe(path: Path) -> Probe:
    with reading(path) as stream:
        head = stream.read(HEAD_BYTES)
        stream.seek(max(0, path.stat().st_size - TAIL_BYTES))
        return Probe(head, stream.read(TAIL_BYTES), path)


def _meant(probe: Probe) -> bool:
    """Tell whether a file that nothing reads is best explained as a trajectory that is none."""
    both = probe.head + probe.tail
    named = b'"schema_id"' in both or b'"captured_at"' in both
    return probe.head.lstrip().startswith(b"{") and named and b'"events"' in both
