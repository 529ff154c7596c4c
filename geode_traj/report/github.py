"""GitHub workflow commands: each finding an annotation at its file and line.

Every line is one command, and nothing from data can start another: hidden characters are made visible, and
what the runner reads as syntax is escaped as it unescapes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from geode_traj.codec.text import clip, neutralise
from geode_traj.model.finding import Finding
from geode_traj.model.report import Entry, Report
from geode_traj.report._places import MAX_MESSAGE, in_words, rank, span_unit

_COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report) -> Iterator[str]:
    """Yield annotations, worst first over all inputs, because GitHub shows only the first of a step.

    What is known is a notice. The last line is the summary.
    """
    pairs = [(found, entry) for entry in report.entries for found in entry.findings]
    for entry in report.entries:
        if entry.problem:
            yield _command("error", entry.problem, file=entry.path, title="geode-traj")
    for found, entry in sorted(pairs, key=lambda pair: rank(pair[0])):
        yield _finding(found, entry, span_unit(report))
    total = ", ".join(f"{count} {name}" for name, count in report.summary.items())
    headline = report.entries[0].headline if len(report.entries) == 1 else total
    yield _command("notice", headline or "nothing found", title="geode-traj")


def _finding(found: Finding, entry: Entry, unit: str) -> str:
    place = found.place
    where = in_words(place, place.file or entry.path, unit)
    message = found.message + (f" (at {where})" if where else "")
    message += f"; hint: {found.hint}" if found.hint else ""
    title = found.code + (" (known)" if found.known else "")
    properties = {"file": entry.path_of(place.file), "title": title}
    if place.line is not None:
        properties["line"] = str(place.line)
    return _command("notice" if found.known else _COMMANDS[found.severity], message, **properties)


def _command(name: str, message: str, **properties: str) -> str:
    given = ",".join(f"{key}={_property(value)}" for key, value in sorted(properties.items()))
    return f"::{name} {given}::{_data(clip(message, 2 * MAX_MESSAGE))}"


def _data(text: str) -> str:
    return neutralise(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
