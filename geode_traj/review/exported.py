"""Decisions as one file (`geode-traj.decisions@1`): what a review came to, for a redaction somewhere else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from geode_traj.codec import schema
from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import read_bounded, write_new
from geode_traj.codec.reading import loads
from geode_traj.contract import policy as policies
from geode_traj.contract.policy import Policy
from geode_traj.errors import DataError
from geode_traj.review.folder import Found, Review
from geode_traj.review.state import APPROVE, State

SCHEMA: Final = "geode-traj.decisions@1"
MAX_FILE: Final = 256 << 20


@dataclass(frozen=True, slots=True)
class Decisions:
    """What was decided, by a candidate's digest: its findings (None: it is left out), which stay."""

    ruleset_sha256: str
    policy: Policy
    findings: Mapping[str, tuple[Found, ...] | None]
    approved: frozenset[int]


def write(review: Review, out: Path) -> int:
    """Write the decisions of a review into the new file `out`; return how many findings they are about.

    Raises `DataError` TE319 where something is undecided, `WorldError` TE601, TE602.
    """
    state = State(review)
    if any(state.undecided()):
        raise DataError("TE319", why="only a review in which nothing is open is exported")
    digests = {one.path: one.sha256 for one in review.begun.candidates}
    value = {
        "schema_id": SCHEMA,
        "policy": review.policy.to_toml().decode(),
        "ruleset": review.begun.ruleset,
        "ruleset_sha256": review.begun.ruleset_sha256,
        "candidates": digests,
        "rejected": sorted(state.rejected),
        "findings": list(_told(state)),
    }
    write_new(out, [dumps(value), b"\n"], mode=0o600)
    return len(value["findings"])


def _told(state: State) -> Iterator[dict[str, Any]]:
    for found in state.review.findings:
        outcome = state.outcome(found)
        yield {**found.to_json(), "outcome": outcome.kind, "by": outcome.by, "reason": outcome.reason}


def read(path: Path) -> Decisions:
    """Read a decisions file; raise `DataError` TE202, TE208 for what is none."""
    value = loads(read_bounded(path, MAX_FILE), place=str(path))
    problems = schema.problems(SCHEMA, value)
    if problems or not isinstance(value, dict):
        where, message = problems[0] if problems else ("", "it is no object")
        raise DataError("TE208", name=SCHEMA, why=f"{where} {message}", place=str(path))
    of_path: dict[str, list[Found]] = {name: [] for name in value["candidates"]}
    approved = set()
    for said in value["findings"]:
        if said["outcome"] == APPROVE:
            approved.add(said["id"])
        of_path.setdefault(said["path"], []).append(Found.of(said))
    by_digest = {
        digest: None if name in value["rejected"] else tuple(of_path[name])
        for name, digest in value["candidates"].items()
    }
    policy = policies.read(value["policy"].encode(), place=str(path))
    return Decisions(value["ruleset_sha256"], policy, by_digest, frozenset(approved))
