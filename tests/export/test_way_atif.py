"""ATIF: what the format's own models say of every document, and what comes back of one."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import atif
import pytest
from hypothesis import HealthCheck, given, settings

from geode_traj.errors import DataError
from tests.export import ways
from tests.export.conversations import conversations
from tests.migrate import pipeline

HARBOR = "HARBOR_PYTHON"  # an interpreter that has Harbor: half a gigabyte, so never installed for tests
WAYS = {"atif": "ATIF-v1.7", "atif-1.8": "ATIF-v1.8"}


def documents(folder: Path, way: str) -> list[tuple[str, bytes]]:
    made = []
    for number, case in enumerate(ways.CASES):
        store = ways.store_of(case, folder / str(number))
        for session in ways.sessions(store):
            try:
                made.append((f"{case} {session}", ways.projected(store, way, session)[0]))
            except DataError as error:
                assert error.code == "TE302"
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(len(ways.CASES)):
        (tmp_path / str(number)).mkdir()
    return tmp_path


@pytest.mark.parametrize("way", WAYS)
def test_the_models_of_the_format_take_every_document(way: str, folder: Path) -> None:
    made = documents(folder, way)
    assert len(made) > 20
    for name, data in made:
        document = json.loads(data)
        assert document["schema_version"] == WAYS[way], name
        read = atif.Trajectory.model_validate(document)
        linked = {
            result.source_call_id
            for step in read.steps
            for result in (step.observation.results if step.observation else ())
            if result.source_call_id
        }
        calls = {call.tool_call_id for step in read.steps for call in step.tool_calls or ()}
        assert linked <= calls, name


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_the_validator_of_harbor_takes_every_document(way: str, folder: Path) -> None:
    if HARBOR not in os.environ:
        pytest.skip(
            f"{HARBOR} names no interpreter that has harbor (pip install harbor, Python 3.12 or later)"
        )
    for number, (_, data) in enumerate(documents(folder, way)):
        (folder / f"{number}.json").write_bytes(data)
    script = (
        "import pathlib, sys\n"
        "from harbor.utils.trajectory_validator import TrajectoryValidator\n"
        "for path in sorted(pathlib.Path(sys.argv[1]).glob('*.json')):\n"
        "    validator = TrajectoryValidator()\n"
        "    if not validator.validate(path, validate_images=False): print(path, validator.errors)\n"
        "print('done')\n"
    )
    command = [os.environ[HARBOR], "-c", script, str(folder)]
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.stdout == "done\n", done.stdout + done.stderr


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(lines=conversations())
def test_what_is_written_comes_back(lines: list, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("atif")
    pipeline.migrate(folder / "s.db", pipeline.write_lines(folder / "s1.jsonl", lines))
    data, _ = ways.projected(folder / "s.db", "atif", "s1")
    back = ways.again(data, folder / "s1.json")
    assert ways.said(back) == ways.said(pipeline.document(folder / "s.db", "s1")["events"])


def steps(tmp_path: Path, lines: list[Any], name: str = "s1.jsonl") -> list[dict[str, Any]]:
    pipeline.migrate(tmp_path / "s.db", pipeline.write_lines(tmp_path / name, lines))
    (session,) = ways.sessions(tmp_path / "s.db")
    return list(json.loads(ways.projected(tmp_path / "s.db", "atif", session)[0])["steps"])


def test_a_trajectory_of_the_format_comes_back_as_it_was(tmp_path: Path) -> None:
    document = {
        "schema_version": "ATIF-v1.7",
        "session_id": "s1",
        "trajectory_id": "geode-session-s1",
        "agent": {"name": "demo-agent", "version": "2", "model_name": "demo", "extra": {"a": 1},
                  "tool_definitions": [{"type": "function", "function": {"name": "t"}}]},
        "notes": "as it was",
        "extra": {"b": 2},
        "steps": [
            {"step_id": 1, "timestamp": "2026-03-01T10:00:00Z", "source": "system", "message": "Be brief."},
            {"step_id": 2, "timestamp": "2026-03-01T10:00:01Z", "source": "user", "message": "go"},
            {"step_id": 3, "timestamp": "2026-03-01T10:00:02Z", "source": "agent", "message": "ok",
             "model_name": "demo", "reasoning_content": "because", "reasoning_effort": "high",
             "llm_call_count": 1, "extra": {"c": [3]},
             "tool_calls": [{"tool_call_id": "c1", "function_name": "t", "arguments": {"x": 1}}],
             "metrics": {"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 0, "cost_usd": 0.5},
             "observation": {"results": [{"source_call_id": "c1", "content": "done"}]}},
        ],
        "final_metrics": {"total_prompt_tokens": 10, "total_completion_tokens": 2, "total_steps": 3},
    }  # fmt: skip
    (tmp_path / "s1.json").write_text(json.dumps(document))
    pipeline.migrate(tmp_path / "s.db", tmp_path / "s1.json")
    data, report = ways.projected(tmp_path / "s.db", "atif", "s1")
    assert json.loads(data) == document
    assert report["words"] == []
    assert report["events"] == {"total": 8, "whole": 8, "part": 0, "left_out": 0}
    assert report["notes"] == []


def test_unknown_usage_stays_unknown(tmp_path: Path) -> None:
    start, question, answer, _ = pipeline.dialogue("s1", "q", "a")
    cost = {"event": "cost", "model": "m", "input_tokens": 7, "output_tokens": None, "ts": pipeline.START + 3}
    pipeline.migrate(
        tmp_path / "s.db",
        pipeline.write_lines(tmp_path / "s1.jsonl", [start, question, answer, cost, {**answer, "text": "b"}]),
    )
    document = json.loads(ways.projected(tmp_path / "s.db", "atif", "s1")[0])
    assert [step.get("metrics") for step in document["steps"]] == [None, {"prompt_tokens": 7}, None]
    assert document["final_metrics"] == {"total_prompt_tokens": 7, "total_steps": 3}
    assert document["agent"]["version"] == "unknown"


def test_a_result_that_comes_too_late_stands_alone(tmp_path: Path) -> None:
    start, *_ = pipeline.dialogue("s1")
    talk = [{"event": "user_message", "text": str(n), "ts": n} for n in range(70)]
    call = {"event": "tool_call", "tool": "t", "call_id": "c1", "input": {}, "ts": 0}
    answer = {"event": "tool_result", "tool": "t", "call_id": "c1", "summary": "late", "ts": 99}
    made = steps(tmp_path, [start, call, *talk, answer])
    assert "observation" not in made[0]
    assert made[-1]["source"] == "system"
    assert made[-1]["observation"]["results"][0]["content"] == "late"
