"""Findings of an input that is no trajectory: collected up to a bound, judged by the checks' severities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from geode_traj.codec.framed import Document
from geode_traj.model.finding import Finding, Place
from geode_traj.verify import Verified
from geode_traj.verify.engine import PER_CODE
from geode_traj.verify.registry import all_checks
from geode_traj.verify.result import Verdict

Watch = Callable[[Document], Document]
"""Sees a document before it is verified, for whoever counts or shows what it holds."""

UNKNOWN: Final = "no known format"
_UNKNOWN_HINT: Final = "see `formats` for what is read"


@dataclass(slots=True)
class Found:
    """What is found in one file: at most `PER_CODE` findings of a code, and a note on how many more.

    `partial`: something of the file could not be read, so that it is no more than incomplete.
    """

    file: str
    sha256: str = ""
    size: int = 0
    schema_id: str | None = None
    partial: bool = False
    _listed: list[Finding] = field(default_factory=list)
    _counts: Counter[str] = field(default_factory=Counter)

    def add(self, code: str, message: str, place: Place | None = None) -> None:
        """Add a finding of a registered check, at a place in the file."""
        self._counts[code] += 1
        if self._counts[code] <= PER_CODE:
            check = all_checks()[code]
            where = place or Place(self.file)
            self._listed.append(Finding(code, check.severity, message, where, hint=check.hint))

    def take(self, finding: Finding) -> None:
        """Add a finding that somebody else made."""
        self._listed.append(finding)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings in the order they were made."""
        more = [
            Finding(
                code, "note", f"{count - PER_CODE} more finding(s) of {code} are not listed", Place(self.file)
            )
            for code, count in sorted(self._counts.items())
            if count > PER_CODE
        ]
        return (*self._listed, *more)

    @property
    def verdict(self) -> Verdict:
        """What the findings make of the file."""
        if any(finding.severity == "error" for finding in self._listed):
            return "invalid"
        return "incomplete" if self.partial else "valid"

    def result(self, name: str, records: int) -> Verified:
        """Return the result for a file of records that are no trajectory's events."""
        return Verified(
            name, self.sha256, self.size, self.schema_id, self.verdict, self.findings, events=records
        )

    def unreadable(self, name: str, message: str, hint: str = "") -> Verified:
        """Return the result for a file of which nothing could be read, and why."""
        why = Finding("GT101", "error", message, Place(self.file), hint=hint)
        findings = (why, *self.findings)
        return Verified(name, self.sha256, self.size, self.schema_id, "unreadable", findings)


def unknown(path: Path, sha256: str, size: int) -> Verified:
    """Return the result for a file that nothing reads."""
    return Found(str(path), sha256, size).unreadable(str(path), UNKNOWN, _UNKNOWN_HINT)
