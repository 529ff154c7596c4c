"""Logs of GitHub Copilot CLI: what only growing files, several of them or marked members can show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.migrate import pipeline
from tests.support import cases
from tests.support.marked import marked

FIXTURES = cases.FIXTURES.parent / "copilot-cli"
SESSION = "5d1c0000-0000-4000-8000-00000000000"
CASES = ["session", "resume", "sub-agents", "prompt-hooks", "calls", "usage", "media", "odd-shapes"]


def log(name: str) -> Path:
    return FIXTURES / name / "input" / "events.jsonl"


def said(store: Path) -> list[tuple[Any, ...]]:
    """Return what the store holds, without what tells from which state of a file it came."""
    out = []
    for row in pipeline.rows(store):
        payload = json.loads(row.payload_json)
        payload["_legacy"].pop("source_digest")
        payload.pop("_derived", None)  # the first record's time is known once there is a later one
        out.append((row.event_id, row.session_id, row.session_generation, row.kind, row.call_id, payload))
    return out


@pytest.mark.parametrize("name", CASES)
def test_a_log_that_grows_line_by_line_gives_what_it_gives_at_once(name: str, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    lines = log(name).read_bytes().splitlines(keepends=True)
    for count in range(1, len(lines) + 1):
        path.write_bytes(b"".join(lines[:count]))
        (receipt,) = pipeline.migrate(tmp_path / "grown" / "sessions.db", path)
        assert receipt.balanced
    pipeline.migrate(tmp_path / "whole" / "sessions.db", path)
    assert said(tmp_path / "grown" / "sessions.db") == said(tmp_path / "whole" / "sessions.db")


def test_a_sub_agent_is_linked_to_the_session_that_started_it(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, log("sub-agents"))
    main = f"{SESSION}3"
    assert pipeline.sql(store, "SELECT session_id, kind, target FROM traj_links ORDER BY session_id") == [
        (f"{main}/agent-a1", "parent", main),
        (f"{main}/agent-b1", "parent", f"{main}/agent-a1"),
    ]


def test_a_log_without_its_start_is_named_after_its_folder(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}1" / "events.jsonl"
    path.parent.mkdir()
    path.write_bytes(log("session").read_bytes().split(b"\n", 1)[1])
    store = tmp_path / "store" / "sessions.db"
    pipeline.migrate(store, path)
    assert {row.session_id for row in pipeline.rows(store)} == {f"{SESSION}1"}


def test_events_that_another_log_repeats_are_stored_once(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in log("session").read_text().splitlines()]
    rows[0]["data"]["sessionId"] = "another"
    rows.append({**rows[3], "id": "new", "data": {"content": "And then?"}})
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, log("session"))
    (second,) = pipeline.migrate(store, pipeline.write_lines(tmp_path / "b" / "events.jsonl", rows))
    own = [row.kind for row in pipeline.rows(store) if row.session_id == "another"]
    assert own == ["session.started", "message.user"]
    assert ("another", "copy", f"{SESSION}1") in pipeline.sql(
        store, "SELECT session_id, kind, target FROM traj_links"
    )
    assert second.new == 2


@pytest.mark.parametrize("name", CASES)
def test_a_member_that_nobody_knows_is_kept(name: str, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in log(name).read_text().splitlines()]
    texts = [text for number, row in enumerate(rows) for text in marked(row, str(number))]
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "events.jsonl", rows))
    kept = pipeline.export(store, *sorted({row.session_id for row in pipeline.rows(store)})).decode()
    assert [text for text in texts if f'"{text}"' not in kept and f'\\"{text}\\"' not in kept] == []
