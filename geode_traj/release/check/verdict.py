"""Checking: all findings, one verdict.

    from geode_traj.release.check.verdict import check, read_geode_release

Read-only: nothing is written, run or fetched.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from geode_traj.attest.allowed_signers import Keyring
from geode_traj.attest.keyfile import fingerprint
from geode_traj.errors import (
    EXIT_OK,
    EXIT_PARTIAL,
    EXIT_UNKNOWN_SIGNER,
    DataError,
    WorldError,
    worst_exit,
)
from geode_traj.model.finding import Finding, Place
from geode_traj.release.check.facts import Facts
from geode_traj.release.check.reading import read_geode, read_release
from geode_traj.release.check.registry import all_checks
from geode_traj.release.check.rules.signatures import required_roles

Verdict = Literal["valid", "intact, signer unknown", "invalid", "unreadable"]
REPORT: Final = "geode-traj.release-report@1"
NOT_SIGNED: Final = "RL1401"


@dataclass(frozen=True, slots=True)
class Signer:
    """Who signed in which role: the key as `ssh-keygen -l` prints it, and whether it is trusted."""

    role: str
    key: str
    trusted: bool

    def to_json(self) -> dict[str, Any]:
        """Return the signer as the report writes it."""
        return {"role": self.role, "key": self.key, "trusted": self.trusted}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The verdict on one release, with all findings in the order of their codes.

    valid: whole, and every required role signed with a key of the keyring. intact, signer unknown: whole, but
    one of those keys is not in the keyring. unreadable: nothing is wrong with what could be read, but not all
    could be. invalid: the rest. `signers` are those whose signatures are true.
    """

    release_id: str | None
    verdict: Verdict
    signers: tuple[Signer, ...]
    findings: tuple[Finding, ...]
    exit_code: int

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that stand against the release."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def content_errors(self) -> tuple[Finding, ...]:
        """The errors that stand against it even before it is signed."""
        return tuple(finding for finding in self.errors if finding.code != NOT_SIGNED)

    def to_json(self) -> dict[str, Any]:
        """Return the report `geode-traj.release-report@1`."""
        return {
            "schema_id": REPORT,
            "release_id": self.release_id,
            "verdict": self.verdict,
            "signers": [signer.to_json() for signer in self.signers],
            "findings": [finding.to_json() for finding in self.findings],
            "log": None,
        }


@dataclass(frozen=True, slots=True)
class GeodeRelease:
    """A bare GEODE release folder that passed: its name, its manifest and that one's digest."""

    release: str
    manifest_sha256: str
    manifest: dict[str, Any]


def check(path: Path, *, keyring: Keyring | None = None, manifest_sha256: str | None = None) -> CheckResult:
    """Check the release folder at `path`; never raises for what is wrong with it.

    `keyring` says who is trusted; `manifest_sha256` is the GEODE manifest's digest, recorded beforehand.
    """
    try:
        facts = read_release(path, keyring, manifest_sha256)
    except WorldError as error:
        finding = Finding("RL1007", "error", error.message, Place(file=str(path)), hint=error.hint)
        return CheckResult(None, "unreadable", (), (finding,), EXIT_PARTIAL)
    findings = [finding for rule in all_checks().values() for finding in rule.findings(facts)]
    verdict, exit_code = _verdict(facts, findings)
    if keyring is not None:
        findings += keyring.findings
    signers = tuple(
        Signer(signature.role, fingerprint(signature.parsed.public_key), bool(signature.principals))
        for signature in facts.signatures
        if signature.verified and signature.parsed
    )
    return CheckResult(facts.name, verdict, signers, tuple(findings), exit_code)


def _verdict(facts: Facts, findings: list[Finding]) -> tuple[Verdict, int]:
    rules = all_checks()
    exits = [rules[finding.code].exit_code for finding in findings if finding.severity == "error"]
    if exits:
        return "unreadable" if set(exits) == {EXIT_PARTIAL} else "invalid", worst_exit(exits)
    trusted = {signature.role for signature in facts.signatures if signature.principals}
    if trusted.issuperset(required_roles(facts)):
        return "valid", EXIT_OK
    return "intact, signer unknown", EXIT_UNKNOWN_SIGNER


def read_geode_release(path: Path, expected_manifest_sha256: str | None = None) -> GeodeRelease:
    """Verify a bare GEODE release folder by GEODE's rules alone (record contract §8, §15).

    Raises `DataError` TE401 naming the first finding, `WorldError` TE201 where the folder cannot be opened.
    """
    facts = read_geode(path, expected_manifest_sha256)
    digest = facts.digest("manifest.json")
    for rule in all_checks().values():
        for finding in rule.findings(facts) if rule.geode else ():
            if finding.severity == "error":
                where = finding.place.file or facts.name
                why = f"{where}: {finding.message} ({finding.code})"
                raise DataError("TE401", place=str(path), what="the release", why=why)
    if facts.manifest.value is None or digest is None:
        raise DataError("TE401", place=str(path), what="the release", why="it has no manifest.json")
    return GeodeRelease(facts.name, digest, facts.manifest.value)
