"""Hermes's formats: every case, and what a living store does to ours."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from geode_traj.codec import sqlite_in
from geode_traj.migrate.plan import plan
from geode_traj.sources.hermes import session, tagged
from geode_traj.sources.hermes.parts import call_arguments, content
from tests.migrate import pipeline
from tests.support import cases, databases, secrets

FIXTURES = cases.FIXTURES.parent / "hermes"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return cases.render(FIXTURES / "state-session", tmp_path) / "input" / "state.db"


def add(path: Path, *rows: dict) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        for row in rows:
            databases.insert(db, "messages", row)


def look(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.iterdir())}


def test_the_store_is_read_and_never_touched(state: Path, tmp_path: Path) -> None:
    before = look(state.parent)
    pipeline.migrate(tmp_path / "s.db", state)
    assert look(state.parent) == before


def test_rows_that_only_the_log_holds_are_seen(state: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(state)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        with writer:
            databases.insert(
                writer, "messages", {"id": 900, "session_id": "s1", "role": "user", "content": "new"}
            )
        before = (state.read_bytes(), state.with_name("state.db-wal").read_bytes())
        assert b"new" not in before[0]
        (receipt,) = pipeline.migrate(tmp_path / "s.db", state)
        assert receipt.total == 9
        assert (state.read_bytes(), state.with_name("state.db-wal").read_bytes()) == before
    assert "new" in [payload.get("content") for payload in pipeline.payloads(tmp_path / "s.db")]


def test_a_session_that_goes_on_supersedes_its_earlier_state(state: Path, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    pipeline.migrate(store, state)
    add(state, {"id": 901, "session_id": "s1", "role": "user", "content": "more"})
    with closing(sqlite3.connect(state)) as db, db:
        db.execute("UPDATE sessions SET ended_at = NULL, end_reason = NULL, message_count = 8")
        db.execute("UPDATE messages SET active = 0 WHERE id = 106")
    (receipt,) = pipeline.migrate(store, state)
    assert (receipt.status, receipt.balanced) == ("superseded", True)
    kinds = [row.kind for row in pipeline.rows(store)]
    assert kinds.count("session.started") == 1 and "session.ended" not in kinds
    assert {row.session_generation for row in pipeline.rows(store)} == {1}
    assert [p["content"] for p in pipeline.payloads(store) if p.get("branch") == "abandoned"] == ["One file."]
    (again,) = pipeline.migrate(store, state)
    assert again.status == "unchanged"


def test_a_store_that_was_put_back_is_read_as_it_is_now(state: Path, tmp_path: Path) -> None:
    store, kept = tmp_path / "s.db", state.read_bytes()
    pipeline.migrate(store, state)
    first = pipeline.facts(store)
    add(state, {"id": 901, "session_id": "s1", "role": "user", "content": "more"})
    pipeline.migrate(store, state)
    assert len(pipeline.rows(store)) == len(first) + 1
    state.write_bytes(kept)
    (receipt,) = pipeline.migrate(store, state)
    assert (receipt.status, receipt.new, receipt.balanced) == ("superseded", 0, True)
    assert pipeline.facts(store) == first
    (again,) = pipeline.migrate(store, state)
    assert again.status == "unchanged"


@pytest.mark.parametrize("known", [True, False], ids=["imported before", "never imported"])
def test_an_older_copy_elsewhere_takes_nothing_back(known: bool, state: Path, tmp_path: Path) -> None:
    store, older = tmp_path / "s.db", tmp_path / "backup" / "state.db"
    older.parent.mkdir()
    older.write_bytes(state.read_bytes())
    if known:
        pipeline.migrate(store, older)
    row = {"id": 901, "session_id": "s1", "role": "user", "content": "more", "timestamp": 1.9e9}
    add(state, row)
    pipeline.migrate(store, state)
    newest = pipeline.facts(store)
    for _ in range(2):
        (receipt,) = pipeline.migrate(store, older)
        assert (receipt.status, receipt.reason) == ("unchanged", "an earlier state of what is stored")
        assert pipeline.facts(store) == newest


def test_another_session_of_the_store_leaves_the_rest_unchanged(state: Path, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    pipeline.migrate(store, state)
    add(state, {"id": 902, "session_id": "s9", "role": "user", "content": "hi"})
    statuses = {receipt.source.split("#")[1]: receipt.status for receipt in pipeline.migrate(store, state)}
    assert statuses == {"s1": "unchanged", "s9": "imported"}


def test_a_later_state_meets_its_export_in_one_session(state: Path, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    row = {"id": "s1", "source": "cli", "started_at": 1788256800.0, "messages": [{"id": 101, "role": "user"}]}
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "export.jsonl", [row]))
    pipeline.migrate(store, state)
    assert [row.kind for row in pipeline.rows(store)].count("session.started") == 1


def links(store: Path) -> set[tuple]:
    return set(pipeline.sql(store, "SELECT session_id, kind, target FROM traj_links"))


def test_sessions_are_linked_to_where_they_come_from(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    pipeline.migrate(store, cases.render(FIXTURES / "state-lineage", tmp_path) / "input")
    assert links(store) == {
        ("k1", "resume", "p1"),
        ("k1", "copy", "p1"),
        ("b1", "fork", "p1"),
        ("b1", "copy", "p1"),
        ("d1", "parent", "p1"),
        ("r1", "resume", "gone"),
    }


def test_a_copy_beside_the_store_is_linked_to_it(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    pipeline.migrate(store, cases.render(FIXTURES / "dual-written", tmp_path) / "input")
    original = "20260901_ab"
    assert links(store) == {(f"{original}.{end}", "copy", original) for end in ("gateway", "log")}


def test_a_training_row_pairs_by_place(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    pipeline.migrate(store, cases.render(FIXTURES / "trajectory", tmp_path) / "input")
    longest = max({row.session_id for row in pipeline.rows(store)}, key=lambda one: one.endswith("-1"))
    rows = [row for row in pipeline.rows(store) if row.session_id == longest]
    tools = [
        (row.kind, row.call_id, json.loads(row.payload_json)["tool"])
        for row in rows
        if row.kind.startswith("tool.")
    ]
    assert tools == [
        ("tool.called", "call_1", "ls"),
        ("tool.called", "call_2", "cat"),
        ("tool.called", "", ""),
        ("tool.completed", "call_1", "ls"),
        ("tool.completed", "call_2", "cat"),
    ]
    said = {row.kind: json.loads(row.payload_json) for row in rows if row.kind == "message.assistant"}
    assert said["message.assistant"]["reasoning"] == {"status": "present", "text": "Enough."}
    assert rows[-1].kind == "session.ended" and rows[-1].status == "completed"
    assert json.loads(rows[0].payload_json)["_derived"] == {"occurred_at": "naive_as_utc"}


def test_a_geode_store_is_none_of_hermes(tmp_path: Path) -> None:
    ours = tmp_path / "sessions.db"
    pipeline.migrate(ours, pipeline.write_lines(tmp_path / "a.jsonl", pipeline.dialogue()))
    with closing(sqlite3.connect(ours)) as db, db:
        for table, columns in (
            ("sessions", "id TEXT"),
            ("messages", "id INTEGER, session_id TEXT, role TEXT, content TEXT"),
            ("schema_version", "version INTEGER"),
        ):
            db.execute(f"CREATE TABLE {table} ({columns})")
    (receipt,) = pipeline.migrate(tmp_path / "s.db", ours)
    assert receipt.format not in ("hermes-state", "nagato")


def test_a_damaged_store_fails_alone(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "state.db").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    pipeline.write_lines(folder / "a.jsonl", pipeline.dialogue())
    statuses = {
        receipt.source[-8:]: receipt.status for receipt in pipeline.migrate(tmp_path / "s.db", folder)
    }
    assert statuses["state.db"] == "failed" and statuses["/a.jsonl"] == "imported"


@pytest.mark.parametrize(
    ("own", "earlier", "compacted", "copies", "summary"),
    [
        ("ab", "abc", False, {0: 0, 1: 1}, None),
        ("axb", "abc", False, {0: 0}, None),
        ("sbc", "abc", True, {1: 1, 2: 2}, 0),
        ("ascd", "abcd", True, {0: 0, 2: 2, 3: 3}, 1),
        ("sb", "abc", True, {}, 0),
        ("abc", "abc", True, {0: 0, 1: 1, 2: 2}, None),
        ("saaab", "aaa", True, {1: 0, 2: 1, 3: 2}, 0),
        ("", "abc", True, {}, None),
    ],
)
def test_what_repeats_a_parent(
    own: str, earlier: str, compacted: bool, copies: dict[int, int], summary: int | None
) -> None:
    rows, before = ([char.encode() for char in text] for text in (own, earlier))
    assert session.copied(rows, before, compacted=compacted) == (copies, summary)


@pytest.mark.parametrize(
    ("given", "arguments", "whole"),
    [
        ('{"a": 1}', {"a": 1}, True),
        ("[1]", {"_value": [1]}, True),
        ("{a", {"_legacy_fragment": "{a"}, True),
        ('{"a": 1, "a": 2}', {"a": 2}, False),
        ({"a": 1}, {"a": 1}, True),
        ({}, {}, True),
        ("", {}, False),
        (None, {}, False),
        (7, {"_value": 7}, True),
    ],
)
def test_arguments(given: object, arguments: dict, whole: bool) -> None:
    assert call_arguments(given) == (arguments, whole)


def test_content_of_any_shape() -> None:
    assert content("plain").text == "plain"
    assert content("\0json:{broken").text == "\0json:{broken"
    assert (content({"a": 1}).text, content({"a": 1}).rest) == ('{"a":1}', [{"a": 1}])
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b", "cache": 1}]
    assert (content(parts).text, content(parts).rest) == ("a\nb", [{"type": "text", "cache": 1}])


def test_a_growing_gateway_file_gives_only_its_new_rows(tmp_path: Path) -> None:
    store, source = tmp_path / "s.db", tmp_path / "gw.jsonl"
    lines = (FIXTURES / "gateway" / "input" / "20260901_100000_ab12cd.jsonl").read_bytes().splitlines(True)
    source.write_bytes(b"".join(lines[:3]) + lines[3][:20])
    (first,) = pipeline.migrate(store, source)
    assert (first.new, first.damaged_count) == (4, 1)
    source.write_bytes(b"".join(lines))
    (second,) = pipeline.migrate(store, source)
    assert (second.status, second.new, second.known, second.damaged_count) == ("extended", 2, 4, 0)
    assert [row.session_generation for row in pipeline.rows(store)] == [1] * 6
    assert pipeline.document(store, "gw")["integrity"]["damaged_lines"] == 0


def test_a_rewritten_session_log_is_one_session(tmp_path: Path) -> None:
    store, source = tmp_path / "s.db", tmp_path / "session_a.json"
    given = json.loads((FIXTURES / "session-log" / "input" / "session_a.json").read_text("utf-8"))
    pipeline.migrate(store, pipeline.write_lines(source, [given]))
    (receipt,) = pipeline.migrate(store, pipeline.write_lines(source, [json.dumps(given, indent=4)]))
    assert receipt.status == "unchanged"
    given["messages"].append({"role": "assistant", "content": "Done."})
    given["last_updated"] = "2026-09-01T10:02:00"
    (receipt,) = pipeline.migrate(store, pipeline.write_lines(source, [given]))
    assert (receipt.status, receipt.total, receipt.new) == ("extended", 5, 1)
    assert [payload.get("content") for payload in pipeline.payloads(store)][-1] == "Done."
    assert len(pipeline.rows(store)) == 6


def test_a_secret_that_names_a_session_is_in_no_byte(state: Path, tmp_path: Path) -> None:
    store, secret = tmp_path / "s.db", secrets.make("github_token")
    for text in ("one", "two"):
        add(state, {"session_id": secret, "role": "user", "content": text, "timestamp": 1788256900.0})
        receipts = pipeline.migrate(store, state)
    assert {receipt.status for receipt in receipts} == {"unchanged", "extended"}
    assert secrets.core("github_token").encode() not in pipeline.file_bytes(store)
    assert sorted(p["content"] for p in pipeline.payloads(store) if p.get("content") in ("one", "two")) == [
        "one",
        "two",
    ]


def test_a_snapshot_leaves_nothing_behind(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with sqlite_in.snapshot(state) as copy:
        assert copy.execute("SELECT count(*) FROM messages").fetchone() == (7,)
        assert list(folder.iterdir()) == []
        with pytest.raises(sqlite3.OperationalError):
            copy.execute("DELETE FROM messages")


BIG = [{"x": "y" * 300_000}]


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("hermes-gateway", {"role": "session_meta", "tools": BIG}),
        ("hermes-trajectory", {"conversations": [{"from": "human", "value": BIG}], "completed": True}),
        ("hermes-trajectory", {"prompt_index": 3, "conversations": [{"from": "gpt", "value": BIG}]}),
        ("hermes-exploration", {"schema_version": 1, "tree_id": "a", "policy_version": "b", "events": BIG}),
        ("hermes-export", {"id": "a", "source": "cli", "started_at": 1, "end_reason": None, "messages": BIG}),
        ("hermes-session-log", {"session_start": 1, "last_updated": 1, "message_count": 1, "messages": BIG}),
        ("hermes-request-dump", {"reason": "r", "request": {"headers": {}, "body": BIG}}),
    ],
)
def test_a_first_line_larger_than_the_head_is_told_all_the_same(name: str, row: dict, tmp_path: Path) -> None:
    (planned,) = plan([pipeline.write_lines(tmp_path / "big.jsonl", [row])], tmp_path / "s.db").sources
    assert planned.source is not None and planned.source.name == name


@pytest.mark.parametrize(
    "text", ["<tool_call>" * 20_000, "<think>" * 20_000, '<tool_call>["</tool_call>' * 9_000]
)
def test_hostile_tags_take_linear_time(text: str) -> None:
    told = tagged.conversation([{"from": "gpt", "value": text}])
    assert told[0].kind == "message.assistant"
