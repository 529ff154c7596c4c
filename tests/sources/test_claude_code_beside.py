"""What lies beside Claude Code transcripts: which files are read, which never are, and what comes later."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from geode_traj.sources.claude_code import beside
from tests.migrate import pipeline
from tests.support import cases

FIXTURES = cases.FIXTURES.parent / "claude-code"
SID = "5f0c2a10-0000-4000-8000-000000000001"


def links(store: Path) -> set[tuple[str, str]]:
    told = pipeline.sql(store, "SELECT session_id, target FROM traj_links WHERE kind = 'parent'")
    return {(child.rpartition("-")[2], parent.rpartition("-")[2]) for child, parent in told}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return cases.render(FIXTURES / "sub-agent-notes", tmp_path / "a") / "input"


def test_sub_agents_hang_below_those_that_started_them(notes: Path, tmp_path: Path) -> None:
    pipeline.migrate(tmp_path / "s.db", notes)
    main = SID.rpartition("-")[2]
    assert links(tmp_path / "s.db") == {
        ("a1b2", main),
        ("c3d4", main),
        ("e5f6", "a1b2"),
        ("a7b8", "a1b2"),
        ("c9d0", main),
    }


def test_a_parent_that_is_not_there_is_none(notes: Path, tmp_path: Path) -> None:
    (notes / SID / "subagents" / "agent-a1b2.jsonl").unlink()
    pipeline.migrate(tmp_path / "s.db", notes)
    assert {child for child, _ in links(tmp_path / "s.db")} == {"c3d4", "c9d0"}


JOURNAL = '{"type":"started","key":"v2:1","agentId":"a"}\n{"type":"result","key":"v2:1","agentId":"a"}'
NOTES = ["{", "[1]", '{"agentType":7,"toolUseId":["t2"]}', "{" + " " * beside.MAX_META + "}", "[" * 5000]


@pytest.mark.parametrize("text", NOTES)
def test_a_note_that_says_nothing_is_as_none(text: str, notes: Path, tmp_path: Path) -> None:
    for path in notes.rglob("*.meta.json"):
        path.write_text(text)
    receipts = pipeline.migrate(tmp_path / "s.db", notes)
    assert {receipt.status for receipt in receipts} == {"imported", "skipped"}
    started = [row for row in pipeline.rows(tmp_path / "s.db") if row.kind == "subagent.started"]
    assert [json.loads(row.payload_json)["tied_by"] for row in started] == ["agent_id"]


def test_a_note_with_mended_text_marks_it(notes: Path, tmp_path: Path) -> None:
    note = notes / SID / "subagents" / "agent-a1b2.meta.json"
    note.write_bytes(b'{"agentType":"half \\ud83d","spawnDepth":NaN,"toolUseId":"t1"}')
    pipeline.migrate(tmp_path / "s.db", notes)
    (payload,) = (
        one for one in pipeline.payloads(tmp_path / "s.db") if one.get("content") == "Look at the tests."
    )
    assert payload["agent"] == {"agentType": "half \\ud83d", "spawnDepth": "nan", "toolUseId": "t1"}
    assert (payload["_escaped"], payload["_nonfinite"]) == (["/agent/agentType"], ["/agent/spawnDepth"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{\n "agentType": "explorer",\n "spawnDepth": 1\n}\n', "note of a Claude Code sub-agent"),
        ('{"agentType":"explorer"}', "note of a Claude Code sub-agent"),
        ('{"toolUseId":"toolu_1","description":"d"}', "note of a Claude Code sub-agent"),
        ('{"agentType":"x","type":"user","message":{}}', "no known format"),
        ('{"toolUseId":"toolu_1","content":"text"}', "no known format"),
        (
            '{"type":"started","key":"v2:1","agentId":"a"}\n{"type":"result","key":"v2:1","agentId":"a"}',
            "journal",
        ),
        ('{"type":"started","key":"v2:1"}', "no known format"),
    ],
)
def test_what_is_skipped_and_why(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.json").write_text(text)
    (receipt,) = pipeline.migrate(tmp_path / "s.db", tmp_path / "in")
    assert (receipt.status, reason in str(receipt.reason)) == ("skipped", True)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return cases.render(FIXTURES / "persisted-output", tmp_path / "a") / "input" / f"{SID}.jsonl"


def results(store: Path) -> dict[str, dict]:
    return {
        row.call_id: json.loads(row.payload_json)
        for row in pipeline.rows(store)
        if row.kind == "tool.completed"
    }


def first_output(session: Path) -> Path:
    return session.parent / SID / "tool-results" / "b1x.txt"


def test_a_long_output_is_kept_whole_beside_its_event(session: Path, tmp_path: Path) -> None:
    body = "größer \N{PAPERCLIP} " * 40_000
    first_output(session).write_bytes(body.encode() + b"\xff")
    pipeline.migrate(tmp_path / "s.db", session)
    stored = results(tmp_path / "s.db")["t1"]
    assert len(stored["result"]) < len(body) and "Output too large" in stored["persisted_output"]["preview"]
    whole = [
        event for event in pipeline.document(tmp_path / "s.db", SID)["events"] if event["call_id"] == "t1"
    ]
    assert whole[1]["payload"]["result"] == body + "\\xff"
    assert whole[1]["payload"]["_escaped"] == ["/result"]


@pytest.mark.parametrize("where", ["file", "folder", "session"])
def test_no_link_is_followed(where: str, session: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside" / "tool-results"
    outside.mkdir(parents=True)
    (outside / "b1x.txt").write_text("not of this session")
    file = first_output(session)
    target = {"file": file, "folder": file.parent, "session": file.parent.parent}[where]
    shutil.rmtree(target) if target.is_dir() else target.unlink()
    target.symlink_to({"file": outside / "b1x.txt", "folder": outside, "session": outside.parent}[where])
    receipt = pipeline.migrate(tmp_path / "s.db", session)[0]
    assert receipt.losses["output_missing"] >= 2
    assert b"not of this session" not in pipeline.file_bytes(tmp_path / "s.db")


def test_a_link_to_the_transcripts_is_none_of_ours(session: Path, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(session.parent)
    pipeline.migrate(tmp_path / "s.db", tmp_path / "linked" / session.name)
    assert results(tmp_path / "s.db")["t1"]["persisted_output"]["companion"] == "read"


def test_an_output_past_the_limit_is_a_loss(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "MAX_LINE", 61)
    receipt = pipeline.migrate(tmp_path / "s.db", session)[0]
    assert receipt.losses["output_too_large"] == 2
    assert "line 1" in results(tmp_path / "s.db")["t1"]["result"]


@pytest.mark.parametrize("data", [b'{"a":1,"a":2}', b"[" * 5000, b'["cut'])
def test_an_output_of_odd_json_stays_its_text(data: bytes, session: Path, tmp_path: Path) -> None:
    first_output(session).with_name("t2.json").write_bytes(data)
    pipeline.migrate(tmp_path / "s.db", session)
    assert results(tmp_path / "s.db")["t2"]["result"] == data.decode()


def test_an_output_that_comes_later_is_taken_when_the_transcript_grows(session: Path, tmp_path: Path) -> None:
    store, kept, lines = (
        tmp_path / "s.db",
        tmp_path / "kept.txt",
        session.read_bytes().splitlines(keepends=True),
    )
    first_output(session).rename(kept)
    session.write_bytes(b"".join(lines[:10]))
    pipeline.migrate(store, session)
    kept.rename(first_output(session))
    assert pipeline.migrate(store, session)[0].status == "unchanged"
    assert results(store)["t1"]["persisted_output"]["companion"] == "missing"
    session.write_bytes(b"".join(lines[:11]))
    assert pipeline.migrate(store, session)[0].status == "superseded"
    assert results(store)["t1"]["result"].startswith("line 1\nline 2")
    first_output(session).unlink()
    session.write_bytes(b"".join(lines))
    receipt = pipeline.migrate(store, session)[0]
    assert (receipt.status, receipt.new, receipt.losses["output_missing"]) == ("extended", 1, 2)
    assert results(store)["t1"]["result"].startswith("line 1\nline 2")


def test_outputs_without_their_session_are_looked_at_like_any_file(session: Path, tmp_path: Path) -> None:
    alone = tmp_path / "tool-results"
    shutil.copytree(first_output(session).parent, alone)
    found = {
        Path(receipt.source).name: receipt.status for receipt in pipeline.migrate(tmp_path / "s.db", alone)
    }
    assert found == {"b1x.txt": "skipped", "t2.json": "skipped", "quoted.txt": "imported"}
