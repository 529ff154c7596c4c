"""Chat messages: their grammar, checked from what the API takes, and what comes back of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.export import ways
from tests.export.conversations import conversations
from tests.migrate import pipeline


def check_message(message: dict[str, Any], open_calls: list[str]) -> list[str]:
    """Check one message by the rules of the chat interface; return the calls that wait after it."""
    role = message["role"]
    if role == "tool":
        assert message.keys() == {"role", "tool_call_id", "content"}
        open_calls.remove(message["tool_call_id"])
        assert isinstance(message["content"], str) or all(
            part.keys() == {"type", "text"} and part["type"] == "text" for part in message["content"]
        )
        return open_calls
    if role != "assistant":
        assert role in ("system", "developer", "user")
        assert message.keys() == {"role", "content"}
        for part in message["content"] if isinstance(message["content"], list) else ():
            assert part["type"] in (("text", "image_url") if role == "user" else ("text",))
        return []
    assert message.keys() <= {"role", "content", "reasoning_content", "tool_calls"}
    calls = message.get("tool_calls", [])
    assert isinstance(message["content"], str) or (message["content"] is None and calls)
    for call in calls:
        assert call.keys() == {"id", "type", "function"}
        assert call["type"] == "function"
        assert call["id"]
        assert call["function"].keys() == {"name", "arguments"}
        assert isinstance(call["function"]["arguments"], str)
    return [call["id"] for call in calls]


@pytest.mark.parametrize("case", ways.CASES)
def test_results_follow_the_calls_they_answer(case: str, tmp_path: Path) -> None:
    store = ways.store_of(case, tmp_path)
    for session in ways.sessions(store):
        try:
            data, _ = ways.projected(store, "openai", session)
        except Exception as error:
            assert "TE302" in getattr(error, "code", "")
            continue
        (line,) = ways.lines(data)
        assert line.keys() <= {"messages", "tools"}
        waiting: list[str] = []
        for message in line["messages"]:
            waiting = check_message(message, waiting)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(lines=conversations())
def test_what_is_written_comes_back(lines: list, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("openai")
    pipeline.migrate(folder / "s.db", pipeline.write_lines(folder / "s1.jsonl", lines))
    data, _ = ways.projected(folder / "s.db", "openai", "s1")
    back = ways.again(data, folder / "s1.openai.jsonl")
    assert ways.said(back) == ways.said(pipeline.document(folder / "s.db", "s1")["events"])


def test_several_sessions_are_lines_of_one_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        pipeline.write_lines(tmp_path / "in" / f"{name}.jsonl", pipeline.dialogue(name, f"I am {name}"))
    pipeline.migrate(tmp_path / "s.db", tmp_path / "in")
    data, report = ways.projected(tmp_path / "s.db", "openai", "b", "a", "b")
    assert [line["messages"][0]["content"] for line in ways.lines(data)] == ["I am b", "I am a"]
    assert report["sessions"] == ["b", "a"]


def test_arguments_are_the_text_that_was_given(tmp_path: Path) -> None:
    texts = ["{not json", '"a text"', "[1, 2]", '{"a": 1}']
    rows = [
        {"event": "tool_call", "tool": "t", "call_id": str(n), "input": text, "ts": n}
        for n, text in enumerate(texts)
    ]
    start = {"event": "session_start", "session_id": "s1", "ts": 0}
    pipeline.migrate(tmp_path / "s.db", pipeline.write_lines(tmp_path / "s1.jsonl", [start, *rows]))
    (line,) = ways.lines(ways.projected(tmp_path / "s.db", "openai", "s1")[0])
    texts_given = [call["function"]["arguments"] for one in line["messages"] for call in one["tool_calls"]]
    assert texts_given[0] == "{not json"
    assert [json.loads(text) for text in texts_given[1:]] == ["a text", [1, 2], {"a": 1}]
