"""Writing a GEODE release folder: bytes copied unchanged, scanned and hashed on the way; a manifest."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geode_traj.codec.files import CHUNK, reading, sha256_bytes
from geode_traj.codec.text import clip
from geode_traj.contract.encoding import encode
from geode_traj.contract.gates import GATE_CLASSES, GateCounter, count_hits
from geode_traj.contract.release import (
    MANIFEST,
    MAX_SCOPE,
    MAX_SOURCE,
    PrivacyReview,
    bounded,
    manifest,
    release_name,
    scanned_text,
)
from geode_traj.contract.times import is_calendar
from geode_traj.errors import DataError, WorldError
from geode_traj.release.admit import Candidate
from geode_traj.release.check.facts import release_file


@dataclass(frozen=True, slots=True)
class Terms:
    """What a release says beside its files; source and scope stripped, time in Unix seconds."""

    source: str
    scope: str
    review: PrivacyReview
    published_at: float
    supersedes: str | None
    replay_required: bool


def terms(
    source: str,
    scope: str,
    review: PrivacyReview,
    published_at: float,
    supersedes: str | None,
    *,
    allow_replay_incomplete: bool,
) -> Terms:
    """Return the terms of a release; `DataError` TE314 for a passed bound, TE307 for another scope."""
    source, scope = bounded("source", source, MAX_SOURCE), bounded("scope", scope, MAX_SCOPE)
    if not is_calendar(published_at):
        raise WorldError("TE101", what="published_at", why="it is no time of the years 1 to 9999")
    if review.scope != scope:
        why = f"it was made for the scope {clip(review.scope, 80)}, not {clip(scope, 80)}"
        raise DataError("TE307", why=why)
    return Terms(source, scope, review, published_at, supersedes, not allow_replay_incomplete)


@dataclass(frozen=True, slots=True)
class GeodeFolder:
    """A GEODE folder that was written: its name (the release id), where it stands, its manifest."""

    release_id: str
    path: Path
    manifest: dict[str, Any]


def write_geode(folder: Path, files: Sequence[Candidate], terms: Terms) -> GeodeFolder:
    """Write a GEODE release folder inside `folder`, an empty one, and give it its name.

    Raises `DataError` TE308 for a hit of a gate class, TE207 where a file is no longer what was verified.
    """
    target = folder / "unnamed"
    target.mkdir()
    hits: dict[str, Mapping[str, int]] = {file.path: _copy(file, target) for file in files}
    whole = manifest(
        (release_file(file.path, file.verified) for file in files),
        source=terms.source,
        scope=terms.scope,
        review=terms.review,
        published_at=terms.published_at,
        supersedes=terms.supersedes,
        replay_required=terms.replay_required,
        secret_scan=dict.fromkeys(GATE_CLASSES, 0),
    )
    hits["the manifest"] = count_hits(scanned_text(whole))
    refuse_hits(hits)
    data = encode(whole) + b"\n"
    write(target / MANIFEST, [data])
    stated = whole["release_source"], whole["release_scope"], whole["published_at"]
    release_id = release_name(*stated, sha256_bytes(data))
    return GeodeFolder(release_id, target.rename(folder / release_id), whole)


def refuse_hits(hits: Mapping[str, Mapping[str, int]]) -> None:
    """Raise `DataError` TE308 where a text, named by its key, has a hit of a gate class."""
    found = [
        f"{count} {cls} in {clip(name, 128)}"
        for name, counts in hits.items()
        for cls, count in counts.items()
        if count
    ]
    if found:
        raise DataError("TE308", found=", ".join(found[:10]) + ("…" if found[10:] else ""))


def _copy(file: Candidate, folder: Path) -> Counter[str]:
    """Copy one file into place; return its gate hits."""
    target = folder / file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    gates, digest = GateCounter(), hashlib.sha256()

    def chunks() -> Iterable[bytes]:
        with reading(file.file) as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
                gates.feed(chunk)
                yield chunk

    write(target, chunks())
    if digest.hexdigest() != file.verified.sha256:
        raise DataError("TE207", place=file.path)
    return Counter(gates.result())


def write(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a new file inside a folder that nobody else writes to, and make its bytes durable."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    with os.fdopen(descriptor, "wb", buffering=CHUNK) as stream:
        for chunk in chunks:
            stream.write(chunk)
        stream.flush()
        os.fsync(stream.fileno())
