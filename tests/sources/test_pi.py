"""Sessions of Pi and its kin: what only several imports can show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geode_traj.sources import base
from tests.migrate import pipeline
from tests.support import cases
from tests.support.marked import marked

FIXTURES = cases.FIXTURES.parent / "pi"


def only(name: str) -> Path:
    (path,) = (FIXTURES / name / "input").glob("*.jsonl")
    return path


def said(store: Path) -> list[tuple[str, str, str, str, Any]]:
    """Return what the store holds, without what tells from which state of a file it came."""
    out = []
    for row in pipeline.rows(store):
        payload = json.loads(row.payload_json)
        payload["_legacy"].pop("source_digest")
        out.append((row.event_id, row.session_id, row.kind, row.call_id, payload))
    return out


@pytest.mark.parametrize("name", ["tree", "calls", "usage", "odd-shapes", "times", "kin", "dangling"])
def test_a_file_that_grows_line_by_line_gives_what_it_gives_at_once(name: str, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    lines = only(name).read_bytes().splitlines(keepends=True)
    for count in range(1, len(lines) + 1):
        path.write_bytes(b"".join(lines[:count]))
        (receipt,) = pipeline.migrate(tmp_path / "grown" / "sessions.db", path)
        assert receipt.balanced
    pipeline.migrate(tmp_path / "whole" / "sessions.db", path)
    assert said(tmp_path / "grown" / "sessions.db") == said(tmp_path / "whole" / "sessions.db")


def links(store: Path) -> list[tuple[Any, ...]]:
    return pipeline.sql(store, "SELECT session_id, kind, target FROM traj_links ORDER BY session_id, kind")


def test_a_fork_is_linked_to_what_it_repeats_and_a_sub_agent_to_its_parent(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, FIXTURES / "fork" / "input", FIXTURES / "kin" / "input")
    parent, child, helper = (f"0197b2c0-0000-7000-8000-00000000{end}" for end in ("0008", "0009", "000c"))
    assert links(store) == [
        (child, "copy", parent),
        (child, "fork", parent),
        (helper, "parent", "0197b2c0-0000-7000-8000-000000000099"),
    ]


def test_entries_that_say_the_same_in_other_sessions_are_no_copies(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in only("calls").read_text().splitlines()]
    first = pipeline.write_lines(tmp_path / "first.jsonl", rows)
    rows[0]["id"] = "another"
    for number, row in enumerate(rows[1:]):
        row["id"], row["parentId"] = f"f{number:07x}", f"f{number - 1:07x}" if number else None
    second = pipeline.write_lines(tmp_path / "second.jsonl", rows)
    store = tmp_path / "sessions.db"
    one, two = pipeline.migrate(store, first, second)
    assert (one.new, two.new, links(store)) == (one.new, one.new, [])


def test_a_file_that_the_program_rewrote_with_ids_is_the_same_session(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    rows = [json.loads(line) for line in only("v1").read_text().splitlines()]
    pipeline.write_lines(path, rows)
    store = tmp_path / "sessions.db"
    (before,) = pipeline.migrate(store, path)
    stored = pipeline.facts(store)
    rows[0]["version"] = 3
    for number, row in enumerate(rows[1:], start=1):
        row["id"], row["parentId"] = f"e{number:07x}", f"e{number - 1:07x}" if number > 1 else None
        if "firstKeptEntryIndex" in row:
            del row["firstKeptEntryIndex"]
            row["firstKeptEntryId"] = "e0000001"
        if row.get("message", {}).get("role") == "hookMessage":
            row["message"]["role"] = "custom"
    new = {"type": "label", "id": "e00000ff", "parentId": "e0000006", "timestamp": "2026-03-01T11:00:00.000Z"}
    pipeline.write_lines(path, [*rows, new])
    (after,) = pipeline.migrate(store, path)
    assert (after.new, after.known) == (1, before.new)
    assert [row.event_id for row in pipeline.rows(store)][:-1] == [row.event_id for row in stored]


def test_the_same_session_with_other_line_ends_is_the_same(tmp_path: Path) -> None:
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(b"\xef\xbb\xbf" + only("tree").read_bytes().replace(b"\n", b"\r\n"))
    store = tmp_path / "sessions.db"
    (first,) = pipeline.migrate(store, only("tree"))
    before = pipeline.facts(store)
    (receipt,) = pipeline.migrate(store, copy)
    assert (receipt.new, receipt.known) == (0, first.new)
    assert pipeline.facts(store) == before


def test_a_session_that_lost_its_head_is_named_after_its_file(tmp_path: Path) -> None:
    path = tmp_path / only("tree").name
    path.write_bytes(only("tree").read_bytes().split(b"\n", 1)[1])
    store = tmp_path / "store" / "sessions.db"
    pipeline.migrate(store, path)
    assert {row.session_id for row in pipeline.rows(store)} == {"0197b2c0-0000-7000-8000-000000000001"}


def test_a_head_that_names_a_harness_is_pis_where_entries_are(tmp_path: Path) -> None:
    head, *rows = (json.loads(line) for line in only("tree").read_text().splitlines())
    path = pipeline.write_lines(tmp_path / "session.jsonl", [{**head, "harness": "example"}, *rows])
    data = path.read_bytes()
    assert base.detect(base.Probe(data, data, path)).name == "pi"


def test_ten_thousand_branches_take_linear_time(tmp_path: Path) -> None:
    rows = [{"type": "session", "version": 3, "id": "wide", "timestamp": "2026-03-01T10:00:00.000Z"}]
    for number in range(10_000):
        said = {"role": "user", "content": str(number)}
        row = {"type": "message", "id": f"e{number}", "parentId": "e0" if number else None, "message": said}
        rows.append({**row, "timestamp": "2026-03-01T10:00:01.000Z"})
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "session.jsonl", rows))
    branches = [payload.get("branch") for payload in pipeline.payloads(store)]
    assert branches == [None, "active", *["abandoned"] * 9_998, "active"]


@pytest.mark.parametrize("name", ["tree", "calls", "usage", "odd-shapes", "kin", "v1"])
def test_a_member_that_nobody_knows_is_kept(name: str, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in only(name).read_text().splitlines()]
    texts = [text for number, row in enumerate(rows) for text in marked(row, str(number))]
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "session.jsonl", rows))
    kept = pipeline.export(store, *sorted({row.session_id for row in pipeline.rows(store)})).decode()
    assert [text for text in texts if f'"{text}"' not in kept and f'\\"{text}\\"' not in kept] == []
