"""Checking a release into a report."""

from __future__ import annotations

from pathlib import Path

from geode_traj.attest.allowed_signers import Keyring
from geode_traj.model.report import Entry, Report
from geode_traj.release.check.verdict import REPORT, CheckResult, check


def report(folder: Path, keyring: Keyring | None, manifest_sha256: str | None) -> tuple[Report, int]:
    """Check the release at `folder` and return the report and the exit code."""
    result = check(folder, keyring=keyring, manifest_sha256=manifest_sha256)
    # Whole, and yet nothing to rely on: no finding says so, since nothing in the release is wrong.
    problem = result.verdict if result.exit_code and not result.errors else ""
    entry = Entry(
        str(folder), _headline(result), result.findings, result.to_json(), is_folder=True, problem=problem
    )
    return Report(REPORT, {}, None, (entry,), {}), result.exit_code


def _headline(result: CheckResult) -> str:
    signers = ", ".join(
        f"{signer.role} {signer.key} ({'trusted' if signer.trusted else 'unknown'})"
        for signer in result.signers
    )
    return f"{result.verdict}" + (f"; signed by {signers}" if signers else "; not signed")
