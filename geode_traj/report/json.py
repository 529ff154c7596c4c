"""One JSON object, keys sorted."""

from __future__ import annotations

from collections.abc import Iterator

from geode_traj.codec.canonical import dumps
from geode_traj.model.report import Report


def render(report: Report) -> Iterator[str]:
    """Yield the report as one line of JSON in its packaged schema."""
    if report.list_key is None:
        yield dumps(report.entries[0].data).decode()
        return
    rows = [entry.data for entry in report.entries]
    value = {"schema_id": report.schema_id, **report.head, report.list_key: rows, "summary": report.summary}
    yield dumps(value).decode()
