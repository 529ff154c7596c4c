"""Writing what stands around a GEODE folder: each part covers those before, so none names its own digest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geode_traj import __version__
from geode_traj.codec.files import sha256_bytes, sha256_file
from geode_traj.contract.encoding import encode
from geode_traj.contract.gates import count_hits
from geode_traj.release import layout
from geode_traj.release.geode_folder import GeodeFolder, refuse_hits, write
from geode_traj.release.readme import readme
from geode_traj.release.record import disclosure, review_record
from geode_traj.release.reviewed import Reviewed

REVIEWER_AND_SIGNER = 2


@dataclass(frozen=True, slots=True)
class Chain:
    """A release's place among a publisher's: its number from 1, the digest of the previous release.json."""

    sequence: int = 1
    previous: str | None = None


def write_around(folder: Path, geode: GeodeFolder, reviewed: Reviewed, chain: Chain) -> Path:
    """Move a GEODE folder into a release folder made in `folder`, write the rest, and return that folder.

    Raises `DataError` TE308 for a hit of a gate class in what is written.
    """
    root = folder / geode.release_id
    (root / layout.REVIEW_RECORD).parent.mkdir(parents=True)
    inside = layout.geode_folder(geode.release_id)
    geode.path.rename(root / inside)
    trajectories = _trajectories(geode)
    disclosed = disclosure(trajectories, reviewed.signoff)
    parts = {
        layout.REVIEW_RECORD: encode(review_record(reviewed)) + b"\n",
        layout.DISCLOSURE: encode(disclosed) + b"\n",
        layout.README: readme(
            geode.release_id, geode.manifest, reviewed.policy, disclosed["totals"]
        ).encode(),
    }
    if reviewed.statement is not None:
        parts[layout.REVIEW_STATEMENT] = reviewed.statement
    for path, data in parts.items():
        write(root / path, [data])
    digest, size = sha256_file(root / inside / layout.MANIFEST)
    files = [
        {"path": f"{inside}/{layout.MANIFEST}", "bytes": size, "sha256": digest},
        *({"path": path, "bytes": len(data), "sha256": sha256_bytes(data)} for path, data in parts.items()),
        *(
            {"path": f"{inside}/{file['path']}", "bytes": file["bytes"], "sha256": file["sha256"]}
            for file in geode.manifest["files"]
        ),
    ]
    files.sort(key=lambda file: str(file["path"]))
    parts[layout.RELEASE] = encode(_release(geode, reviewed, chain, files, trajectories)) + b"\n"
    refuse_hits({path: count_hits(data.decode()) for path, data in parts.items()})
    write(root / layout.RELEASE, [parts[layout.RELEASE]])
    lines = {file["path"]: file["sha256"] for file in files}
    lines[layout.RELEASE] = sha256_bytes(parts[layout.RELEASE])
    sums = "".join(layout.sums_line(digest, path) for path, digest in sorted(lines.items()))
    write(root / layout.SUMS, [sums.encode()])
    return root


def _release(
    geode: GeodeFolder,
    reviewed: Reviewed,
    chain: Chain,
    files: list[dict[str, Any]],
    trajectories: list[dict[str, Any]],
) -> dict[str, Any]:
    signoff, manifest = reviewed.signoff, geode.manifest
    return {
        "schema_id": layout.SCHEMA,
        "release_id": geode.release_id,
        "sequence": chain.sequence,
        "previous": chain.previous,
        "published_at": manifest["published_at"],
        "source": manifest["release_source"],
        "scope": manifest["release_scope"],
        "supersedes": manifest["supersedes"],
        "files": files,
        "trajectories": trajectories,
        "review": {
            "policy_sha256": signoff["policy_sha256"],
            "ruleset": signoff["ruleset"],
            "ruleset_sha256": signoff["ruleset_sha256"],
            "findings_sha256": signoff["findings_sha256"],
            "decisions_sha256": signoff["decisions_sha256"],
            "signoff_sha256": reviewed.signoff_sha256,
            "reviewer_role_required": reviewed.policy.roles == REVIEWER_AND_SIGNER,
        },
        "tool": {"name": "geode-traj", "version": __version__},
    }


def _trajectories(geode: GeodeFolder) -> list[dict[str, Any]]:
    inside = layout.geode_folder(geode.release_id)
    return [
        {
            "trajectory_id": file["trajectory_id"],
            "path": f"{inside}/{file['path']}",
            "events": file["records"],
            "merkle_root": None,
        }
        for file in geode.manifest["files"]
    ]
