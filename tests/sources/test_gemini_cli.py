"""Gemini CLI sessions: what only several imports can show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geode_traj.sources import base
from tests.migrate import pipeline
from tests.support import cases
from tests.support.marked import marked

FIXTURES = cases.FIXTURES.parent / "gemini_cli"
HEAD = {"sessionId": "s", "projectHash": "0f" * 32, "startTime": "2026-09-01T10:00:00.000Z"}


def message(key: str, kind: str, content: Any, second: int = 1, **more: Any) -> dict[str, Any]:
    stamp = f"2026-09-01T10:00:{second:02d}.000Z"
    return {"id": key, "timestamp": stamp, "type": kind, "content": content, **more}


def kinds(store: Path, session: str = "s") -> list[str]:
    return [row.kind for row in pipeline.rows(store) if row.session_id == session]


def contents(store: Path) -> list[str]:
    return [payload["content"] for payload in pipeline.payloads(store) if "content" in payload]


def test_a_log_that_grows_is_one_session(tmp_path: Path) -> None:
    store, path = tmp_path / "sessions.db", tmp_path / "session.jsonl"
    lines: list[object] = [HEAD, message("u", "user", "ask"), message("g", "gemini", "ans", 2, tokens=None)]
    pipeline.migrate(store, pipeline.write_lines(path, [*lines, '{"id":"h","ty'], end="\n"))
    lines.append(message("h", "gemini", "more", 3, tokens={"input": 1, "output": 2}))
    (receipt,) = pipeline.migrate(store, pipeline.write_lines(path, lines))
    assert (receipt.status, receipt.balanced, receipt.damaged_count) == ("extended", True, 0)
    assert contents(store) == ["ask", "ans", "more"]
    assert pipeline.document(store, "s")["integrity"]["damaged_lines"] == 0
    lines.append(message("g", "gemini", "answer", 2, tokens={"input": 5, "output": 1}))
    (receipt,) = pipeline.migrate(store, pipeline.write_lines(path, lines))
    assert receipt.status == "superseded"
    assert contents(store) == ["ask", "answer", "more"]
    used = [p["input_tokens"] for p in pipeline.payloads(store) if "input_tokens" in p]
    assert used == [5, 1]
    assert {row.session_generation for row in pipeline.rows(store)} == {1}
    (receipt,) = pipeline.migrate(store, path)
    assert receipt.status == "unchanged"


def test_a_document_that_became_a_log_is_the_same_session(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    said = [message("u", "user", "ask"), message("g", "gemini", "ans", 2)]
    (tmp_path / "a.json").write_text(json.dumps({**HEAD, "messages": said}))
    pipeline.write_lines(tmp_path / "a.jsonl", [HEAD, *said, message("v", "user", "again", 3)])
    pipeline.migrate(store, tmp_path / "a.json", tmp_path / "a.jsonl")
    assert contents(store) == ["ask", "ans", "again"]
    assert kinds(store).count("session.started") == 1


def test_another_layout_of_a_document_is_the_same(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    value = {**HEAD, "messages": [message("u", "user", "ask")]}
    (tmp_path / "a.json").write_text(json.dumps(value))
    (tmp_path / "b.json").write_text(json.dumps(value, indent=4, sort_keys=True).replace("\n", "\r\n"))
    first, second = pipeline.migrate(store, tmp_path)
    assert {first.status, second.status} == {"imported", "unchanged"}


def test_a_mark_and_carriage_returns_give_the_same_events(tmp_path: Path) -> None:
    lines = [HEAD, message("u", "user", "ask"), message("g", "gemini", "ans", 2, tokens=None)]
    plain = pipeline.write_lines(tmp_path / "a" / "s.jsonl", lines)
    marked = pipeline.write_lines(tmp_path / "b" / "s.jsonl", lines, end="\r\n")
    marked.write_bytes(b"\xef\xbb\xbf" + marked.read_bytes())
    pipeline.migrate(tmp_path / "a.db", plain)
    pipeline.migrate(tmp_path / "b.db", marked)
    ids = [[row.event_id for row in pipeline.rows(tmp_path / name)] for name in ("a.db", "b.db")]
    assert ids[0] == ids[1] and len(ids[0]) == 4


def test_sub_agents_are_linked_to_their_parents(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, cases.render(FIXTURES / "sub-agent", tmp_path) / "input")
    links = pipeline.sql(store, "SELECT DISTINCT session_id, kind, target FROM traj_links")
    assert links == [("helper-7", "parent", "ses-1")]


def test_what_a_resumed_session_repeats_is_linked(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, cases.render(FIXTURES / "resumed", tmp_path) / "input")
    assert pipeline.sql(store, "SELECT session_id, kind, target FROM traj_links") == [
        ("ses-2", "copy", "ses-1")
    ]
    assert kinds(store, "ses-2") == [
        "session.started",
        "message.user",
        "message.assistant",
        "usage.recorded",
    ]


def test_a_message_written_anew_after_a_rewind_stays_two(tmp_path: Path) -> None:
    same = message("u", "user", "ask")
    path = pipeline.write_lines(tmp_path / "a.jsonl", [HEAD, same, {"$rewindTo": "u"}, same])
    pipeline.migrate(tmp_path / "s.db", path)
    told = [p["branch"] for p in pipeline.payloads(tmp_path / "s.db") if p.get("content") == "ask"]
    assert told == ["abandoned", "active"]


def test_calls_pair_by_occurrence(tmp_path: Path) -> None:
    case = cases.render(FIXTURES / "calls", tmp_path)
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, case / "input")
    tools = [
        (row.kind, row.call_id, json.loads(row.payload_json).get("result", "absent"))
        for row in pipeline.rows(store)
        if row.kind == "tool.completed"
    ]
    assert tools == [
        ("tool.completed", "call_0", "first"),
        ("tool.completed", "call_0", "second"),
        ("tool.completed", "p1", "P1"),
        ("tool.completed", "p2", "no file"),
        ("tool.completed", "e1", ""),
        ("tool.completed", "e2", "absent"),
        ("tool.completed", "e3", "absent"),
        ("tool.completed", "f1", "late"),
        ("tool.completed", "none", "orphan"),
    ]
    failed = {row.call_id: json.loads(row.payload_json)["is_error"] for row in pipeline.rows(store)
              if row.kind == "tool.completed"}  # fmt: skip
    assert (failed["p1"], failed["p2"], failed["e3"]) == (False, True, None)


def test_an_output_that_was_masked_later_is_kept_and_told(tmp_path: Path) -> None:
    states = []
    for output in ("the whole output", "<tool_output_masked>the wh...</tool_output_masked>"):
        parts = [{"functionResponse": {"id": "c", "name": "ls", "response": {"output": output}}}]
        call = {"id": "c", "name": "ls", "args": {}, "status": "success", "result": parts}
        states.append(message("g", "gemini", "", 2, toolCalls=[call], tokens=None))
    store = tmp_path / "s.db"
    path = pipeline.write_lines(tmp_path / "a.jsonl", [HEAD, states[0], {"$set": {"messages": states[1:]}}])
    (receipt,) = pipeline.migrate(store, path)
    assert receipt.losses == {"tool_output_masked": 1}
    assert kinds(store).count("tool.completed") == 1
    assert "the whole output" in pipeline.export(store, "s").decode()


@pytest.mark.parametrize("head", [{**HEAD, "sessionId": ""}, {"$set": {"summary": "x"}}])
def test_a_log_that_names_no_session_goes_by_its_file(head: dict[str, Any], tmp_path: Path) -> None:
    path = pipeline.write_lines(tmp_path / "mine.jsonl", [head, message("g", "gemini", "ans")])
    pipeline.migrate(tmp_path / "s.db", path)
    assert {row.session_id for row in pipeline.rows(tmp_path / "s.db")} == {"mine"}
    assert pipeline.document(tmp_path / "s.db", "mine")["events"]


def test_a_header_that_carries_messages(tmp_path: Path) -> None:
    head = {**HEAD, "messages": [message("u", "user", "ask")]}
    path = pipeline.write_lines(tmp_path / "a.jsonl", [head, message("g", "gemini", "ans", 2)])
    (receipt,) = pipeline.migrate(tmp_path / "s.db", path)
    assert (receipt.format, receipt.total, receipt.balanced) == ("gemini-cli", 2, True)
    assert contents(tmp_path / "s.db") == ["ask", "ans"]


@pytest.mark.parametrize("odd", [None, 5, [], {}, ["x"], True])
def test_ids_and_names_of_any_type(odd: object, tmp_path: Path) -> None:
    call = {"id": odd, "name": odd, "args": odd, "status": odd, "result": odd, "agentId": odd}
    parts = [
        {"functionCall": call},
        {"functionResponse": {**call, "response": odd}},
        {"inlineData": {"data": odd}},
    ]
    lines = [
        HEAD,
        message("g", "gemini", parts, toolCalls=[call, odd], thoughts=[odd], tokens=odd, model=odd),
        message("r", "user", [parts[1]]),
        {"$set": {"messages": [odd, {"id": odd, "type": odd}]}},
    ]
    (receipt,) = pipeline.migrate(tmp_path / "s.db", pipeline.write_lines(tmp_path / "a.jsonl", lines))
    assert (receipt.status, receipt.balanced) == ("imported", True)


def test_a_large_inline_picture_is_a_blob(tmp_path: Path) -> None:
    picture = "QUJD" * (2 << 20)
    part = {"inlineData": {"mimeType": "image/png", "data": picture}}
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "a.jsonl", [HEAD, message("u", "user", [part])]))
    assert max(len(row.payload_json) for row in pipeline.rows(store)) < 2000
    (event,) = [e for e in pipeline.document(store, "s")["events"] if e["kind"] == "message.user"]
    assert event["payload"]["attachments"][0]["data"] == picture


def test_many_rewinds_take_linear_time(tmp_path: Path) -> None:
    lines: list[object] = [HEAD, *(message(f"k{n}", "user", "x") for n in range(3000))]
    for number in range(3000):
        lines += [message(f"m{number}", "user", "y"), {"$rewindTo": f"m{number}"}]
    (receipt,) = pipeline.migrate(tmp_path / "s.db", pipeline.write_lines(tmp_path / "a.jsonl", lines))
    assert receipt.balanced and receipt.total == 9001


@pytest.mark.parametrize("layout", ["lines", "document"])
def test_a_first_record_larger_than_the_head_is_told_all_the_same(layout: str, tmp_path: Path) -> None:
    big = message("u", "user", "y" * 300_000)
    path = tmp_path / "a"
    if layout == "lines":
        pipeline.write_lines(path, [{**HEAD, "directories": ["y" * 300_000]}, big])
    else:
        path.write_text(json.dumps({**HEAD, "messages": [big]}))
    (receipt,) = pipeline.migrate(tmp_path / "s.db", path)
    assert receipt.format == {"lines": "gemini-cli", "document": "gemini-cli-json"}[layout]
    assert receipt.status == "imported"


@pytest.mark.parametrize("cut", [40, 120])
def test_a_log_whose_first_line_is_damaged_is_still_known(cut: int, tmp_path: Path) -> None:
    path = pipeline.write_lines(
        tmp_path / "a.jsonl",
        [json.dumps(HEAD)[:cut], message("u", "user", "ask"), message("g", "gemini", "ans")],
    )
    (receipt,) = pipeline.migrate(tmp_path / "s.db", path)
    assert (receipt.format, receipt.damaged_count) == ("gemini-cli", 1)


def test_what_only_mentions_the_format_is_not_of_it() -> None:
    quoted = json.dumps({"text": json.dumps({**HEAD, "messages": []})}).encode()
    nested = json.dumps({"session": {**HEAD, "messages": []}}).encode()
    for data in (quoted, nested, b"", b"{", b"[]", b'{"$rewindTo": 5}', b'{"id": "a", "type": "user"}'):
        for name in ("gemini-cli", "gemini-cli-json"):
            assert not base.by_name(name).detect(base.Probe(data, data))


NAMES = ["states", "rewinds", "whole-lists", "calls", "usage", "media"]


@pytest.mark.parametrize("name", NAMES)
def test_a_member_that_nobody_knows_is_kept(name: str, tmp_path: Path) -> None:
    path = FIXTURES / name / "input" / "session-a.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    texts = list(marked(lines))
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "session-a.jsonl", lines))
    kept = pipeline.export(store, "ses-1").decode()
    assert [text for text in texts if f'"{text}"' not in kept] == []
