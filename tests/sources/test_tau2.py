"""tau2-bench results: what only several imports can show."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from geode_traj.sources import base
from tests.migrate import pipeline
from tests.support import cases
from tests.support.marked import marked

FIXTURES = cases.FIXTURES.parent
CASES = sorted(path.parent for path in (FIXTURES / "tau2").glob("*/expect.json"))


INFO = {"num_trials": 1, "agent_info": {"llm": "demo-model"}, "user_info": {}}


def simulation(name: str, *texts: str, reward: float = 1.0) -> dict[str, Any]:
    return {
        "id": name,
        "task_id": "7",
        "start_time": "2026-03-01T10:00:00",
        "termination_reason": "user_stop",
        "reward_info": {"reward": reward},
        "messages": [{"role": "user", "content": text, "turn_idx": n} for n, text in enumerate(texts)],
    }


def results(*simulations: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "timestamp": "2026-03-01T09:00:00",
        "info": INFO,
        "tasks": [],
        "simulations": [*simulations],
        **more,
    }


def texts(store: Path, session: str) -> list[str]:
    rows = [row for row in pipeline.rows(store) if row.session_id == session]
    return [json.loads(row.payload_json)["content"] for row in rows if row.kind == "message.user"]


def by_unit(receipts: list[Any]) -> dict[str, str]:
    return {receipt.source.rpartition("#")[2]: receipt.status for receipt in receipts}


def test_results_that_grow_add_simulations(tmp_path: Path) -> None:
    store, path = tmp_path / "s.db", tmp_path / "results.json"
    one = {**simulation("one", "a"), "reward_info": None}
    pipeline.migrate(store, pipeline.write_json(path, results(one)))
    receipts = pipeline.migrate(store, pipeline.write_json(path, results(one, simulation("two", "b"))))
    assert {key: status for key, status in by_unit(receipts).items() if key in ("one", "two")} == {
        "one": "unchanged",
        "two": "imported",
    }
    assert (texts(store, "one"), texts(store, "two")) == (["a"], ["b"])


def test_a_reward_refers_to_the_file_that_holds_it_now(tmp_path: Path) -> None:
    store, path = tmp_path / "s.db", tmp_path / "results.json"
    pipeline.migrate(store, pipeline.write_json(path, results(simulation("one", "a"))))
    pipeline.migrate(
        store, pipeline.write_json(path, results(simulation("one", "a"), simulation("two", "b")))
    )
    (reference,) = pipeline.document(store, "one")["evidence_refs"]
    digest = sha256(path.read_bytes()).hexdigest()
    assert reference == {
        "kind": "native_receipt",
        "schema_id": "tau2.results@native",
        "authority": "tau2 native results receipt",
        "reference": digest,
        "raw_artifact_sha256": digest,
    }
    assert pipeline.document(store, "one")["outcome"] == {"scored": False}
    assert texts(store, "one") == ["a"]


def test_a_simulation_graded_anew_takes_the_earlier_ones_place(tmp_path: Path) -> None:
    store, path = tmp_path / "s.db", tmp_path / "results.json"
    pipeline.migrate(store, pipeline.write_json(path, results(simulation("one", "a", reward=0.0))))
    receipts = pipeline.migrate(store, pipeline.write_json(path, results(simulation("one", "a", reward=1.0))))
    assert by_unit(receipts)["one"] in ("superseded", "extended")
    rewards = [
        told["_legacy"]["fields"]["reward_info"] for told in pipeline.payloads(store) if "references" in told
    ]
    assert rewards == [{"reward": 1.0}]
    assert {row.session_generation for row in pipeline.rows(store) if row.session_id == "one"} == {1}


def run_folder(path: Path, *simulations: dict[str, Any]) -> Path:
    pipeline.write_json(path / "results.json", {"info": INFO, "tasks": [{"id": "7"}], "simulation_index": []})
    for one in simulations:
        pipeline.write_json(path / "simulations" / f"{one['id']}.json", one)
    return path


def test_a_file_of_a_run_is_the_same_as_in_its_folder(tmp_path: Path) -> None:
    store, path = tmp_path / "s.db", run_folder(tmp_path / "run", simulation("one", "a"))
    pipeline.migrate(store, path)
    again = pipeline.migrate(store, path / "simulations" / "one.json", path / "results.json")
    assert {receipt.status for receipt in again} == {"unchanged"}


def test_results_that_cannot_be_read_hide_no_simulation(tmp_path: Path) -> None:
    path = run_folder(tmp_path / "run", simulation("one", "a"))
    (path / "results.json").write_text(json.dumps(results())[:-30])
    receipts = pipeline.migrate(tmp_path / "s.db", path)
    assert sorted(receipt.status for receipt in receipts) == ["failed", "imported"]
    assert texts(tmp_path / "s.db", "one") == ["a"]


def test_many_simulations_take_linear_time(tmp_path: Path) -> None:
    many = [{"id": "same", "task_id": n} for n in range(1500)]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(results(*many)).replace('"task_id": 3,', '"task_id": NaN,'))
    receipts = pipeline.migrate(tmp_path / "s.db", path)
    assert len(receipts) == 1501
    assert all(receipt.balanced for receipt in receipts)


@pytest.mark.parametrize(("name", "file"), [("results", "run-1/results.json"), ("alone", "sim.json")])
def test_a_member_that_nobody_knows_is_kept(name: str, file: str, tmp_path: Path) -> None:
    value = json.loads((FIXTURES / "tau2" / name / "input" / file).read_text())
    expected = list(marked(value))
    store = tmp_path / "s.db"
    pipeline.migrate(store, pipeline.write_json(tmp_path / "in" / file, value))
    text = pipeline.exported(store)
    assert [one for one in expected if f'"{one}"' not in text] == []


def test_what_is_in_a_tick_is_kept(tmp_path: Path) -> None:
    (path,) = (FIXTURES / "tau2" / "folder_fail" / "input" / "run-2" / "simulations").glob("cccccccc*")
    value = json.loads(path.read_text())
    expected = list(marked(value))
    store = tmp_path / "s.db"
    pipeline.migrate(store, pipeline.write_json(tmp_path / "one.json", value))
    text = pipeline.exported(store)
    assert [one for one in expected if f'"{one}"' not in text] == []


def test_what_only_resembles_the_format_is_not_of_it() -> None:
    source = base.by_name("tau2")
    for value in (
        [],
        {},
        {"info": {}},
        {"id": "x", "task_id": 1, "messages": []},
        {"info": INFO["agent_info"]},
    ):
        data = json.dumps(value).encode()
        assert not source.detect(base.Probe(data, data)), value


def test_each_file_of_the_cases_is_of_this_format_alone(tmp_path: Path) -> None:
    for folder in CASES:
        for path in sorted((cases.render(folder, tmp_path) / "input").iterdir()):
            if path.is_dir() and (path / "simulations").is_dir():
                assert base.claim(path) is base.by_name("tau2"), path
            else:
                assert pipeline.detected(path / "results.json" if path.is_dir() else path) == "tau2", path
