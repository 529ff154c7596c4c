"""A report before it is rendered: what was looked at, what was found, a summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from geode_traj.model.finding import Finding


@dataclass(frozen=True, slots=True)
class Entry:
    """One input: its name, a headline for people, its findings, and its row of the machine shape."""

    name: str
    headline: str
    findings: tuple[Finding, ...]
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report: `head` and `summary` as the schema names them, entries under `list_key`.

    Without a `list_key` the report is about one thing, and its only entry's row is the whole machine shape.
    """

    schema_id: str
    head: dict[str, Any]
    list_key: str | None
    entries: tuple[Entry, ...]
    summary: dict[str, Any]
