"""Hugging Face session traces: what only several imports can show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geode_traj.sources import base
from tests.migrate import pipeline
from tests.support import cases

FIXTURES = cases.FIXTURES.parent / "hf_sts"
TRACE = FIXTURES / "session" / "input" / "a.jsonl"


def test_a_trace_that_grows_line_by_line_gives_what_it_gives_at_once(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    lines = TRACE.read_bytes().splitlines(keepends=True)
    for count in range(1, len(lines) + 1):
        path.write_bytes(b"".join(lines[:count]))
        (receipt,) = pipeline.migrate(tmp_path / "grown" / "sessions.db", path)
        assert receipt.balanced
    pipeline.migrate(tmp_path / "whole" / "sessions.db", path)
    grown, whole = (pipeline.rows(tmp_path / folder / "sessions.db") for folder in ("grown", "whole"))
    assert [(row.event_id, row.kind, row.call_id) for row in grown] == [
        (row.event_id, row.kind, row.call_id) for row in whole
    ]


def test_the_same_trace_with_other_line_ends_is_the_same(tmp_path: Path) -> None:
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(b"\xef\xbb\xbf" + TRACE.read_bytes().replace(b"\n", b"\r\n"))
    store = tmp_path / "sessions.db"
    (first,) = pipeline.migrate(store, TRACE)
    (receipt,) = pipeline.migrate(store, copy)
    assert (receipt.new, receipt.known) == (0, first.new)


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ([{"type": "session", "harness": "llama.app", "id": "s"}], "hf-sts"),
        ([{"type": "message", "message": {"role": "user", "content": "head lost"}}], "hf-sts"),
        ([{"type": "session", "id": "s"}], None),
        ([{"type": "message", "message": {"role": "nobody"}}], None),
        ([{"type": "session", "id": "s", "timestamp": "2026-03-01T10:00:00Z"}], "pi"),
        (
            [
                {"type": "session", "harness": "pi", "id": "s"},
                {"type": "message", "message": {"role": "toolResult", "toolCallId": "t"}},
            ],
            "pi",
        ),
    ],
)
def test_told_apart_from_pi(rows: list[dict[str, object]], name: str | None) -> None:
    data = "\n".join(map(json.dumps, rows)).encode()
    found = [one.name for one in base.all_sources().values() if one.detect(base.Probe(data, data))]
    assert found == ([name] if name else [])
