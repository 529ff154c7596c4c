"""Scanning files for secrets and personal data: JSON by its strings and keys, JSON lines, any other text."""

from __future__ import annotations

import codecs
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, Final, Literal, cast

from geode_traj import __version__
from geode_traj.codec import framed, pointer
from geode_traj.codec.files import CHUNK, reading, sha256_file
from geode_traj.codec.framed import MAX_WHOLE
from geode_traj.codec.jsonl import MAX_LINE, lines
from geode_traj.codec.reading import tolerant
from geode_traj.errors import EXIT_FINDINGS, EXIT_PARTIAL, DataError, TrajError, WorldError, worst_exit
from geode_traj.model.finding import Finding, Place, Severity
from geode_traj.model.report import Entry, Report
from geode_traj.scan.engine import Scanner
from geode_traj.scan.finding import ScanFinding, scan_text, scan_value
from geode_traj.scan.numbering import Numbering
from geode_traj.scan.rules import Profile

FailOn = Literal["high", "review", "none"]
SCHEMA_ID: Final = "geode-traj.scan-report@1"
_SEVERITY: Final[dict[str, Severity]] = {"high": "error", "review": "warning", "note": "note"}
_FAILS: Final[dict[str, tuple[Severity, ...]]] = {
    "high": ("error",),
    "review": ("error", "warning"),
    "none": (),
}
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SPOOLED: Final = 8 << 20


@dataclass(frozen=True, slots=True)
class Scanned:
    """One input: its findings with their lines, why a part could not be scanned, the error if unread."""

    path: str
    sha256: str | None = None
    bytes: int | None = None
    quarantine: tuple[str, ...] = ()
    findings: tuple[tuple[ScanFinding, int | None], ...] = ()
    error: str | None = None


def scan(
    paths: Iterable[Path], *, profile: Profile, fail_on: FailOn = "high", sensitive: Iterable[str] = ()
) -> tuple[Report, int]:
    """Scan files and return the report and the exit code; raise `WorldError` TE104 where no file matched.

    What holds JSON is scanned by its leaves, so that escapes hide nothing. What is no text, or has a line
    over the limit, is searched as far as that goes and quarantined: it never counts as clean.
    """
    scanner = Scanner(profile, sensitive)
    numbering = Numbering(secrets.token_bytes(32))  # numbers join equal values inside one report only
    done = [_file(path, scanner, numbering) for path in paths]
    if not done:
        raise WorldError("TE104")
    counts = Counter(found.cls for one in done for found, _ in one.findings)
    head = {"tool_version": __version__, "ruleset": scanner.ruleset.name, "engines": ["rules"]}
    entries = tuple(map(_entry, done))
    report = Report(SCHEMA_ID, head, "inputs", entries, dict(sorted(counts.items())), _FAILS[fail_on])
    return report, exit_code(report)


def exit_code(report: Report) -> int:
    """Return what a scan ends with: 3 where a part could not be scanned, 1 where a finding fails."""
    codes = [EXIT_PARTIAL for entry in report.entries if entry.problem]
    codes += [EXIT_FINDINGS for entry in report.entries if report.failing(entry)]
    return worst_exit(codes)


def _file(path: Path, scanner: Scanner, numbering: Numbering) -> Scanned:
    work = _Work(scanner, numbering)
    try:
        sha256, size = sha256_file(path)
        with reading(path) as stream:
            if stream.read(2) in _UTF16:
                with SpooledTemporaryFile(max_size=_SPOOLED) as copy:
                    work.scan(cast(BinaryIO, copy), work.recode(stream, cast(BinaryIO, copy)))
            else:
                work.scan(stream, size)
    except TrajError as error:
        return Scanned(str(path), error=error.message)
    return Scanned(str(path), sha256, size, tuple(work.quarantine), tuple(work.findings))


class _Work:
    """One file under scan: its findings with their lines, and what keeps it from counting as clean."""

    def __init__(self, scanner: Scanner, numbering: Numbering) -> None:
        self.findings: list[tuple[ScanFinding, int | None]] = []
        self.quarantine: dict[str, None] = {}
        self._scanner = scanner
        self._number = numbering.number

    def recode(self, stream: BinaryIO, copy: BinaryIO) -> int:
        """Write UTF-16 text as UTF-8 and return its size; lone surrogates pass, for `scan` to judge."""
        decoder = codecs.getincrementaldecoder("utf-16")("surrogatepass")
        size = 0
        stream.seek(0)
        try:
            chunk = stream.read(CHUNK)
            while chunk:
                more = stream.read(CHUNK)
                text = decoder.decode(chunk, final=not more)
                size += copy.write(text.encode("utf-8", "surrogatepass"))
                chunk = more
        except UnicodeDecodeError:
            self.quarantine["it is no UTF-16 text"] = None
        return size

    def scan(self, stream: BinaryIO, size: int) -> None:
        """Scan what a stream holds, in the first of the ways that reads it."""
        stream.seek(0)
        if self._framed(stream, size):
            return
        stream.seek(0)
        data = stream.read(MAX_WHOLE).removeprefix(codecs.BOM_UTF8) if size <= MAX_WHOLE else b""
        # One object or list over several lines; what stands on one line is told with its number.
        whole = b"\n" in data.strip() and self._json(data, None)
        if whole:
            self._judge(data)
            return
        del data
        stream.seek(0)
        for line in lines(stream):
            if line.data is None:
                self.quarantine["a line was too long to scan"] = None
                continue
            self._judge(line.data)
            if not self._json(line.data.rstrip(b","), line.number):
                text = line.data.decode("utf-8", "backslashreplace")
                found = scan_text(text, self._scanner, self._number, damaged=True)
                self.findings += ((item, line.number) for item in found)

    def _judge(self, data: bytes) -> None:
        if b"\0" in data:
            self.quarantine["it holds NUL characters"] = None
        try:
            data.decode()
        except UnicodeDecodeError:
            self.quarantine["it is no UTF-8 text"] = None

    def _framed(self, stream: BinaryIO, size: int) -> bool:
        """Scan a line-framed trajectory with one event in memory; tell whether it was one, and sound."""
        found: list[tuple[ScanFinding, int | None]] = []
        if not framed.is_framed(stream.readline(MAX_LINE).rstrip(b"\r\n")):
            return False
        stream.seek(0)
        try:
            document = framed.read(stream, size=size)
            for text in document.events:
                if not document.framed:
                    return False
                found += ((item, text.line) for item in self._value(text.value))
        except DataError:
            return False
        self.findings += [*found, *((item, None) for item in self._value(document.head))]
        return document.framed

    def _json(self, data: bytes, line: int | None) -> bool:
        """Scan an object or list by its leaves; tell whether it is one."""
        if data.lstrip()[:1] not in (b"{", b"["):
            return False
        try:
            read = tolerant(data)
        except (ValueError, RecursionError):
            return False
        found = list(self._value(read.value))
        for place, earlier in read.duplicates.items():  # what a repeated key held before is text of the file
            for value in earlier:
                there = reduce(lambda below, step: {step: below}, reversed(pointer.split(place)), value)
                found += (item for item in self._value(there) if not item.in_key)
        self.findings += ((item, line) for item in found)
        return True

    def _value(self, value: Any) -> Iterator[ScanFinding]:
        return scan_value(value, self._scanner, self._number)


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
        "quarantined": bool(one.quarantine),
        "findings": [
            found.to_json(**({} if line is None else {"line": line})) for found, line in one.findings
        ],
    }
    problem = f"not scanned: {one.error}" if one.error else "; ".join(one.quarantine)
    return Entry(one.path, _headline(one), findings, data, problem=problem)


def _headline(one: Scanned) -> str:
    if one.error:
        return f"not scanned: {one.error}"
    bands = Counter(found.band for found, _ in one.findings)
    words = ", ".join(f"{bands[band]} {band}" for band in ("high", "review", "note") if bands[band])
    quarantined = f" (QUARANTINED: {'; '.join(one.quarantine)})" if one.quarantine else ""
    return (words or ("nothing found" if one.quarantine else "clean")) + quarantined
