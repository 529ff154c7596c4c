"""What of a verified trajectory keeps it out of a release."""

from __future__ import annotations

from typing import Final

from geode_traj.verify import Verified

OURS: Final = frozenset({"GT305", "GT901", "GT902"})
"""Errors that GEODE does not know: claims in keys of ours, and gate hits in decoded text."""


def faults(verified: Verified, *, geode_only: bool = False) -> list[str]:
    """Return the codes of a trajectory's errors, sorted; without ours if `geode_only`."""
    errors = {finding.code for finding in verified.findings if finding.severity == "error"}
    return sorted(errors - OURS if geode_only else errors)
