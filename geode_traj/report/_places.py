"""What several renderers share: the order of findings, and places in words."""

from __future__ import annotations

from typing import Final

from geode_traj.codec.text import clip
from geode_traj.model.finding import Finding, Place
from geode_traj.model.report import Report

_ORDER: Final = {"error": 0, "warning": 1, "note": 2}
_BYTES: Final = "bytes"
MAX_MESSAGE: Final = 300


def rank(found: Finding) -> tuple[bool, int, str, str]:
    """Sort key: what is new before what is known, worst first, then by code and message."""
    return found.known, _ORDER[found.severity], found.code, found.message


def span_unit(report: Report) -> str:
    """Return what spans count: bytes of the file, in scans characters of the text at the pointer."""
    return "characters" if report.schema_id.startswith("geode-traj.scan-report@") else _BYTES


def in_words(place: Place, name: str, unit: str) -> str:
    """Say where, leaving out the file that the entry is about; what hides in names is made visible.

    `unit` is what spans count (`span_unit`).
    """
    parts = [clip(place.file, 120)] if place.file and place.file != name else []
    if place.ordinal is not None:
        parts.append(f"event {place.ordinal}")
    if place.line is not None:
        parts.append(f"line {place.line}")
    if place.pointer:
        parts.append(clip(place.pointer, 120))
    if place.span is not None and (place.line is None or unit != _BYTES):  # a line is where people look
        parts.append(f"{unit} {place.span[0]}-{place.span[1]}")
    return ", ".join(parts)
