"""Session traces: the documented grammar, line by line, and what comes back of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from geode_traj.errors import DataError
from tests.export import ways
from tests.export.conversations import conversations
from tests.migrate import pipeline

ROLES = {
    "system": {"role", "content", "timestamp"},
    "user": {"role", "content", "timestamp"},
    "assistant": {"role", "content", "timestamp", "model", "reasoningContent", "toolCalls"},
    "tool": {"role", "content", "timestamp", "toolCallId"},
}


def check_trace(lines: list[Any]) -> None:
    """Check a trace by what the documentation of the format says."""
    head, *rest = lines
    assert head["type"] == "session"
    assert all(isinstance(head[key], str) and head[key] for key in ("harness", "id"))
    assert isinstance(head.get("name", ""), str)
    called: list[str] = []
    for line in rest:
        assert line.keys() == {"type", "message"}
        assert line["type"] == "message"
        message = line["message"]
        assert message.keys() <= ROLES[message["role"]]
        assert isinstance(message["content"], str)
        assert type(message.get("timestamp", 0)) is int
        for call in message.get("toolCalls", ()):
            assert call.keys() == {"id", "function"}
            assert call["function"].keys() == {"name", "arguments"}
            assert all(isinstance(text, str) for text in (call["id"], *call["function"].values()))
            called.append(call["id"])
        if message["role"] == "tool":
            called.remove(message["toolCallId"])


@pytest.mark.parametrize("case", ways.CASES)
def test_every_trace_is_one(case: str, tmp_path: Path) -> None:
    store = ways.store_of(case, tmp_path)
    for session in ways.sessions(store):
        try:
            data, _ = ways.projected(store, "hf-sts", session)
        except DataError as error:
            assert error.code == "TE302"
            continue
        lines = ways.lines(data)
        check_trace(lines)
        assert lines[0]["id"] == session


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(lines=conversations())
def test_what_is_written_comes_back(lines: list, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("sts")
    pipeline.migrate(folder / "s.db", pipeline.write_lines(folder / "s1.jsonl", lines))
    data, _ = ways.projected(folder / "s.db", "hf-sts", "s1")
    check_trace(ways.lines(data))
    back = ways.again(data, folder / "trace.jsonl")
    before = pipeline.document(folder / "s.db", "s1")["events"]
    assert ways.said(back) == ways.said(before)
    kinds = ("message.user", "message.assistant")
    assert [(event["occurred_at"], event["session_id"]) for event in back if event["kind"] in kinds] == [
        (event["occurred_at"], "s1") for event in before if event["kind"] in kinds
    ]


def test_a_trace_comes_back_as_it_was(tmp_path: Path) -> None:
    lines = [
        {"type": "session", "harness": "llama.app", "id": "s1", "name": "A talk"},
        *(
            {"type": "message", "message": message}
            for message in (
                {"role": "system", "content": "Be brief.", "timestamp": 1750000000000},
                {"role": "user", "content": "go", "timestamp": 1750000000001},
                {"role": "assistant", "content": "ok", "reasoningContent": "because", "model": "demo",
                 "timestamp": 1750000000002,
                 "toolCalls": [{"id": "c1", "function": {"name": "t", "arguments": '{"x":1}'}}]},
                {"role": "tool", "toolCallId": "c1", "content": "done", "timestamp": 1750000000003},
            )
        ),
    ]  # fmt: skip
    pipeline.migrate(tmp_path / "s.db", pipeline.write_lines(tmp_path / "t.jsonl", lines))
    data, _ = ways.projected(tmp_path / "s.db", "hf-sts", "s1")
    assert ways.lines(data) == lines


def test_a_time_that_the_source_did_not_give_is_not_written(tmp_path: Path) -> None:
    start, question, answer, _ = pipeline.dialogue("s1", "when?", "then", start=5.25)
    rows = [start, {**question, "ts": None}, answer]
    pipeline.migrate(tmp_path / "s.db", pipeline.write_lines(tmp_path / "s1.jsonl", rows))
    _, first, second = ways.lines(ways.projected(tmp_path / "s.db", "hf-sts", "s1")[0])
    assert "timestamp" not in first["message"]
    assert second["message"]["timestamp"] == 7250
