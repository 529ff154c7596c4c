"""References and digests that an export adds: hook events, verification evidence, companion files (§5)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import read_bounded, sha256_bytes, sha256_file
from geode_traj.codec.reading import loads
from geode_traj.codec.schema import is_valid
from geode_traj.contract import plan
from geode_traj.contract.kinds import TRAJECTORY
from geode_traj.errors import DataError, WorldError
from geode_traj.store.schema import has_table

_HOOK_COLUMNS: Final = (
    "id", "event", "payload_hash", "turn_id", "tool_call_id", "llm_call_id", "llm_attempt_id",
)  # fmt: skip
EVIDENCE_KINDS: Final = frozenset({"verification.evidence", "verification.pending"})
MAX_SNAPSHOT: Final = 64 << 20
MAX_PLAN: Final = 4 << 20


@dataclass(slots=True)
class References:
    """What stands beside the events; `source` holds extra fields of the trajectory's source."""

    evidence: list[dict[str, Any]] = field(default_factory=list)
    runtime: list[dict[str, Any]] = field(default_factory=list)
    artifacts: list[dict[str, Any]] = field(default_factory=list)
    source: dict[str, Any] = field(default_factory=dict)


def companion(kind: str, path: Path, into: References) -> None:
    """Add a companion file by its kind; raise `WorldError` TE105 for an unknown kind, TE201 if unreadable.

    Kinds: sil_eval, native_receipt, crucible, runtime_profile, attempt_manifest, plan. A crucible snapshot
    counts only with a frozen contract id that passed its identity preflight (`DataError` TE314); what is
    called a plan must be one (TE208).
    """
    digest, _ = sha256_file(path)
    if kind == "sil_eval":
        into.evidence.append(
            {
                "kind": "sil_eval",
                "schema_id": "inspect_ai.eval@native",
                "authority": "Inspect AI scored evaluation archive",
                "reference": f"sha256:{digest}",
                "path": path.name,
                "sha256": digest,
            }
        )
        into.artifacts.append({"path": path.name, "sha256": digest})
    elif kind == "native_receipt":
        into.evidence.append(
            {
                "kind": "native_receipt",
                "schema_id": "tau2.results@native",
                "authority": "tau2 native results receipt",
                "reference": digest,
                "raw_artifact_sha256": digest,
            }
        )
    elif kind == "crucible":
        into.evidence.append(_crucible(path, digest))
    elif kind in ("runtime_profile", "attempt_manifest"):
        into.artifacts.append({"path": path.name, "sha256": digest})
        into.source[f"{kind}_sha256"] = digest
    elif kind == "plan":
        _plan(path, digest, into)
    else:
        raise WorldError("TE105", name=kind)


def _crucible(path: Path, digest: str) -> dict[str, Any]:
    snapshot = loads(read_bounded(path, MAX_SNAPSHOT), place=str(path))
    contract = snapshot.get("contract_id") if isinstance(snapshot, dict) else None
    preflight = isinstance(snapshot, dict) and snapshot.get("contract_validation") == "identity_preflight"
    if not isinstance(contract, str) or not contract or not preflight:
        raise DataError("TE314", what="crucible snapshot", why="no identity preflight", place=str(path))
    return {
        "kind": "crucible_evidence",
        "schema_id": "crucible_tau2_trajectory_snapshot.v4",
        "authority": "Crucible experiment contract and executable verifier",
        "reference": contract,
        "arm": snapshot.get("arm"),
        "raw_artifact_sha256": digest,
    }


def _plan(path: Path, digest: str, into: References) -> None:
    """Add a declared plan: its digest, and itself, so that the file alone can be reconciled with it."""
    value = loads(read_bounded(path, MAX_PLAN), place=str(path))
    plan.read(value, place=str(path))
    into.artifacts.append({"path": path.name, "sha256": digest, "schema_id": plan.SCHEMA_ID})
    into.source["plan"] = value


def artifact(reference: str, path: Path, into: References) -> None:
    """Add the digest of a file under the name that the trajectory shall use."""
    into.artifacts.append({"path": reference, "sha256": sha256_file(path)[0]})


def hook_events(connection: sqlite3.Connection, session_ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return one reference for each session that has hook events: their count and one digest over them."""
    if not has_table(connection, "hook_events"):
        return []
    columns = {row[0] for row in connection.execute("SELECT name FROM pragma_table_info('hook_events')")}
    if not columns.issuperset({*_HOOK_COLUMNS, "session_id"}):
        return []
    query = f"SELECT {', '.join(_HOOK_COLUMNS)} FROM hook_events WHERE session_id = ? ORDER BY id"  # noqa: S608
    references = []
    for session_id in session_ids:
        rows = [
            dict(zip(_HOOK_COLUMNS, row, strict=True)) for row in connection.execute(query, (session_id,))
        ]
        if rows:
            digest = sha256_bytes(dumps(rows))
            references.append(
                {
                    "kind": "runtime_event",
                    "schema_id": "geode.hook-event@3",
                    "authority": "GEODE local runtime hook event store",
                    "reference": f"hook-events-sha256:{digest}",
                    "session_id": session_id,
                    "record_count": len(rows),
                    "sha256": digest,
                }
            )
    return references


def verification(kind: str, payload: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the external references in a verification event's payload that the schema admits."""
    listed = payload.get("references") if kind in EVIDENCE_KINDS else None
    if not isinstance(listed, list):
        return []
    return [item for item in listed if is_valid(TRAJECTORY, item, part="reference")]


def merged(references: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the references without those equal in (kind, reference); the first one stays."""
    unique: dict[tuple[str, str], dict[str, Any]] = {}
    for item in references:
        unique.setdefault((item["kind"], item["reference"]), item)
    return list(unique.values())


def merged_artifacts(digests: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return artifact digests by path; raise `DataError` TE310 when one path stands for two files."""
    unique: dict[str, dict[str, Any]] = {}
    for item in digests:
        if unique.setdefault(item["path"], item)["sha256"] != item["sha256"]:
            raise DataError("TE310", what="an artifact path names two files")
    return list(unique.values())
