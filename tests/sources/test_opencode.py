"""OpenCode sessions: every case through the pipeline, and what a living store does to ours."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from geode_traj.sources import base
from tests.migrate import pipeline
from tests.support import cases, databases
from tests.support.marked import marked

FIXTURES = cases.FIXTURES.parent / "opencode"
BEGAN = 1_788_256_800_000


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return cases.render(FIXTURES / "database", tmp_path) / "input" / "opencode.db"


def say(db: sqlite3.Connection, key: str, text: str, second: int, session: str = "ses_a") -> None:
    time = BEGAN + second * 1000
    info = json.dumps({"role": "user", "time": {"created": time}})
    part = json.dumps({"type": "text", "text": text})
    own = {"session_id": session, "time_created": time}
    databases.insert(db, "message", {"id": key, "data": info, **own})
    databases.insert(db, "part", {"id": f"p{key}", "message_id": key, "data": part, **own})


def look(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.iterdir())}


def asked(store: Path) -> list[str]:
    rows = [row for row in pipeline.rows(store) if row.kind == "message.user"]
    return [json.loads(row.payload_json)["content"] for row in rows]


def links(store: Path) -> list[tuple[Any, ...]]:
    return pipeline.sql(store, "SELECT DISTINCT session_id, kind, target FROM traj_links ORDER BY 1, 2")


def test_the_store_is_read_and_never_touched(database: Path, tmp_path: Path) -> None:
    before = look(database.parent)
    pipeline.migrate(tmp_path / "s.db", database)
    assert look(database.parent) == before


def test_rows_that_only_the_log_holds_are_seen(database: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(database)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        with writer:
            say(writer, "msg_9", "only in the log", 9)
        before = (database.read_bytes(), database.with_name("opencode.db-wal").read_bytes())
        assert b"only in the log" not in before[0]
        (receipt,) = pipeline.migrate(tmp_path / "s.db", database)
        assert receipt.total == 5
        assert (database.read_bytes(), database.with_name("opencode.db-wal").read_bytes()) == before
    assert asked(tmp_path / "s.db")[-1] == "only in the log"


def test_a_session_that_goes_on_is_superseded_and_others_are_not(database: Path, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    pipeline.migrate(store, database)
    state = json.dumps({"type": "tool", "callID": "c9", "tool": "bash", "state": {"status": "running"}})
    part = {"id": "prt_t", "message_id": "msg_2", "session_id": "ses_a", "time_created": BEGAN + 2_000_900}
    with closing(sqlite3.connect(database)) as db, db:
        say(db, "msg_9", "more", 9)
        say(db, "other", "hello", 1, "ses_b")
        databases.insert(db, "part", {**part, "data": state})
    statuses = {receipt.source.split("#")[1]: receipt for receipt in pipeline.migrate(store, database)}
    assert (statuses["ses_a"].status, statuses["ses_b"].status) == ("superseded", "imported")
    state = state.replace('"running"', '"completed", "output": "done"')
    with closing(sqlite3.connect(database)) as db, db:
        db.execute("UPDATE part SET data = ? WHERE id = 'prt_t'", (state,))
    statuses = {receipt.source.split("#")[1]: receipt for receipt in pipeline.migrate(store, database)}
    assert (statuses["ses_a"].status, statuses["ses_b"].status) == ("superseded", "unchanged")
    kinds = [(row.kind, row.call_id) for row in pipeline.rows(store) if row.call_id == "c9"]
    assert kinds == [("tool.called", "c9"), ("tool.completed", "c9")]
    assert {row.session_generation for row in pipeline.rows(store)} == {1}
    assert asked(store) == ["Read a.txt.", "more", "hello"]


def test_all_places_of_a_session_hold_one_session(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for name in ("storage", "export", "database"):
        cases.render(FIXTURES / name, folder)
    store = tmp_path / "s.db"
    receipts = pipeline.migrate(store, folder)
    assert [(r.format, r.status) for r in receipts if r.format] == [
        ("opencode-export", "imported"),
        ("opencode", "superseded"),
        ("opencode-storage", "unchanged"),
    ]
    assert [row.kind for row in pipeline.rows(store)].count("session.started") == 1
    assert {row.source for row in pipeline.rows(store)} == {"opencode"}
    assert {r.status for r in pipeline.migrate(store, folder)} <= {"unchanged", "skipped"}


def test_sub_agents_are_linked_to_their_parents(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    pipeline.migrate(store, cases.render(FIXTURES / "sub-agents", tmp_path) / "input")
    assert links(store) == [("ses_child", "parent", "ses_a"), ("ses_other", "parent", "ses_a")]


def test_what_a_fork_copied_is_linked_and_counted_once(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    pipeline.migrate(store, cases.render(FIXTURES / "forked", tmp_path) / "input")
    assert links(store) == [("ses_f", "copy", "ses_a")]
    kinds = [row.kind for row in pipeline.rows(store)]
    assert kinds.count("usage.recorded") == 2
    assert asked(store) == ["Read a.txt.", "And now?"]


def test_equal_messages_of_one_session_stay_two(tmp_path: Path) -> None:
    info = {"role": "user", "time": {"created": BEGAN}}
    said = {"info": info, "parts": [{"type": "text", "text": "again"}]}
    value = {"info": {"id": "s", "directory": "/work"}, "messages": [said, said]}
    pipeline.migrate(tmp_path / "s.db", pipeline.write_lines(tmp_path / "a.json", [value]))
    assert asked(tmp_path / "s.db") == ["again", "again"]


def test_a_file_of_a_folder_that_grows_whole_is_no_damage_any_more(tmp_path: Path) -> None:
    storage = cases.render(FIXTURES / "storage", tmp_path) / "input" / "storage"
    part = storage / "part" / "msg_1" / "prt_11.json"
    whole = part.read_bytes()
    part.write_bytes(whole[:30])
    store = tmp_path / "s.db"
    (receipt,) = pipeline.migrate(store, storage)
    assert (receipt.damaged_count, receipt.balanced) == (1, True)
    part.write_bytes(whole)
    (receipt,) = pipeline.migrate(store, storage)
    assert (receipt.damaged_count, receipt.status) == (0, "superseded")
    assert pipeline.document(store, "ses_a")["integrity"]["damaged_lines"] == 0


def test_a_folder_beside_a_store_is_taken_as_a_whole(tmp_path: Path) -> None:
    given = cases.render(FIXTURES / "storage", tmp_path) / "input"
    (given / "log.txt").write_text("a log")
    receipts = pipeline.migrate(tmp_path / "s.db", given)
    assert [(r.format, r.status) for r in receipts] == [("opencode-storage", "imported"), (None, "skipped")]


@pytest.mark.parametrize("names", [(), ("session",), ("message",), ("session", "message")])
def test_folders_that_hold_no_messages_are_not_claimed(names: tuple[str, ...], tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name / "x").mkdir(parents=True)
        (tmp_path / name / "x" / "a.json").write_text('{"id": "a"}')
    assert not base.by_name("opencode-storage").claims(tmp_path)


def test_a_link_out_of_a_folder_is_not_followed(tmp_path: Path) -> None:
    storage = cases.render(FIXTURES / "storage", tmp_path) / "input" / "storage"
    secret = tmp_path / "secret.json"
    secret.write_text('{"id": "prt_1z", "type": "text", "text": "from elsewhere"}')
    (storage / "part" / "msg_1" / "prt_1z.json").symlink_to(secret)
    pipeline.migrate(tmp_path / "s.db", storage)
    assert b"from elsewhere" not in pipeline.file_bytes(tmp_path / "s.db")


def test_an_export_of_another_layout_is_the_same(tmp_path: Path) -> None:
    value = json.loads((FIXTURES / "export" / "input" / "session.jsonl").read_text("utf-8"))
    (tmp_path / "a.json").write_text(json.dumps(value))
    (tmp_path / "b.json").write_bytes(
        b"\xef\xbb\xbf" + json.dumps(value, indent=4, sort_keys=True).replace("\n", "\r\n").encode()
    )
    first, second = pipeline.migrate(tmp_path / "s.db", tmp_path / "a.json", tmp_path / "b.json")
    assert (first.status, second.status) == ("imported", "unchanged")


def test_what_only_mentions_the_format_is_not_of_it() -> None:
    export = json.loads((FIXTURES / "calls" / "input" / "a.json").read_text("utf-8"))
    quoted = json.dumps({"text": json.dumps(export)}).encode()
    nested = json.dumps({"export": export}).encode()
    other = json.dumps({"info": {"model_stats": {}}, "messages": [{"role": "user", "content": "x"}]}).encode()
    empty = json.dumps({"info": {}, "messages": []}).encode()
    for data in (quoted, nested, other, empty, b"", b"{", b"[]"):
        assert not base.by_name("opencode-export").detect(base.Probe(data, data))


@pytest.mark.parametrize("name", ["calls", "usage", "reverted", "harness", "export-odd", "export"])
def test_a_member_that_nobody_knows_is_kept(name: str, tmp_path: Path) -> None:
    path = FIXTURES / name / "input" / ("session.jsonl" if name == "export" else "a.json")
    value = json.loads(path.read_text("utf-8"))
    texts = list(marked(value))
    store = tmp_path / "s.db"
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "a.json", [value]))
    kept = pipeline.export(store, *sorted({row.session_id for row in pipeline.rows(store)})).decode()
    assert [text for text in texts if f'"{text}"' not in kept] == []
