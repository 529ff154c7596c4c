"""What was read of a release, for the checks to judge: no conclusion is drawn here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from geode_traj.attest.allowed_signers import Keyring
from geode_traj.attest.dsse import Envelope
from geode_traj.attest.sshsig import SshSignature
from geode_traj.attest.statement import Statement
from geode_traj.contract.release import ReleaseFile
from geode_traj.errors import DataError
from geode_traj.release.check.tree import Tree
from geode_traj.verify import Verified


@dataclass(frozen=True, slots=True)
class Seen:
    """One regular file as it was read once, from one descriptor.

    `hits` is None where it could not be scanned; `data` is kept of the short files alone; `verified` is there
    for trajectories; `fault` says why the file could not be read as it stood.
    """

    size: int = 0
    sha256: str = ""
    hits: dict[str, int] | None = None
    data: bytes | None = None
    verified: Verified | None = None
    fault: str | None = None


@dataclass(slots=True)
class Json:
    """A JSON document: its value, or why there is none. `value` is there only where the schema fits."""

    value: dict[str, Any] | None = None
    fault: DataError | None = None
    problems: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Signature:
    """One signature over SHA256SUMS: by whom, or why it is none (`fault`, from its form or its verification).

    `principals` are the names the keyring has for the key; empty where it is not trusted.
    """

    role: str
    path: str
    parsed: SshSignature | None = None
    fault: DataError | None = None
    principals: tuple[str, ...] = ()

    @property
    def verified(self) -> bool:
        """Whether its key signed exactly these bytes for this purpose."""
        return self.parsed is not None and self.fault is None


@dataclass(slots=True)
class Stated:
    """The reviewer's statement: what it says of which files, or why it is none (`fault`).

    `signed_by` holds the keys at hand that signed it, `claimed` those that it says did. Keys at hand are the
    keyring's and those of the release's own signatures. `trusted`: one of them is in the keyring.
    """

    envelope: Envelope | None = None
    statement: Statement | None = None
    fault: DataError | None = None
    signed_by: frozenset[bytes] = frozenset()
    claimed: frozenset[bytes] = frozenset()
    trusted: bool = False


@dataclass(slots=True)
class Facts:
    """A release folder (or a bare GEODE one, whose `prefix` is "") as it was read.

    `name` is the release's id, which the GEODE folder has as its name, `prefix` the path of that folder with
    its last `/`; `folder` is the name under which the release was found. `sums` are the (sha256, path) lines
    of SHA256SUMS, None where it is not well formed.
    """

    name: str
    prefix: str
    tree: Tree
    seen: dict[str, Seen]
    manifest: Json
    expected_manifest: str | None = None
    folder: str = ""
    release: Json = field(default_factory=Json)
    record: Json = field(default_factory=Json)
    disclosure: Json = field(default_factory=Json)
    stated: Stated | None = None
    sums: list[tuple[str, str]] | None = None
    sums_fault: str | None = None
    signatures: list[Signature] = field(default_factory=list)
    keyring: Keyring | None = None

    def digest(self, path: str) -> str | None:
        """Return the SHA-256 of a file's bytes, None where there is no such file or it could not be read."""
        seen = self.seen.get(path)
        return seen.sha256 if seen and seen.fault is None else None

    @property
    def entries(self) -> list[dict[str, Any]]:
        """The manifest's entries; none where it does not fit its schema."""
        return list(self.manifest.value["files"]) if self.manifest.value else []

    def trajectories(self) -> Iterator[tuple[dict[str, Any], Verified]]:
        """Yield each entry of the manifest whose file could be read as a trajectory, and what it gave."""
        for entry in self.entries:
            seen = self.seen.get(self.prefix + entry["path"])
            if seen and seen.fault is None and seen.verified and seen.verified.verdict != "unreadable":
                yield entry, seen.verified


def release_file(path: str, verified: Verified) -> ReleaseFile:
    """Return what a release counts of a verified trajectory at `path` below its manifest."""
    return ReleaseFile(
        path=path,
        bytes=verified.bytes,
        sha256=verified.sha256,
        records=verified.events,
        trajectory_id=verified.trajectory_id,
        scope_complete=verified.scope_complete is True,
        replay_complete=verified.replay_complete is True,
        reviewed=verified.review_state == "reviewed",
        evidence_refs=verified.evidence_refs,
        runtime_event_refs=verified.runtime_event_refs,
        artifact_digests=len(verified.artifact_digests),
    )
