"""Cursor agent transcripts: what only growing files, paths or marked members can show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geode_traj.sources.cursor.said import time_told
from tests.migrate import pipeline
from tests.support import cases
from tests.support.marked import marked

FIXTURES = cases.FIXTURES.parent / "cursor"
CASES = ["conversation", "results", "media", "odd-shapes"]


def only(name: str) -> Path:
    (path,) = (FIXTURES / name / "input").glob("*.jsonl")
    return path


def said(store: Path) -> list[tuple[Any, ...]]:
    """Return what the store holds, without what tells from which state of a file it came."""
    out = []
    for row in pipeline.rows(store):
        payload = json.loads(row.payload_json)
        payload["_legacy"].pop("source_digest")
        payload.pop("_derived", None)  # the first record's time is known once there is a later one
        out.append((row.event_id, row.session_id, row.kind, row.call_id, payload))
    return out


@pytest.mark.parametrize("name", CASES)
def test_a_transcript_that_grows_line_by_line_gives_what_it_gives_at_once(name: str, tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    lines = only(name).read_bytes().splitlines(keepends=True)
    for count in range(1, len(lines) + 1):
        path.write_bytes(b"".join(lines[:count]))
        (receipt,) = pipeline.migrate(tmp_path / "grown" / "sessions.db", path)
        assert receipt.balanced
    pipeline.migrate(tmp_path / "whole" / "sessions.db", path)
    assert said(tmp_path / "grown" / "sessions.db") == said(tmp_path / "whole" / "sessions.db")


def test_a_transcript_in_the_folder_of_another_is_its_sub_agents(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, FIXTURES / "sub-agent" / "input")
    parent, child = (f"7c000000-0000-4000-8000-0000000000{end}" for end in ("f1", "f2"))
    assert pipeline.sql(store, "SELECT session_id, kind, target FROM traj_links") == [
        (child, "parent", parent)
    ]


@pytest.mark.parametrize(
    ("zone", "hour"), [("", 11), ("+0", 11), ("-7", 18), ("+2", 9), ("+5:30", 5.5), ("-12", 23)]
)
def test_a_prompt_tells_its_time_in_its_own_zone(zone: str, hour: float) -> None:
    text = f"<timestamp>Sunday, Aug 23, 2026, 11:00 AM (UTC{zone})</timestamp>\n<user_query>x</user_query>"
    row = {"role": "user", "message": {"content": text}}
    assert time_told(row) == 1_787_443_200 + hour * 3600
    assert time_told({**row, "role": "assistant"}) is None


@pytest.mark.parametrize("name", CASES)
def test_a_member_that_nobody_knows_is_kept(name: str, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in only(name).read_text().splitlines()]
    known = [json.loads(line) for line in only("conversation").read_text().splitlines()]
    texts = [text for number, row in enumerate(rows) for text in marked(row, str(number))]
    store = tmp_path / "sessions.db"
    # A transcript is known by rows that say nothing more; they stand before the marked ones.
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "t.jsonl", [*known, *known, *known, *rows]))
    kept = pipeline.export(store, *sorted({row.session_id for row in pipeline.rows(store)})).decode()
    assert [text for text in texts if f'"{text}"' not in kept and f'\\"{text}\\"' not in kept] == []
