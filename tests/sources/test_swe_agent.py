"""SWE-agent's trajectories: what only several imports can show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geode_traj.sources import base, document
from tests.migrate import pipeline
from tests.support import cases
from tests.support.marked import marked

FIXTURES = cases.FIXTURES.parent
CASES = sorted(path.parent for path in (FIXTURES / "swe-agent").glob("*/expect.json"))


def run(*texts: str, **changes: Any) -> dict[str, Any]:
    steps = [
        {"action": text, "observation": f"saw {text}", "response": f"do {text}", "thought": f"do {text}"}
        for text in texts
    ]
    return {"environment": "main", "trajectory": steps, "history": [], "info": {}, **changes}


def commands(store: Path) -> list[str]:
    return [told["arguments"]["command"] for told in pipeline.payloads(store) if "arguments" in told]


def test_a_later_state_takes_the_earlier_ones_place(tmp_path: Path) -> None:
    store, path = tmp_path / "s.db", tmp_path / "demo.traj"
    pipeline.migrate(store, pipeline.write_json(path, run("a", "b")))
    ended = {"exit_status": "submitted"}
    (receipt,) = pipeline.migrate(store, pipeline.write_json(path, run("a", "b", "c", info=ended)))
    assert receipt.status in ("superseded", "extended")
    assert commands(store) == ["a", "b", "c"]
    assert pipeline.rows(store)[-1].kind == "session.ended"
    assert {row.session_generation for row in pipeline.rows(store)} == {1}


def test_two_runs_of_one_instance_stay_two(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    paths = [pipeline.write_json(tmp_path / name / "demo.traj", run("a", name)) for name in ("x", "y")]
    paths.append(pipeline.write_json(tmp_path / "z" / "demo.traj", run("other", "z")))
    receipts = pipeline.migrate(store, *paths)
    assert [receipt.status for receipt in receipts].count("imported") >= 2
    assert {row.session_id for row in pipeline.rows(store)} == {"demo"}
    assert commands(store)[-2:] == ["other", "z"]
    assert len({row.session_generation for row in pipeline.rows(store)}) > 1


def test_the_same_content_in_another_layout_is_the_same(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    pipeline.migrate(store, pipeline.write_json(tmp_path / "a" / "demo.traj", run("a")))
    other = tmp_path / "demo.traj"
    other.write_bytes(b"\xef\xbb\xbf" + json.dumps(run("a"), indent=2).replace("\n", "\r\n").encode())
    assert [receipt.status for receipt in pipeline.migrate(store, other)] == ["unchanged"]


@pytest.mark.parametrize("name", ["calls", "shell", "attempts"])
def test_a_member_that_nobody_knows_is_kept(name: str, tmp_path: Path) -> None:
    (path,) = (FIXTURES / "swe-agent" / name / "input").iterdir()
    value = json.loads(path.read_text())
    texts = list(marked(value))
    store = tmp_path / "s.db"
    pipeline.migrate(store, pipeline.write_json(tmp_path / path.name, value))
    text = pipeline.exported(store)
    assert [one for one in texts if f'"{one}"' not in text] == []


def test_a_document_that_is_too_large_is_refused_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "MAX_WHOLE", 4096)
    pipeline.write_json(tmp_path / "in" / "large.traj", run("a" * 5000))
    pipeline.write_json(tmp_path / "in" / "small.traj", run("a"))
    receipts = pipeline.migrate(tmp_path / "s.db", tmp_path / "in")
    assert {receipt.code for receipt in receipts} == {None, "TE203"}
    assert commands(tmp_path / "s.db") == ["a"]


def test_nesting_beyond_the_bound_is_refused_alone(tmp_path: Path) -> None:
    deep = json.dumps(run("a", extra="here")).replace('"here"', '{"x":' * 3000 + "1" + "}" * 3000)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "deep.traj").write_text(deep)
    pipeline.write_json(tmp_path / "in" / "flat.traj", run("b"))
    receipts = pipeline.migrate(tmp_path / "s.db", tmp_path / "in")
    assert {receipt.code for receipt in receipts} == {None, "TE204"}
    assert commands(tmp_path / "s.db") == ["b"]


def test_media_become_bodies_of_their_own(tmp_path: Path) -> None:
    data = "A" * 400_000
    part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    history = [{"role": "user", "agent": "main", "content": [{"type": "text", "text": "see"}, part]}]
    store = tmp_path / "s.db"
    pipeline.migrate(store, pipeline.write_json(tmp_path / "demo.traj", {"history": history}))
    assert max(len(row.payload_json) for row in pipeline.rows(store)) < 4096
    message = pipeline.document(store, "demo")["events"][-1]["payload"]
    assert message["attachments"] == [{"media_type": "image/png", "bytes": 300_000, "data": data}]


def test_many_steps_without_messages_take_linear_time(tmp_path: Path) -> None:
    history = [{"role": "assistant", "agent": "main", "content": f"m{n}"} for n in range(3000)]
    store = tmp_path / "s.db"
    value = run(*(f"s{n}" for n in range(3000)), history=history)
    (receipt,) = pipeline.migrate(store, pipeline.write_json(tmp_path / "demo.traj", value))
    assert receipt.balanced
    assert len(commands(store)) == 3000


def test_what_only_resembles_the_format_is_not_of_it() -> None:
    source = base.by_name("swe-agent")
    for value in (
        [],
        {},
        {"trajectory": []},
        {"trajectory": [{"action": "x"}]},
        {"history": [{"role": "user"}]},
    ):
        data = json.dumps(value).encode()
        assert not source.detect(base.Probe(data, data)), value


def test_each_file_of_the_cases_is_of_this_format_alone(tmp_path: Path) -> None:
    for folder in CASES:
        for path in sorted((cases.render(folder, tmp_path) / "input").iterdir()):
            assert pipeline.detected(path) == "swe-agent", path
