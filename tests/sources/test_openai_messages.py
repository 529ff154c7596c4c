"""OpenAI chat messages: every case through the pipeline, and which files are conversations at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geode_traj.sources import base
from tests.migrate import pipeline
from tests.support import cases

FIXTURES = cases.FIXTURES.parent / "openai_messages"
CHAT = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]


def detected(data: bytes) -> list[str]:
    head = data[: base.HEAD_BYTES]
    return [one.name for one in base.all_sources().values() if one.detect(base.Probe(head, head))]


@pytest.mark.parametrize(
    "line",
    [
        CHAT,
        {"messages": CHAT},
        {"messages": CHAT, "tools": [], "metadata": {"a": 1}},
        {"messages": [{"role": "assistant", "content": None, "function_call": {"name": "f"}}]},
        {"messages": [{**CHAT[0], "content": [{"type": "text", "text": "word " * 100_000}]}, CHAT[1]] * 2},
        [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "word " * 100_000}],
    ],
)
def test_conversations_are_known(line: Any) -> None:
    assert detected(json.dumps(line).encode()) == ["openai-messages"]


@pytest.mark.parametrize(
    "line",
    [
        [],
        [1],
        {"messages": []},
        {"messages": "text"},
        {"messages": ["text"]},
        {"messages": CHAT, "session_start": "x"},
        {"messages": CHAT, "trajectory_format": "mini-swe-agent-1.1"},
        {"messages": CHAT, "info": {"exit_status": "Submitted"}},
        {"messages": [{**CHAT[0], "timestamp": 1.5}]},
        {"messages": [{**CHAT[0], "extra": {}}]},
        {"messages": [{"role": "assistant", "content": "", "tool_calls": [{"id": "a", "name": "f"}]}]},
        {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}]},
        {"messages": [{"role": "toolResult", "content": "x"}]},
        {"messages": [{"role": "user", "content": "x", "id": "m1"}]},
    ],
)
def test_messages_of_other_programs_are_none(line: Any) -> None:
    assert "openai-messages" not in detected(json.dumps(line).encode())


def test_a_file_that_grows_gives_what_it_gives_at_once(tmp_path: Path) -> None:
    path = tmp_path / "chats.jsonl"
    lines = (FIXTURES / "conversations" / "input" / "chats.jsonl").read_bytes().splitlines(keepends=True)
    for count in range(1, len(lines) + 1):
        path.write_bytes(b"".join(lines[:count]))
        (receipt,) = pipeline.migrate(tmp_path / "grown" / "sessions.db", path)
        assert receipt.balanced
    pipeline.migrate(tmp_path / "whole" / "sessions.db", path)
    grown, whole = (pipeline.rows(tmp_path / folder / "sessions.db") for folder in ("grown", "whole"))
    assert [row.event_id for row in grown] == [row.event_id for row in whole]


def test_results_in_the_older_form_find_their_calls_by_position(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, FIXTURES / "conversations" / "input")
    events = pipeline.document(store, "chats-2")["events"]
    added = [one["call_id"] for one in events if one["payload"].get("tool") == "add"]
    assert added == ["call-1-1", "call-1-1", "call-1-2", "call-1-2"]


def test_a_long_conversation_with_odd_text_takes_linear_time(tmp_path: Path) -> None:
    line = json.dumps({"messages": [{"role": "user", "content": "half MARK"}] * 20_000})
    path = pipeline.write_lines(tmp_path / "chats.jsonl", [line.replace("MARK", "\\ud83d")])
    (receipt,) = pipeline.migrate(tmp_path / "sessions.db", path)
    assert receipt.new == 20_001
