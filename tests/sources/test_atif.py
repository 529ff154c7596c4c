"""ATIF trajectories: what only several imports can show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geode_traj.sources import base
from tests.migrate import pipeline
from tests.support import cases
from tests.support.marked import marked

FIXTURES = cases.FIXTURES.parent / "atif"
CASES = sorted(path.parent for path in FIXTURES.glob("*/expect.json"))


def trajectory(**changes: Any) -> dict[str, Any]:
    steps = [
        {"step_id": 1, "source": "user", "message": "question"},
        {"step_id": 2, "source": "agent", "message": "answer", "metrics": {"prompt_tokens": 3}},
    ]
    return {
        "schema_version": "ATIF-v1.7",
        "session_id": "s",
        "agent": {"name": "a"},
        "steps": steps,
        **changes,
    }


def write(path: Path, value: dict[str, Any]) -> Path:
    path.write_text(json.dumps(value))
    return path


def texts(store: Path, session: str = "s") -> list[str]:
    found = (
        json.loads(row.payload_json).get("content")
        for row in pipeline.rows(store)
        if row.session_id == session
    )
    return [text for text in found if text is not None]


def test_a_later_state_takes_the_earlier_ones_place(tmp_path: Path) -> None:
    store, path = tmp_path / "sessions.db", tmp_path / "trajectory.json"
    value = trajectory(final_metrics={"total_steps": 2})
    pipeline.migrate(store, write(path, value))
    value["steps"].append({"step_id": 3, "source": "agent", "message": "more"})
    value["final_metrics"]["total_steps"] = 3
    (receipt,) = pipeline.migrate(store, write(path, value))
    assert receipt.status in ("superseded", "extended")
    assert texts(store) == ["question", "answer", "more"]
    assert [json.loads(row.payload_json) for row in pipeline.rows(store)][-1]["final_metrics"] == {
        "total_steps": 3
    }
    assert {row.session_generation for row in pipeline.rows(store)} == {1}
    (receipt,) = pipeline.migrate(store, write(path, value))
    assert receipt.status == "unchanged"


def test_the_same_content_in_another_layout_is_the_same(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, write(tmp_path / "a.json", trajectory()))
    other = tmp_path / "b.json"
    other.write_text(json.dumps(trajectory(), indent=4, sort_keys=True).replace("\n", "\r\n"))
    (receipt,) = pipeline.migrate(store, other)
    assert receipt.status == "unchanged"


def test_files_of_one_run_do_not_take_each_others_place(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    other = trajectory(steps=[{"step_id": 1, "source": "user", "message": "another question"}])
    pipeline.migrate(store, write(tmp_path / "a.json", trajectory()), write(tmp_path / "b.json", other))
    assert sorted(texts(store)) == ["another question", "answer", "question"]


def test_a_continuation_in_another_session_is_linked(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    first = trajectory(continued_trajectory_ref="next.json")
    write(tmp_path / "next.json", trajectory(session_id="t"))
    pipeline.migrate(store, write(tmp_path / "first.json", first), tmp_path / "next.json")
    links = pipeline.sql(store, "SELECT session_id, kind, target FROM traj_links")
    assert links == [("t", "resume", "s")]


@pytest.mark.parametrize("reference", ["../next.json", "/etc/passwd", "", "absent.json", ".", 7, "x\0"])
def test_a_continuation_is_only_sought_beside_the_file(reference: object, tmp_path: Path) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    write(tmp_path / "next.json", trajectory(session_id="t"))
    path = write(folder / "first.json", trajectory(continued_trajectory_ref=reference))
    (receipt,) = pipeline.migrate(tmp_path / "sessions.db", path)
    assert receipt.status == "imported"
    assert pipeline.sql(tmp_path / "sessions.db", "SELECT * FROM traj_links") == []


def test_steps_that_are_equal_in_all_stay_two(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    step = {"step_id": 1, "source": "user", "message": "again"}
    (receipt,) = pipeline.migrate(store, write(tmp_path / "a.json", trajectory(steps=[step, step])))
    assert receipt.new == 3
    assert texts(store) == ["again", "again"]


def test_sub_agents_are_linked_to_their_parents(tmp_path: Path) -> None:
    case = cases.render(FIXTURES / "sub-agents", tmp_path)
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, case / "input")
    links = pipeline.sql(store, "SELECT session_id, kind, target FROM traj_links ORDER BY session_id")
    assert links == [
        ("elsewhere", "parent", "whole-run"),
        ("helper-1", "parent", "whole-run"),
        ("helper-2", "parent", "whole-run"),
        ("whole-run/subagent_trajectories/0/subagent_trajectories/0", "parent", "helper-1"),
    ]


def test_sub_agents_that_name_each_others_places_stay_apart(tmp_path: Path) -> None:
    below = [
        {"trajectory_id": "s", "steps": []},
        {"trajectory_id": "s/subagent_trajectories/2", "steps": []},
        {"steps": []},
    ]
    (receipt,) = pipeline.migrate(
        tmp_path / "sessions.db", write(tmp_path / "a.json", trajectory(subagent_trajectories=below))
    )
    assert receipt.balanced
    assert len(receipt.sessions) == 4


def test_what_only_mentions_the_format_is_not_of_it() -> None:
    quoted = json.dumps({"text": json.dumps(trajectory())}).encode()
    nested = json.dumps({"trajectory": trajectory()}).encode()
    lines = b"\n".join([json.dumps({"schema_version": "ATIF-v1.7", "steps": []}).encode()] * 2)
    for data in (quoted, nested, lines, b"", b"{", b"[]", b'"schema_version": "ATIF-v1.7"'):
        assert not base.by_name("atif").detect(base.Probe(data, data))


def test_each_file_of_the_cases_is_of_this_format_alone(tmp_path: Path) -> None:
    for folder in CASES:
        for path in sorted((cases.render(folder, tmp_path) / "input").iterdir()):
            data = path.read_bytes()
            probe = base.Probe(data[: base.HEAD_BYTES], data[-base.TAIL_BYTES :], path)
            assert base.detect(probe).name == "atif", path


@pytest.mark.parametrize("name", ["calls", "continued", "media", "odd-shapes", "sub-agents", "unlinked"])
def test_a_member_that_nobody_knows_is_kept(name: str, tmp_path: Path) -> None:
    value = json.loads((FIXTURES / name / "input" / "trajectory.json").read_text())
    texts = list(marked(value))
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, write(tmp_path / "trajectory.json", value))
    kept = pipeline.export(store, *sorted({row.session_id for row in pipeline.rows(store)})).decode()
    assert [text for text in texts if f'"{text}"' not in kept] == []
