"""JUnit XML: each input a test case, which fails on the findings that make the run fail."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from typing import Final

from geode_traj.codec.text import clip, neutralise
from geode_traj.model.finding import Finding
from geode_traj.model.report import Entry, Report
from geode_traj.report._places import MAX_MESSAGE, in_words, rank, span_unit

# What neutralising leaves and XML 1.0 cannot hold.
_NO_XML: Final = re.compile("[\ufffe\uffff]")


def render(report: Report) -> Iterator[str]:
    """Yield the lines of one `testsuites` document, without times: the same report is the same bytes."""
    suite = report.schema_id.partition("@")[0]
    failures = sum(bool(report.failing(entry)) for entry in report.entries)
    errors = sum(bool(entry.problem) for entry in report.entries)
    counts = f'tests="{len(report.entries)}" failures="{failures}" errors="{errors}"'
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f"<testsuites {counts}>"
    yield f'<testsuite name="{suite}" {counts} skipped="0">'
    for entry in report.entries:
        yield from _case(entry, report.failing(entry), suite, span_unit(report))
    yield "</testsuite>"
    yield "</testsuites>"


def _case(entry: Entry, failing: list[Finding], suite: str, unit: str) -> Iterator[str]:
    failing_ids = {id(found) for found in failing}
    others = [found for found in entry.findings if id(found) not in failing_ids]
    yield f'<testcase classname="{suite}" name="{_xml(clip(entry.name, MAX_MESSAGE))}">'
    if entry.problem:
        yield f'<error message="{_xml(clip(entry.problem, MAX_MESSAGE))}"/>'
    if failing:
        first = min(failing, key=rank)
        more = f" and {len(failing) - 1} more" if len(failing) > 1 else ""
        message = clip(f"{first.code} {first.message}", MAX_MESSAGE)
        yield f'<failure type="{_xml(first.code)}" message="{_xml(message + more)}">'
        yield from _lines(failing, entry, unit)
        yield "</failure>"
    yield "<system-out>"
    yield _xml(neutralise(entry.headline))
    yield from _lines(others, entry, unit)
    yield "</system-out>"
    yield "</testcase>"


def _lines(findings: Iterable[Finding], entry: Entry, unit: str) -> Iterator[str]:
    for found in sorted(findings, key=rank):
        where = in_words(found.place, entry.path, unit)
        line = f"{found.severity} {found.code} {clip(found.message, MAX_MESSAGE)}"
        line += (f" at {where}" if where else "") + (" (known)" if found.known else "")
        yield _xml(line)


def _xml(text: str) -> str:
    return html.escape(_NO_XML.sub("\ufffd", text))
