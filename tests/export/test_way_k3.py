"""The K3 shape: runs, think and response, numbers of parallel calls, and how results pair."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geode_traj.errors import DataError
from tests.export import ways
from tests.migrate import pipeline


def shape(folder: Path, *lines: dict[str, Any]) -> dict[str, Any]:
    rows = [{"ts": float(n), **line} for n, line in enumerate(lines)]
    pipeline.migrate(folder / "s.db", pipeline.write_lines(folder / "s1.jsonl", rows))
    return dict(json.loads(ways.projected(folder / "s.db", "k3", "s1")[0]))


def user(text: str) -> dict[str, Any]:
    return {"event": "user_message", "text": text}


def spoke(text: str) -> dict[str, Any]:
    return {"event": "assistant_message", "text": text}


def call(tool: str, **more: Any) -> dict[str, Any]:
    return {"event": "tool_call", "tool": tool, "input": {"a": 1}, **more}


def result(tool: str, **more: Any) -> dict[str, Any]:
    return {"event": "tool_result", "tool": tool, "status": "ok", "summary": f"of {tool}", **more}


START = {"event": "session_start", "session_id": "s1"}
END = {"event": "session_end"}


def test_a_run_with_parallel_calls(tmp_path: Path) -> None:
    ids = [{"call_id": one} for one in "xy"]
    made = shape(
        tmp_path, START, user("go"), call("b", **ids[0]), call("a", **ids[1]), result("a", **ids[1]),
        result("b", **ids[0]), spoke("done"), END,
    )  # fmt: skip
    assert {key: made[key] for key in ("schema", "source_schema", "trajectory_id")} == {
        "schema": "k3-shaped/1", "source_schema": "geode.trajectory@1", "trajectory_id": "geode-session-s1",
    }  # fmt: skip
    assert made["pairing"] == {"results": 2, "by_call_id": 2, "positional": 0, "mode": "call_id"}
    turn = {"run": 1, "turn_id": "turn-1-1"}
    assert made["messages"] == [
        {"role": "user", **turn, "content": "go"},
        {"role": "assistant", **turn, "think": "", "response": "", "tools": [
            {"tool": "b", "index": 0, "call_id": "x", "arguments": {"a": 1}},
            {"tool": "a", "index": 1, "call_id": "y", "arguments": {"a": 1}},
        ]},
        {"role": "tool", **turn, "results": [
            {"tool": "a", "index": 1, "call_id": "y", "status": "ok", "summary": "of a"},
            {"tool": "b", "index": 0, "call_id": "x", "status": "ok", "summary": "of b"},
        ]},
        {"role": "assistant", **turn, "think": "", "response": "done", "tools": []},
    ]  # fmt: skip


def test_results_without_ids_pair_by_place(tmp_path: Path) -> None:
    made = shape(tmp_path, START, call("t"), call("t"), result("t"), result("t"), result("other"))
    assert [one["index"] for one in made["messages"][1]["results"]] == [0, 1, None]
    assert made["pairing"] == {"results": 3, "by_call_id": 0, "positional": 2, "mode": "positional"}


def test_runs_are_numbered_and_calls_do_not_cross_them(tmp_path: Path) -> None:
    made = shape(
        tmp_path, START, call("t", call_id="c"), END, user("after the end"), result("t", call_id="c"), START,
        user("again"),
    )  # fmt: skip
    assert [(one["role"], one["run"]) for one in made["messages"]] == [
        ("assistant", 1), ("user", 2), ("tool", 2), ("user", 3),
    ]  # fmt: skip
    assert made["messages"][2]["results"][0]["index"] is None


def test_a_text_closes_its_message_and_text_arguments_are_marked(tmp_path: Path) -> None:
    made = shape(tmp_path, START, call("t", input="{cut"), spoke("one"), call("t"), spoke("two"))
    assert [(one["response"], len(one["tools"])) for one in made["messages"]] == [("one", 1), ("two", 1)]
    assert made["messages"][0]["tools"][0]["arguments"] == {"_truncated": "{cut"}


@pytest.mark.parametrize("case", ways.CASES)
def test_numbers_are_those_of_the_calls(case: str, tmp_path: Path) -> None:
    store = ways.store_of(case, tmp_path)
    for session in ways.sessions(store):
        try:
            made = json.loads(ways.projected(store, "k3", session)[0])
        except DataError as error:
            assert error.code == "TE302"
            continue
        seen = set()
        for message in made["messages"]:
            tools = message.get("tools", [])
            assert [tool["index"] for tool in tools] == list(range(len(tools)))
            seen |= {(tool["call_id"], tool["index"]) for tool in tools}
            for answer in message.get("results", []):
                assert answer["index"] is None or (answer["call_id"], answer["index"]) in seen
