"""Scanning files for secrets and personal data: JSON by its strings and keys, JSON lines, any other text."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from geode_traj import __version__
from geode_traj.codec.files import reading, sha256_file
from geode_traj.codec.framed import MAX_WHOLE
from geode_traj.codec.jsonl import lines
from geode_traj.codec.reading import tolerant
from geode_traj.errors import EXIT_FINDINGS, EXIT_PARTIAL, TrajError, WorldError, worst_exit
from geode_traj.model.finding import Finding, Place, Severity
from geode_traj.model.report import Entry, Report
from geode_traj.scan.engine import Scanner
from geode_traj.scan.finding import ScanFinding, scan_text, scan_value
from geode_traj.scan.numbering import Numbering
from geode_traj.scan.rules import Profile

FailOn = Literal["high", "review", "none"]
SCHEMA_ID: Final = "geode-traj.scan-report@1"
_SEVERITY: Final[dict[str, Severity]] = {"high": "error", "review": "warning", "note": "note"}
_FAILS: Final[dict[str, tuple[str, ...]]] = {"high": ("high",), "review": ("high", "review"), "none": ()}


@dataclass(frozen=True, slots=True)
class Scanned:
    """One input: its findings with their lines, whether a part could not be scanned, the error if unread."""

    path: str
    sha256: str | None
    bytes: int | None
    quarantined: bool
    findings: tuple[tuple[ScanFinding, int | None], ...]
    error: str | None = None


def scan(
    paths: Iterable[Path], *, profile: Profile, fail_on: FailOn = "high", sensitive: Iterable[str] = ()
) -> tuple[Report, int]:
    """Scan files and return the report and the exit code; raise `WorldError` TE104 where no file matched.

    A line that holds JSON is scanned by its leaves, so that escapes hide nothing; a line over the limit
    cannot be scanned: the file is quarantined and never counts as clean.
    """
    scanner = Scanner(profile, sensitive)
    numbering = Numbering(secrets.token_bytes(32))  # numbers join equal values inside one report only
    done = [_file(path, scanner, numbering) for path in paths]
    if not done:
        raise WorldError("TE104")
    counts = Counter(found.cls for one in done for found, _ in one.findings)
    bands = {found.band for one in done for found, _ in one.findings}
    codes = [EXIT_FINDINGS] * any(band in _FAILS[fail_on] for band in bands)
    codes += [EXIT_PARTIAL for one in done if one.quarantined or one.error]
    head = {"tool_version": __version__, "ruleset": scanner.ruleset.name, "engines": ["rules"]}
    report = Report(SCHEMA_ID, head, "inputs", tuple(map(_entry, done)), dict(sorted(counts.items())))
    return report, worst_exit(codes)


def _file(path: Path, scanner: Scanner, numbering: Numbering) -> Scanned:
    try:
        sha256, size = sha256_file(path)
        with reading(path) as stream:
            whole = _whole(stream.read(MAX_WHOLE)) if size <= MAX_WHOLE else None
            if whole is not None:
                found = [(item, None) for item in scan_value(whole, scanner, numbering.number)]
                return Scanned(str(path), sha256, size, False, tuple(found))
            stream.seek(0)
            quarantined = False
            listed = []
            for line in lines(stream):
                quarantined |= line.data is None
                listed += [(item, line.number) for item in _line(line.data or b"", scanner, numbering)]
    except TrajError as error:
        return Scanned(str(path), None, None, False, (), error.message)
    return Scanned(str(path), sha256, size, quarantined, tuple(listed))


def _whole(data: bytes) -> Any | None:
    """Return the value of a file that is one JSON object or list over several lines, None for any other."""
    if b"\n" not in data.strip() or data.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        return tolerant(data).value
    except (ValueError, RecursionError):
        return None


def _line(data: bytes, scanner: Scanner, numbering: Numbering) -> Iterator[ScanFinding]:
    if data.lstrip()[:1] in (b"{", b"["):
        try:
            yield from scan_value(tolerant(data.rstrip(b",")).value, scanner, numbering.number)
            return
        except (ValueError, RecursionError):
            pass
    yield from scan_text(data.decode("utf-8", "backslashreplace"), scanner, numbering.number, damaged=True)


def _entry(one: Scanned) -> Entry:
    findings = tuple(
        Finding(
            found.rule,
            _SEVERITY[found.band],
            f"{found.cls} v{found.value_number}" + (f" inside {found.view}" if found.view else ""),
            Place(one.path, line=line, pointer=found.pointer, span=found.span),
        )
        for found, line in one.findings
    )
    data = {
        "path": one.path,
        "sha256": one.sha256,
        "bytes": one.bytes,
        "quarantined": one.quarantined,
        "findings": [
            found.to_json(**({} if line is None else {"line": line})) for found, line in one.findings
        ],
    }
    return Entry(one.path, _headline(one), findings, data)


def _headline(one: Scanned) -> str:
    if one.error:
        return f"not scanned: {one.error}"
    bands = Counter(found.band for found, _ in one.findings)
    words = ", ".join(f"{bands[band]} {band}" for band in ("high", "review", "note") if bands[band])
    return (words or "clean") + (" (QUARANTINED: a line was too long to scan)" if one.quarantined else "")
