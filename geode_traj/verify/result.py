"""What verifying one input gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from geode_traj.model.finding import Finding

Verdict = Literal["valid", "incomplete", "invalid", "unreadable"]
OF_THE_RUN = 11
"""Findings of this family tell what a run did; the file that tells it may be as it should."""
RULESET = "2"


@dataclass(frozen=True, slots=True)
class Verified:
    """The recomputed facts of one trajectory and every finding.

    `verdict`: unreadable (no trajectory could be read), invalid (an error finding), incomplete (honest, but
    its scope is not complete), valid. Flags, reasons and `quality` are computed, not claimed; None or empty
    where the file could not be read. `accounting` is None where no model call was recorded, `reconciliation`
    where no plan was declared. `findings` are in file order.
    """

    name: str
    sha256: str
    bytes: int
    schema_id: str | None
    verdict: Verdict
    findings: tuple[Finding, ...]
    trajectory_id: str = ""
    events: int = 0
    scope_complete: bool | None = None
    replay_complete: bool | None = None
    scope_reasons: tuple[str, ...] = ()
    replay_reasons: tuple[str, ...] = ()
    quality: dict[str, Any] | None = None
    review_state: str = ""
    evidence_refs: int = 0
    runtime_event_refs: int = 0
    artifact_digests: tuple[tuple[str, str], ...] = ()
    derived_ids: int = 0
    accounting: dict[str, Any] | None = None
    reconciliation: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return one result of the verify report (cli.md, machine shapes)."""
        told = {"accounting": self.accounting, "reconciliation": self.reconciliation}
        return {
            "path": self.name,
            "sha256": self.sha256 or None,
            "schema_id": self.schema_id,
            "verdict": self.verdict,
            "scope_complete": self.scope_complete,
            "replay_complete": self.replay_complete,
            "quality": self.quality,
            "findings": [finding.to_json() for finding in self.findings],
            **{key: value for key, value in told.items() if value is not None},
        }
