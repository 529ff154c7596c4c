"""For people: each input with its verdict and its findings, worst first, safe for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from geode_traj.codec.text import clip, neutralise
from geode_traj.model.finding import Finding, Place
from geode_traj.model.report import Report

_ORDER: Final = {"error": 0, "warning": 1, "note": 2}
MAX_PLACES: Final = 5


def render(report: Report) -> Iterator[str]:
    """Yield lines; equal findings stand together with their first places."""
    for entry in report.entries:
        yield f"{clip(entry.name, 200)}: {neutralise(entry.headline)}"
        ranked = sorted(entry.findings, key=lambda found: (_ORDER[found.severity], found.code, found.message))
        for (severity, code, message), group in groupby(ranked, key=_same):
            yield from _finding(severity, code, message, list(group), entry.name)
    if len(report.entries) != 1:
        yield "  ".join(f"{name} {count}" for name, count in report.summary.items()) or "nothing found"


def _same(found: Finding) -> tuple[str, str, str]:
    return found.severity, found.code, found.message


def _finding(severity: str, code: str, message: str, group: list[Finding], name: str) -> Iterator[str]:
    times = f" ({len(group)} times)" if len(group) > 1 else ""
    yield f"  {severity:<7} {code}  {clip(message, 300)}{times}"
    places = [text for text in (_place(found.place, name) for found in group) if text]
    if places:
        more = f" and {len(places) - MAX_PLACES} more" if len(places) > MAX_PLACES else ""
        yield f"          at {'; '.join(places[:MAX_PLACES])}{more}"
    if group[0].hint:
        yield f"          hint: {group[0].hint}"


def _place(place: Place, name: str) -> str:
    """Say where, leaving out the file that the entry is about."""
    parts = [clip(place.file, 120)] if place.file and place.file != name else []
    if place.ordinal is not None:
        parts.append(f"event {place.ordinal}")
    if place.line is not None:
        parts.append(f"line {place.line}")
    if place.pointer:
        parts.append(clip(place.pointer, 120))
    if place.span is not None:
        parts.append(f"characters {place.span[0]}-{place.span[1]}")
    return ", ".join(parts)
