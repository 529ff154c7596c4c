"""Claude Code transcripts: every case through the pipeline, and what no small file can show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geode_traj.codec.jsonl import MAX_LINE
from geode_traj.sources import base
from tests.migrate import pipeline
from tests.support import cases, claude_session

FIXTURES = cases.FIXTURES.parent / "claude-code"
LOGLINES = cases.FIXTURES.parent / "claude-code-loglines"


def said(store: Path) -> list[tuple[str, str, str, str, object]]:
    """Return what the store holds, without what tells from which state of a file it came."""
    out = []
    for row in pipeline.rows(store):
        payload = json.loads(row.payload_json)
        payload["_legacy"].pop("source_digest")
        out.append((row.event_id, row.session_id, row.kind, row.call_id, payload))
    return sorted(out, key=lambda one: one[0])


GROWING = [
    "rewind",
    "split-response",
    "inline-sidechain",
    "other-records",
    "parallel-tree",
    "times",
    "late-results",
]


@pytest.mark.parametrize("name", GROWING)
def test_a_file_that_grows_line_by_line_gives_what_it_gives_at_once(name: str, tmp_path: Path) -> None:
    source = next((FIXTURES / name / "input").glob("*.jsonl")).read_bytes()
    path = tmp_path / "session.jsonl"
    lines = source.splitlines(keepends=True)
    for count in range(1, len(lines) + 1):
        for torn in (lines[count : count + 1] or [b""])[0][:50], b"":  # a line being written, then not yet
            path.write_bytes(b"".join(lines[:count]) + torn)
            (receipt,) = pipeline.migrate(tmp_path / "grown" / "sessions.db", path)
            assert receipt.balanced
            assert receipt.code is None
    pipeline.migrate(tmp_path / "whole" / "sessions.db", path)
    assert said(tmp_path / "grown" / "sessions.db") == said(tmp_path / "whole" / "sessions.db")


def test_what_a_grown_file_revises_is_said_in_its_receipt(tmp_path: Path) -> None:
    source = (FIXTURES / "rewind" / "input").glob("*.jsonl")
    lines = next(source).read_bytes().splitlines(keepends=True)
    path, store = tmp_path / "session.jsonl", tmp_path / "store" / "sessions.db"
    for count, status in ((3, "imported"), (6, "extended"), (7, "superseded"), (8, "superseded")):
        path.write_bytes(b"".join(lines[:count]))
        assert [receipt.status for receipt in pipeline.migrate(store, path)] == [status]
    leaves = [payload["content"] for payload in pipeline.payloads(store) if payload.get("active_leaf")]
    assert leaves == ["Gone the other way."]


def test_a_line_without_end_is_reported_and_other_files_go_on(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    first = (FIXTURES / "split-response" / "input").glob("*.jsonl")
    good = next(first).read_bytes()
    (tmp_path / "in" / "good.jsonl").write_bytes(good)
    with (tmp_path / "in" / "long.jsonl").open("wb") as out:
        out.write(good.splitlines(keepends=True)[0] + b'{"type":"user","uuid":"u","message":"')
        for _ in range(MAX_LINE // (1 << 20) + 1):
            out.write(b"x" * (1 << 20))
    receipts = {
        receipt.source: receipt for receipt in pipeline.migrate(tmp_path / "s" / "s.db", tmp_path / "in")
    }
    (long,) = [receipt for name, receipt in receipts.items() if name.endswith("long.jsonl")]
    assert [(line["line"], line["reason"]) for line in long.damaged] == [(2, "line_too_long")]
    assert all(receipt.balanced and receipt.code is None for receipt in receipts.values())


def test_a_large_image_is_kept_whole_beside_its_event(tmp_path: Path) -> None:
    data = "iVBORw0KGgo" + "A" * 2_000_001
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    row = {"type": "user", "uuid": "u1", "sessionId": "big", "message": {"role": "user", "content": [image]}}
    store = tmp_path / "s" / "s.db"
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "big.jsonl", [row]))
    (stored,) = pipeline.rows(store)
    assert len(stored.payload_json) < 2000
    (event,) = pipeline.document(store, "big")["events"]
    (attachment,) = event["payload"]["attachments"]
    assert attachment == {"media_type": "image/png", "bytes": len(data) * 3 // 4, "data": data}


def test_a_first_line_longer_than_a_look_at_the_file_is_recognised(tmp_path: Path) -> None:
    row = {"parentUuid": None, "type": "user", "uuid": "u1", "sessionId": "long", "message": {"role": "user"}}
    row["message"]["content"] = "word " * (base.HEAD_BYTES // 4)
    store = tmp_path / "s" / "s.db"
    (receipt,) = pipeline.migrate(store, pipeline.write_lines(tmp_path / "x.jsonl", [row]))
    assert (receipt.format, receipt.converted) == ("claude-code", 1)


def test_a_realistic_session_is_counted_exactly(tmp_path: Path) -> None:
    path, store = tmp_path / "session.jsonl", tmp_path / "s" / "s.db"
    facts = claude_session.write(path, 3_000_000, seed=7)
    again = b"".join(claude_session.Session(3_000_000, seed=7).lines())
    assert (path.read_bytes() == again, len(again)) == (True, facts.bytes)
    (receipt,) = pipeline.migrate(store, path)
    assert receipt.converted == sum(facts.lines.values())
    sums = ", ".join(
        f"sum(json_extract(payload_json, '$.{word}'))"
        for word in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens")
    )
    (told,) = pipeline.sql(
        store, f"SELECT count(*), {sums} FROM session_events WHERE kind = 'usage.recorded'"
    )
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    assert told == (facts.responses, *(facts.tokens[name] for name in names))
    quality = pipeline.document(store, facts.session_id)["integrity"]["quality"]["tool_pairing"]
    assert (quality["calls"], quality["paired"]) == (facts.calls, facts.calls)
    assert receipt.losses == {}
    assert facts.keys
    held = pipeline.file_bytes(store)
    assert not [key for key in facts.keys if key.encode() in held]


def test_a_history_of_prompts_is_skipped_with_its_reason(tmp_path: Path) -> None:
    row = {
        "display": "do it",
        "pastedContents": {},
        "timestamp": 1772806505000,
        "project": "/home/demo_user/p",
    }
    (receipt,) = pipeline.migrate(tmp_path / "s.db", pipeline.write_lines(tmp_path / "history.jsonl", [row]))
    assert (receipt.status, "no transcript" in str(receipt.reason)) == ("skipped", True)
