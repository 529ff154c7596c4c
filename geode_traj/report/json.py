"""One JSON object, keys sorted."""

from __future__ import annotations

from collections.abc import Iterator

from geode_traj.model.report import Report
from geode_traj.report._line import line


def render(report: Report) -> Iterator[str]:
    """Yield the report as one line of JSON in its packaged schema."""
    if report.list_key is None:
        yield line(report.entries[0].data)
        return
    rows = [entry.data for entry in report.entries]
    value = {"schema_id": report.schema_id, **report.head, report.list_key: rows, "summary": report.summary}
    yield line(value)
