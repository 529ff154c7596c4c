"""What was scanned as a report: places and value numbers, never a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from geode_traj import __version__
from geode_traj.codec.pointer import escape
from geode_traj.errors import EXIT_FINDINGS, EXIT_PARTIAL, worst_exit
from geode_traj.jobs.scan_parts import Label, Result, Unscanned
from geode_traj.jobs.scan_streams import merged
from geode_traj.jobs.scan_workers import MAX_QUARANTINED
from geode_traj.model.finding import Finding, Place, Severity
from geode_traj.model.report import Entry, Report
from geode_traj.scan.engine import Scanner
from geode_traj.scan.finding import ScanFinding

FailOn = Literal["high", "review", "none"]
SCHEMA_ID: Final = "geode-traj.scan-report@1"
MAX_FINDINGS: Final = 10_000
"""Findings listed of one input; one that holds more is no transcript with a slip in it."""

MAX_TOLD: Final = 20
_SEVERITY: Final[dict[str, Severity]] = {"high": "error", "review": "warning", "note": "note"}
_FAILS: Final[dict[str, tuple[Severity, ...]]] = {
    "high": ("error",),
    "review": ("error", "warning"),
    "none": (),
}


@dataclass(slots=True)
class Scanned:
    """One input: its findings with their labels, what could not be scanned, the error if unread.

    `name` is what it is called in the report, `file` the path it is in where that is another; `extra` are
    more members of its row. `full`: so much could not be scanned that the rest was not tried.
    """

    name: str
    sha256: str | None = None
    bytes: int | None = None
    error: str | None = None
    file: str = ""
    findings: list[tuple[Label, ScanFinding]] = field(default_factory=list)
    unscanned: dict[Unscanned, None] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    full: bool = False
    unlisted: int = 0

    def add(self, result: Result) -> None:
        """Take over what one unit holds; units come in the order of the input."""
        if self.full:
            return
        room = MAX_FINDINGS - len(self.findings)
        self.findings += result.findings[:room]
        self.unlisted += len(result.findings[room:])
        self.unscanned.update(dict.fromkeys(result.unscanned))
        if sum(one.label is not None or one.pointer != "" for one in self.unscanned) >= MAX_QUARANTINED:
            self.full = True
            self.unscanned[Unscanned(None, "", "so much of it cannot be scanned that the rest was not")] = (
                None
            )

    def settle(self, numbers: dict[int, int]) -> None:
        """Number the values in the order of the report; of an input that was not read nothing is told."""
        if self.error is not None:
            self.sha256 = self.bytes = None
            self.findings = []
            self.unscanned = {}
            self.unlisted = 0
        self.findings = merged(self.findings)
        for at, (label, found) in enumerate(self.findings):
            number = numbers.setdefault(found.value_number, len(numbers) + 1)
            self.findings[at] = (label, replace(found, value_number=number))

    def reasons(self) -> list[Unscanned]:
        """Return why it does not count as clean, in the order of the input."""
        found = sorted(
            self.unscanned, key=lambda one: (one.label is None, str(type(one.label)), one.label or 0)
        )
        if self.unlisted:
            found.append(Unscanned(None, "", f"{self.unlisted} more finding(s) are not listed"))
        return found


def report(done: Iterable[Scanned], scanner: Scanner, fail_on: FailOn) -> Report:
    """Return the report of some inputs."""
    inputs = list(done)
    numbers: dict[int, int] = {}
    for one in inputs:
        one.settle(numbers)
    counts = Counter(found.cls for one in inputs for _, found in one.findings)
    head = {"tool_version": __version__, "ruleset": scanner.ruleset.name, "engines": scanner.engines}
    entries = tuple(map(_entry, inputs))
    return Report(SCHEMA_ID, head, "inputs", entries, dict(sorted(counts.items())), _FAILS[fail_on])


def exit_code(found: Report) -> int:
    """Return what a scan ends with: 3 where a part could not be scanned, 1 where a finding fails."""
    codes = [EXIT_PARTIAL for entry in found.entries if entry.problem]
    codes += [EXIT_FINDINGS for entry in found.entries if found.failing(entry)]
    return worst_exit(codes)


def place(label: Label) -> Mapping[str, Any]:
    """Return what a label says of a place in a report: a line's number, or an event's id."""
    if label is None:
        return {}
    return {"line": label} if isinstance(label, int) else {"event_id": label}


def _pointer(label: Label, pointer: str) -> str:
    """Return where a finding is for people and for baselines: an event's id, too, is a part of the place."""
    return f"/session_events/{escape(label)}{pointer}" if isinstance(label, str) else pointer


def _entry(one: Scanned) -> Entry:
    findings = tuple(
        Finding(
            found.rule,
            _SEVERITY[found.band],
            f"{found.cls} v{found.value_number}" + (f" inside {found.view}" if found.view else ""),
            Place(
                one.file or one.name, **place(label), pointer=_pointer(label, found.pointer), span=found.span
            ),
        )
        for label, found in one.findings
    )
    reasons = one.reasons()
    data = {
        "path": one.name,
        "sha256": one.sha256,
        "bytes": one.bytes,
        "quarantined": bool(reasons),
        "findings": [found.to_json(**place(label)) for label, found in one.findings],
        **one.extra,
    }
    if reasons:
        data["unscanned"] = [
            {"place": {**place(label), "pointer": pointer}, "why": why} for label, pointer, why in reasons
        ]
    problem = f"not scanned: {one.error}" if one.error else "; ".join(_words(reasons))
    return Entry(one.name, _headline(one, reasons), findings, data, file=one.file, problem=problem)


def _headline(one: Scanned, reasons: list[Unscanned]) -> str:
    if one.error:
        return f"not scanned: {one.error}"
    bands = Counter(found.band for _, found in one.findings)
    words = ", ".join(f"{bands[band]} {band}" for band in ("high", "review", "note") if bands[band])
    quarantined = f" (QUARANTINED: {'; '.join(_words(reasons))})" if reasons else ""
    return (words or ("nothing found" if reasons else "clean")) + quarantined + one.note


def _words(reasons: list[Unscanned]) -> list[str]:
    words = []
    for label, pointer, why in reasons[:MAX_TOLD]:
        at = f"line {label}" if isinstance(label, int) else f"event {label}" if label else ""
        where = ", ".join(part for part in (at, pointer) if part)
        words.append(f"{where}: {why}" if where else why)
    if len(reasons) > MAX_TOLD:
        words.append(f"and {len(reasons) - MAX_TOLD} more")
    return words
