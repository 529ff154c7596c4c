"""SARIF 2.1.0, for code scanning: rules with their pages, JSON pointers as logical locations.

Fingerprints are made of code, path and pointer, so that they survive other lines and another order of files.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from geode_traj import __version__
from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.text import clip, neutralise
from geode_traj.model.finding import Finding, Place
from geode_traj.model.page import Page
from geode_traj.model.report import Entry, Report
from geode_traj.report._line import line
from geode_traj.report._places import MAX_MESSAGE, span_unit

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FINGERPRINT: Final = "geodeTraj/v1"
_LEVELS: Final = {"high": "error", "review": "warning"}
MAX_RELATED: Final = 20


def render(report: Report) -> Iterator[str]:
    """Yield the report as one line: a log with one run."""
    yield line({"$schema": _SCHEMA, "version": "2.1.0", "runs": [_Run(report).to_json()]})


class _Run:
    """One run: artifacts and rules are listed once, and results refer to them."""

    def __init__(self, report: Report) -> None:
        self._report = report
        codes = sorted({found.code for entry in report.entries for found in entry.findings})
        self._rules = {code: index for index, code in enumerate(codes)}
        self._in_bytes = span_unit(report) == "bytes"
        self._index: dict[str, int] = {}
        self._seen: Counter[tuple[str, ...]] = Counter()

    def to_json(self) -> dict[str, Any]:
        report = self._report
        artifacts = {_uri(entry.path): _artifact(entry) for entry in report.entries}
        self._index = {uri: index for index, uri in enumerate(artifacts)}
        results = [self._result(found, entry) for entry in report.entries for found in entry.findings]
        problems = [_problem(entry) for entry in report.entries if entry.problem]
        driver = {
            "name": "geode-traj",
            "version": __version__,
            "rules": [_rule(code, report.pages.get(code)) for code in self._rules],
        }
        return {
            "tool": {"driver": driver},
            "columnKind": "unicodeCodePoints",
            "artifacts": list(artifacts.values()),
            "results": results,
            "invocations": [{"executionSuccessful": not problems, "toolExecutionNotifications": problems}],
            "properties": {"schema_id": report.schema_id, **report.head, "summary": report.summary},
        }

    def _result(self, found: Finding, entry: Entry) -> dict[str, Any]:
        result: dict[str, Any] = {
            "ruleId": found.code,
            "ruleIndex": self._rules[found.code],
            "level": found.severity,
            "message": {"text": _message(found.message)},
            "locations": [self._location(found.place, entry)],
            "partialFingerprints": {_FINGERPRINT: self._fingerprint(found, entry)},
        }
        if found.related:
            result["relatedLocations"] = [
                {"id": number, **self._location(place, entry)}
                for number, place in enumerate(found.related[:MAX_RELATED], start=1)
            ]
        if "baseline" in self._report.head:
            result["baselineState"] = "unchanged" if found.known else "new"
        if found.known:
            result["suppressions"] = [{"kind": "external", "justification": "listed in the baseline"}]
        return result

    def _location(self, place: Place, entry: Entry) -> dict[str, Any]:
        uri = _uri(entry.path_of(place.file))
        artifact: dict[str, Any] = {"uri": uri}
        if uri in self._index:
            artifact["index"] = self._index[uri]
        location: dict[str, Any] = {"physicalLocation": {"artifactLocation": artifact}}
        region = {} if place.line is None else {"startLine": place.line}
        if place.span is not None and self._in_bytes:
            region |= {"byteOffset": place.span[0], "byteLength": place.span[1] - place.span[0]}
        if region:
            location["physicalLocation"]["region"] = region
        if pointer := place.where:
            shown = neutralise(pointer)
            location["logicalLocations"] = [{"fullyQualifiedName": shown, "name": shown.rpartition("/")[2]}]
        return location

    def _fingerprint(self, found: Finding, entry: Entry) -> str:
        path = entry.path_of(found.place.file)
        name = entry.name if path == entry.path else path
        key = (found.code, _uri(name), neutralise(found.place.where))
        self._seen[key] += 1
        return sha256_bytes(dumps([*key, self._seen[key]]))


def _artifact(entry: Entry) -> dict[str, Any]:
    artifact: dict[str, Any] = {"location": {"uri": _uri(entry.path)}, "roles": ["analysisTarget"]}
    if digest := entry.data.get("sha256"):
        artifact["hashes"] = {"sha-256": digest}
    if (size := entry.data.get("bytes")) is not None:
        artifact["length"] = size
    return artifact


def _rule(code: str, page: Page | None) -> dict[str, Any]:
    if page is None:
        return {"id": code}
    text = page.text + (f"\n\nHint: {page.hint}" if page.hint else "")
    level = _LEVELS.get(page.severity, page.severity)
    rule: dict[str, Any] = {
        "id": code,
        "shortDescription": {"text": page.title},
        "fullDescription": {"text": page.text},
        "help": {"text": text},
    }
    if level in ("error", "warning", "note"):
        rule["defaultConfiguration"] = {"level": level}
    if page.since:
        rule["properties"] = {"since": page.since}
    return rule


def _problem(entry: Entry) -> dict[str, Any]:
    return {
        "level": "error",
        "message": {"text": _message(entry.problem)},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": _uri(entry.path)}}}],
    }


def _message(text: str) -> str:
    # Viewers make links of [text](target), in plain messages too.
    return clip(text, MAX_MESSAGE).replace("](", "] (")


def _uri(path: str) -> str:
    """Return a path as a relative URI reference, an absolute one as a `file` URI; its bytes as they are."""
    return ("file://" if path.startswith("/") else "") + quote(os.fsencode(path))
