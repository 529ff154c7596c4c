"""For people: each input with its verdict and its findings, worst first, safe for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from geode_traj.codec.text import clip, neutralise
from geode_traj.model.finding import Finding
from geode_traj.model.report import Entry, Report
from geode_traj.report._places import MAX_MESSAGE, in_words, rank, span_unit

MAX_PLACES: Final = 5


def render(report: Report) -> Iterator[str]:
    """Yield lines; equal findings stand together with their first places, what is known after what is new."""
    unit = span_unit(report)
    for entry in report.entries:
        yield f"{clip(entry.name, 200)}: {neutralise(entry.headline)}"
        for _, group in groupby(sorted(entry.findings, key=rank), key=rank):
            yield from _group(list(group), entry, unit)
    if len(report.entries) != 1:
        yield "  ".join(f"{name} {count}" for name, count in report.summary.items()) or "nothing found"


def _group(group: list[Finding], entry: Entry, unit: str) -> Iterator[str]:
    first = group[0]
    times = f" ({len(group)} times)" if len(group) > 1 else ""
    known = " (known)" if first.known else ""
    yield f"  {first.severity:<7} {first.code}  {clip(first.message, MAX_MESSAGE)}{times}{known}"
    more = f" and {len(group) - MAX_PLACES} more" if len(group) > MAX_PLACES else ""
    shown = group[:MAX_PLACES]
    if any(found.place.line in entry.lines for found in shown):
        for found in shown:
            line = entry.lines.get(found.place.line or 0, "")
            yield f"          at {in_words(found.place, entry.path, unit)}" + (f": {line}" if line else "")
        if more:
            yield f"         {more}"
    elif places := [text for text in (in_words(found.place, entry.path, unit) for found in group) if text]:
        yield f"          at {'; '.join(places[:MAX_PLACES])}{more}"
    if first.hint:
        yield f"          hint: {neutralise(first.hint)}"
