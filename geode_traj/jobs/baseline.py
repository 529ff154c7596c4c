"""Baselines: findings that are known already, so that only new ones fail.

A finding is known by its code, the path of its input and the JSON pointer of its place; lines, messages and
the order of files play no part. Of equal findings as many are known as were counted. What could not be read
is known only as long as its bytes are the same. Paths are kept relative to the baseline's folder.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from geode_traj import __version__
from geode_traj.codec import schema
from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import read_bounded, sha256_bytes, write_new
from geode_traj.codec.reading import loads
from geode_traj.codec.text import neutralise
from geode_traj.errors import TrajError, WorldError
from geode_traj.model.finding import Finding
from geode_traj.model.report import Entry, Report

SCHEMA_ID: Final = "geode-traj.baseline@1"
_MAX: Final = 64 << 20
# The pointer of what is past a limit; no real one is like this.
_UNLISTED: Final = "*"

Key = tuple[str, str, str, str]
"""Code, path, pointer, and the digest of bytes that could not be read, else ""."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """How many findings of each key are known; `folder` is where paths are relative to."""

    path: Path
    sha256: str
    counts: Counter[Key]

    def apply(self, report: Report) -> tuple[Report, int]:
        """Return the report with its known findings marked, and how many known ones are not found any more.

        Of these only such count as are of an input that was looked at.
        """
        left = Counter(self.counts)
        entries = tuple(self._entry(entry, left) for entry in report.entries)
        looked = {_relative(entry.name, self.path) for entry in entries}
        gone = sum(count for key, count in left.items() if key[1] in looked and count > 0)
        known = sum(found.known for entry in entries for found in entry.findings)
        head = {**report.head, "baseline": {"path": str(self.path), "sha256": self.sha256}}
        summary = {**report.summary, "known": known}
        return replace(report, head=head, entries=entries, summary=summary), gone

    def _entry(self, entry: Entry, left: Counter[Key]) -> Entry:
        findings: list[Finding] = []
        rows: list[dict[str, Any]] = []
        for found, row in zip(entry.findings, entry.data["findings"], strict=True):
            key, count = _key(found, entry, self.path)
            if left[key] < count:  # what was past the limit then may be listed now
                key = (*key[:2], _UNLISTED, "")
            known = 0 < count <= left[key]
            left[key] -= count if known else 0
            findings.append(replace(found, known=known))
            rows.append({**row, "known": True} if known else row)
        marked = sum(found.known for found in findings)
        headline = entry.headline + (f"; {marked} known" if marked else "")
        return replace(
            entry, headline=headline, findings=tuple(findings), data={**entry.data, "findings": rows}
        )


def read(path: Path) -> Baseline:
    """Read a baseline; raise `WorldError` TE101 for a file that is none, or cannot be read."""
    try:
        data = read_bounded(path, _MAX)
        value: Any = loads(data, place=str(path))
    except TrajError as error:
        raise WorldError("TE101", what=f"the baseline {path.name}", why=error.message) from None
    for pointer, message in schema.problems(SCHEMA_ID, value, limit=1):
        why = neutralise(f"{pointer} {message}".strip())
        raise WorldError("TE101", what=f"the baseline {path.name}", why=why)
    counts: Counter[Key] = Counter()
    for row in value["findings"]:
        counts[row["code"], row["path"], row["pointer"], row.get("sha256", "")] += row["count"]
    return Baseline(path, sha256_bytes(data), counts)


def write(path: Path, report: Report) -> Baseline:
    """Write the findings of a report as a baseline and return it; only a baseline is ever replaced.

    Rows are sorted, one a line. Raises `WorldError` TE601 where another file has the name.
    """
    counts: Counter[Key] = Counter()
    for entry in report.entries:
        for found in entry.findings:
            key, count = _key(found, entry, path)
            counts[key] += count
    write_new(path, _chunks(counts, report), force=_is_baseline(path))
    return read(path)


def _chunks(counts: Counter[Key], report: Report) -> Iterator[bytes]:
    rows = sorted((key, count) for key, count in counts.items() if count)
    yield b'{"findings":[\n'
    for number, ((code, name, pointer, digest), count) in enumerate(rows, start=1):
        row = {"code": code, "path": name, "pointer": pointer, "count": count}
        yield dumps({**row, "sha256": digest} if digest else row) + (b",\n" if number < len(rows) else b"\n")
    head = {"ruleset": report.head["ruleset"], "schema_id": SCHEMA_ID, "tool_version": __version__}
    yield b"]," + dumps(head)[1:] + b"\n"


def _is_baseline(path: Path) -> bool:
    try:
        read(path)
    except TrajError:
        return False
    return True


def _key(found: Finding, entry: Entry, baseline: Path) -> tuple[Key, int]:
    """Return a finding's key and for how many findings it stands: none where it cannot be told again."""
    digest = ""
    if entry.data.get("verdict") == "unreadable":
        digest = entry.data["sha256"] or ""
        if not digest:
            return (found.code, "", "", ""), 0
    path = entry.path_of(found.place.file)
    name = _relative(entry.name if path == entry.path else path, baseline)
    if found.unlisted:
        return (found.code, name, _UNLISTED, ""), found.unlisted
    return (found.code, name, neutralise(found.place.where), digest), 1


def _relative(name: str, baseline: Path) -> str:
    if name.partition("#")[0] == "-":
        return neutralise(name)
    # Not resolved: what a link is called is its name.
    path, folder = (os.path.normpath(Path(given).absolute()) for given in (name, baseline.parent))
    return neutralise(os.path.relpath(path, folder).replace(os.sep, "/"))
