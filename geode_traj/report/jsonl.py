"""One JSON object an input."""

from __future__ import annotations

from collections.abc import Iterator

from geode_traj.codec.canonical import dumps
from geode_traj.model.report import Report


def render(report: Report) -> Iterator[str]:
    """Yield each input's row of the report."""
    for entry in report.entries:
        yield dumps(entry.data).decode()
