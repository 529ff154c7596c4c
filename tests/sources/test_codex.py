"""Codex rollouts: what only several imports can show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geode_traj.sources import base
from tests.migrate import pipeline
from tests.support import cases
from tests.support.marked import marked

FIXTURES = cases.FIXTURES.parent / "codex"
CASES = sorted(path.parent for path in FIXTURES.glob("*/expect.json"))


def said(store: Path) -> list[tuple[str, str, str, str, str, object]]:
    """Return what the store holds, without what tells from which state of a file it came."""
    out = []
    for row in pipeline.rows(store):
        payload = json.loads(row.payload_json)
        payload["_legacy"].pop("source_digest")
        out.append((row.event_id, row.session_id, row.kind, row.turn_id, row.call_id, payload))
    return out


@pytest.mark.parametrize("name", ["calls", "compaction", "encodings", "turns", "usage", "sub-agents"])
def test_a_file_that_grows_line_by_line_gives_what_it_gives_at_once(name: str, tmp_path: Path) -> None:
    source = next((FIXTURES / name / "input").glob("*.jsonl")).read_bytes()
    path = tmp_path / "rollout.jsonl"
    lines = source.splitlines(keepends=True)
    for count in range(1, len(lines) + 1):
        path.write_bytes(b"".join(lines[:count]))
        (receipt,) = pipeline.migrate(tmp_path / "grown" / "sessions.db", path)
        assert receipt.balanced
    pipeline.migrate(tmp_path / "whole" / "sessions.db", path)
    grown, whole = (said(tmp_path / folder / "sessions.db") for folder in ("grown", "whole"))
    assert grown == whole


def fork(tmp_path: Path) -> tuple[Path, Path]:
    case = cases.render(FIXTURES / "fork", tmp_path)
    return case / "input" / "a-parent.jsonl", case / "input" / "b-child.jsonl"


def test_a_fork_twice_is_a_fork_once(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    for status in ({"imported", "extended"}, {"unchanged"}):
        receipts = pipeline.migrate(store, *fork(tmp_path / status.copy().pop()))
        assert {receipt.status for receipt in receipts} == status
        assert len(pipeline.rows(store)) == 13


def test_a_fork_that_comes_first_takes_nothing_from_its_parent(tmp_path: Path) -> None:
    parent, child = fork(tmp_path)
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, child)
    pipeline.migrate(store, parent)
    per_session = {
        name: [row for row in pipeline.rows(store) if row.session_id == name] for name in ("parent", "child")
    }
    assert {name: len(rows) for name, rows in per_session.items()} == {"parent": 9, "child": 10}
    assert pipeline.document(store, "child")["source"]["parents"] == ["parent"]


def test_a_fork_of_a_fork_keeps_only_its_own(tmp_path: Path) -> None:
    parent, child = fork(tmp_path)
    lines = child.read_text().splitlines()
    head = json.loads(lines[0])
    head["payload"] |= {"id": "grandchild", "forked_from_id": "child"}
    own = json.loads(lines[-2])
    own["payload"]["content"][0]["text"] = "third answer"
    grandchild = pipeline.write_lines(tmp_path / "grandchild.jsonl", [head, *lines, own])
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, parent, child, grandchild)
    kept = [json.loads(row.payload_json) for row in pipeline.rows(store) if row.session_id == "grandchild"]
    assert [payload.get("content") for payload in kept if "content" in payload] == ["third answer"]


def test_siblings_that_say_the_same_keep_it_each(tmp_path: Path) -> None:
    parent, child = fork(tmp_path)
    sibling = tmp_path / "sibling.jsonl"
    sibling.write_text(child.read_text().replace('"id": "child"', '"id": "sibling"'))
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, parent)
    pipeline.migrate(store, child)
    pipeline.migrate(store, sibling)
    texts = [
        [
            json.loads(row.payload_json).get("content")
            for row in pipeline.rows(store)
            if row.session_id == name
        ]
        for name in ("child", "sibling")
    ]
    assert texts[0] == texts[1] == [None, "another two", "second answer", None]


def test_the_same_session_with_other_line_ends_is_the_same(tmp_path: Path) -> None:
    parent, _ = fork(tmp_path)
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(b"\xef\xbb\xbf" + parent.read_bytes().replace(b"\n", b"\r\n"))
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, parent)
    before = pipeline.facts(store)
    (receipt,) = pipeline.migrate(store, copy)
    assert (receipt.new, receipt.known) == (0, 9)
    assert pipeline.facts(store) == before


def test_links_of_sub_agents_and_forks(tmp_path: Path) -> None:
    case = cases.render(FIXTURES / "sub-agents", tmp_path)
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, case / "input", *fork(tmp_path))
    links = pipeline.sql(store, "SELECT session_id, kind, target FROM traj_links ORDER BY session_id, kind")
    assert links == [("child", "copy", "parent"), ("child", "fork", "parent"), ("helper", "parent", "main")]


def test_a_first_line_longer_than_the_look_is_known(tmp_path: Path) -> None:
    lines = (FIXTURES / "turns" / "input" / "rollout.jsonl").read_text().splitlines()
    head = json.loads(lines[0])
    head["payload"]["base_instructions"] = {"text": "word " * 100_000}
    path = pipeline.write_lines(tmp_path / "long.jsonl", [head, *lines[1:]])
    (receipt,) = pipeline.migrate(tmp_path / "sessions.db", path)
    assert (receipt.format, receipt.status, receipt.converted) == ("codex", "imported", len(lines))


def test_each_file_of_the_cases_is_of_this_format_alone(tmp_path: Path) -> None:
    for folder in CASES:
        for path in sorted((cases.render(folder, tmp_path) / "input").iterdir()):
            data = path.read_bytes()
            probe = base.Probe(data[: base.HEAD_BYTES], data[-base.TAIL_BYTES :], path)
            assert base.detect(probe).name == "codex", path


@pytest.mark.parametrize(
    "name", ["calls", "compaction", "encodings", "odd-shapes", "reasoning", "sub-agents", "turns"]
)
def test_a_member_that_nobody_knows_is_kept(name: str, tmp_path: Path) -> None:
    source = next((FIXTURES / name / "input").glob("*.jsonl"))
    rows = [json.loads(line) for line in source.read_text().splitlines()]
    texts = [text for number, row in enumerate(rows) for text in marked(row, str(number))]
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "rollout.jsonl", rows))
    kept = pipeline.export(store, *sorted({row.session_id for row in pipeline.rows(store)})).decode()
    assert [text for text in texts if f'"{text}"' not in kept and f'\\"{text}\\"' not in kept] == []
