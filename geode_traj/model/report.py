"""A report before it is rendered: what was looked at, what was found, a summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from geode_traj.model.finding import Finding, Severity
from geode_traj.model.page import Page


@dataclass(frozen=True, slots=True)
class Entry:
    """One input: its name, a headline for people, its findings, and its row of the machine shape.

    `file`: the path it is in, where its name is longer (a session of a file). `is_folder`: the files of its
    findings lie below it. `problem`: why it does not count as good where no finding says so, as when a part
    could not be looked at. `lines`: what stands on lines of it that findings name, for people.
    """

    name: str
    headline: str
    findings: tuple[Finding, ...]
    data: dict[str, Any]
    file: str = ""
    is_folder: bool = False
    problem: str = ""
    lines: Mapping[int, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """The path of the file or folder that was looked at."""
        return self.file or self.name

    def path_of(self, file: str | None) -> str:
        """Return the path, as the input was named, of a file that a place names."""
        if file is None or file in (self.name, self.file):
            return self.path
        return f"{self.name.rstrip('/')}/{file}" if self.is_folder else file


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report: `head` and `summary` as the schema names them, entries under `list_key`.

    Without a `list_key` the report is about one thing, and its only entry's row is the whole machine shape.
    `fails`: the severities that make a run fail, unless the finding is known. `pages`: what the codes mean.
    """

    schema_id: str
    head: dict[str, Any]
    list_key: str | None
    entries: tuple[Entry, ...]
    summary: dict[str, Any]
    fails: tuple[Severity, ...] = ("error",)
    pages: Mapping[str, Page] = field(default_factory=dict)

    def failing(self, entry: Entry) -> list[Finding]:
        """Return the findings of an entry that make the run fail."""
        return [found for found in entry.findings if found.severity in self.fails and not found.known]
