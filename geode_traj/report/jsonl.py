"""One JSON object an input."""

from __future__ import annotations

from collections.abc import Iterator

from geode_traj.model.report import Report
from geode_traj.report._line import line


def render(report: Report) -> Iterator[str]:
    """Yield each input's row of the report."""
    for entry in report.entries:
        yield line(entry.data)
