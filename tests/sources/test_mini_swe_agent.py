"""mini-swe-agent's trajectories: what only several imports can show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geode_traj.sources import base
from tests.migrate import pipeline
from tests.support import cases
from tests.support.marked import marked

FIXTURES = cases.FIXTURES.parent
CASES = sorted(path.parent for path in (FIXTURES / "mini-swe-agent").glob("*/expect.json"))


def run(*texts: str, **info: Any) -> dict[str, Any]:
    messages = [{"role": "system", "content": "sys"}, {"role": "user", "content": "task"}]
    for text in texts:
        messages += [
            {"role": "assistant", "content": f"I do.\n```bash\n{text}\n```"},
            {"role": "user", "content": f"<returncode>0</returncode>{text}"},
        ]
    return {"info": info, "messages": messages, "trajectory_format": "mini-swe-agent-1"}


def commands(store: Path) -> list[str]:
    return [told["arguments"]["command"] for told in pipeline.payloads(store) if "arguments" in told]


def test_a_later_state_takes_the_earlier_ones_place(tmp_path: Path) -> None:
    store, path = tmp_path / "s.db", tmp_path / "demo.traj.json"
    pipeline.migrate(store, pipeline.write_json(path, run("a", "b", exit_status="")))
    assert "session.ended" not in {row.kind for row in pipeline.rows(store)}
    (receipt,) = pipeline.migrate(
        store, pipeline.write_json(path, run("a", "b", "c", exit_status="Submitted"))
    )
    assert receipt.status in ("superseded", "extended")
    assert commands(store) == ["a", "b", "c"]
    assert pipeline.rows(store)[-1].kind == "session.ended"
    assert {row.session_generation for row in pipeline.rows(store)} == {1}


def test_two_runs_of_one_task_stay_two(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    paths = [
        pipeline.write_json(tmp_path / name / "demo.traj.json", run(name, "same")) for name in ("x", "y")
    ]
    pipeline.migrate(store, *paths)
    assert sorted(commands(store)) == ["same", "same", "x", "y"]
    assert {row.session_generation for row in pipeline.rows(store)} == {1, 2}


@pytest.mark.parametrize("name", ["text", "calls", "responses", "bare"])
def test_a_member_that_nobody_knows_is_kept(name: str, tmp_path: Path) -> None:
    (path,) = (FIXTURES / "mini-swe-agent" / name / "input").iterdir()
    value = json.loads(path.read_text())
    texts = list(marked(value))
    store = tmp_path / "s.db"
    pipeline.migrate(store, pipeline.write_json(tmp_path / path.name, value))
    text = pipeline.exported(store)
    assert [one for one in texts if f'"{one}"' not in text] == []


@pytest.mark.parametrize(
    ("status", "outcome"),
    [("Submitted", "completed"), ("LimitsExceeded", "interrupted"), ("RuntimeError", "error")],
)
def test_how_a_run_ended(status: str, outcome: str, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    pipeline.migrate(store, pipeline.write_json(tmp_path / "demo.traj.json", run("a", exit_status=status)))
    last = pipeline.rows(store)[-1]
    assert (last.kind, last.status) == ("session.ended", outcome)


def test_many_fences_take_linear_time(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    (receipt,) = pipeline.migrate(
        store, pipeline.write_json(tmp_path / "d.traj.json", run("```bash\n" * 50_000))
    )
    assert receipt.balanced
    assert commands(store) == []


def test_what_only_resembles_the_format_is_not_of_it() -> None:
    source = base.by_name("mini-swe-agent")
    chat = [{"role": role, "content": "x"} for role in ("system", "user", "assistant", "user")]
    for value in ([], {}, chat, {"messages": chat}, {"messages": chat, "info": {}}):
        data = json.dumps(value).encode()
        assert not source.detect(base.Probe(data, data)), value
    lines = b"\n".join([json.dumps(run("a")).encode()] * 2)
    assert not source.detect(base.Probe(lines, lines))


def test_each_file_of_the_cases_is_of_this_format_alone(tmp_path: Path) -> None:
    for folder in CASES:
        for path in sorted((cases.render(folder, tmp_path) / "input").iterdir()):
            assert pipeline.detected(path) == "mini-swe-agent", path
