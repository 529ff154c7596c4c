"""OpenHands conversations: what only several imports can show."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from geode_traj.migrate.apply import apply
from geode_traj.migrate.plan import plan
from geode_traj.sources import base
from tests.migrate import pipeline
from tests.support import cases
from tests.support.marked import marked

FIXTURES = cases.FIXTURES.parent
CASES = sorted(
    path.parent
    for name in ("openhands", "openhands-stream")
    for path in (FIXTURES / name).glob("*/expect.json")
)


def event(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "kind": "MessageEvent",
        "id": f"{number:08d}-1111-4111-8111-000000000000",
        "timestamp": f"2026-03-01T10:{number // 60:02d}:{number % 60:02d}",
        "source": "user",
        "llm_message": {"role": "user", "content": [{"type": "text", "text": f"text {number}"}]},
        **changes,
    }


def conversation(path: Path, *numbers: int, session: str = "s") -> Path:
    pipeline.write_json(path / "base_state.json", {"id": session, "agent": {}})
    for place, number in enumerate(numbers):
        one = event(number)
        pipeline.write_json(path / "events" / f"event-{place:05d}-{one['id']}.json", one)
    return path


def texts(store: Path, session: str = "s") -> list[str]:
    rows = [row for row in pipeline.rows(store) if row.session_id == session]
    return [json.loads(row.payload_json)["content"] for row in rows if row.kind == "message.user"]


def test_a_folder_that_grows_takes_its_earlier_states_place(tmp_path: Path) -> None:
    store, path = tmp_path / "s.db", conversation(tmp_path / "conv", 1, 2)
    torn = path / "events" / "event-00002-00000003-1111-4111-8111-000000000000.json"
    torn.write_text(json.dumps(event(3))[:40])
    (receipt,) = pipeline.migrate(store, path)
    assert [one["reason"] for one in receipt.damaged] == ["torn_tail"]
    conversation(path, 1, 2, 3, 4)
    (receipt,) = pipeline.migrate(store, path)
    assert receipt.balanced
    assert texts(store) == ["text 1", "text 2", "text 3", "text 4"]
    assert {row.session_generation for row in pipeline.rows(store)} == {1}
    assert pipeline.document(store, "s")["integrity"]["damaged_lines"] == 0


def test_a_fork_is_linked_and_not_stored_twice(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    pipeline.migrate(store, conversation(tmp_path / "a", 1, 2))
    pipeline.migrate(store, conversation(tmp_path / "b", 1, 2, 3, session="t"))
    assert texts(store) == ["text 1", "text 2"]
    assert texts(store, "t") == ["text 3"]
    assert ("t", "copy", "s") in pipeline.sql(store, "SELECT session_id, kind, target FROM traj_links")


def test_a_list_of_what_a_folder_held_is_a_copy(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    pipeline.migrate(store, conversation(tmp_path / "a", 1, 2))
    (receipt,) = pipeline.migrate(store, pipeline.write_json(tmp_path / "export.json", [event(1), event(2)]))
    assert receipt.balanced
    assert texts(store, "export") == []


def test_a_stream_that_grows_adds_what_is_new(tmp_path: Path) -> None:
    store, path = tmp_path / "s.db", tmp_path / "s.jsonl"
    pipeline.migrate(store, pipeline.write_lines(path, [event(1), json.dumps(event(2))[:50]], end="\n"))
    pipeline.write_lines(path, [event(1), json.dumps(event(2))[:50], event(3)])
    (receipt,) = pipeline.migrate(store, path)
    assert receipt.new == 1
    assert texts(store) == ["text 1", "text 3"]


def test_events_of_a_folder_keep_their_order_beyond_five_digits(tmp_path: Path) -> None:
    store, path = tmp_path / "s.db", conversation(tmp_path / "conv", 1)
    for place in (99999, 100000):
        one = event(place)
        pipeline.write_json(path / "events" / f"event-{place}-{one['id']}.json", {**one, "timestamp": None})
    (receipt,) = pipeline.migrate(store, path)
    assert texts(store) == ["text 1", "text 99999", "text 100000"]
    assert receipt.losses["event_missing"] == 99998


def test_an_events_folder_alone_is_the_conversation_above_it(tmp_path: Path) -> None:
    path = conversation(tmp_path / "conv", 1)
    (receipt,) = pipeline.migrate(tmp_path / "s.db", path / "events")
    assert receipt.format == "openhands"
    assert texts(tmp_path / "s.db", "conv") == ["text 1"]


def test_a_folder_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = conversation(tmp_path / "conv", 1, 2)
    planned = plan([path], tmp_path / "s.db")
    pipeline.write_json(path / "events" / "event-00002-00000009-1111-4111-8111-000000000000.json", event(9))
    (receipt,) = apply(planned, tmp_path / "s.db")
    assert (receipt.status, receipt.code) == ("failed", "TE207")


def test_results_before_their_calls_are_held_up_to_a_bound(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = []
    for number in range(200):
        of = event(1000 + number)["id"]
        shown = {"content": [{"type": "text", "text": str(number)}]}
        lines.append(event(number, kind="ObservationEvent", action_id=of, tool_name="t", observation=shown))
    for number in range(1000, 1200):
        lines.append(event(number, kind="ActionEvent", thought=[], tool_name="t", tool_call_id=f"c{number}"))
    store = tmp_path / "s.db"
    (receipt,) = pipeline.migrate(store, pipeline.write_lines(tmp_path / "s.jsonl", lines))
    assert receipt.balanced
    assert receipt.converted == 400
    paired = pipeline.document(store, "s")["integrity"]["quality"]["tool_pairing"]["paired"]
    assert paired >= 64


def stats(tokens: int | None, cost: float) -> dict[str, Any]:
    return {"accumulated_cost": cost, "accumulated_token_usage": {"prompt_tokens": tokens}}


def test_accumulated_counts_become_what_each_used(tmp_path: Path) -> None:
    steps = [(10, 0.1), (25, 0.3), (25, 0.3), (None, 0.3), (5, 0.0)]
    events = [
        {"id": n, "timestamp": "2026-03-01T10:00:00", "source": "agent", "action": "message",
         "args": {"content": str(n)}, "llm_metrics": stats(*step)}
        for n, step in enumerate(steps)
    ]  # fmt: skip
    store = tmp_path / "s.db"
    pipeline.migrate(store, pipeline.write_json(tmp_path / "s.json", events))
    used = [told for told in pipeline.payloads(store) if "input_tokens" in told]
    assert [told["input_tokens"] for told in used] == [10, 15, 0, None, 5]
    assert [told["cost_usd"] for told in used] == [0.1, 0.2, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "file"), [("v0", "run-1"), ("delegates", "trajectory"), ("sdk-list", "conversation")]
)
def test_a_member_that_nobody_knows_is_kept(name: str, file: str, tmp_path: Path) -> None:
    value = json.loads((FIXTURES / "openhands" / name / "input" / f"{file}.json").read_text())
    expected = list(marked(value))
    store = tmp_path / "s.db"
    pipeline.migrate(store, pipeline.write_json(tmp_path / f"{file}.json", value))
    text = pipeline.exported(store)
    assert [one for one in expected if f'"{one}"' not in text] == []


def test_what_only_resembles_the_format_is_not_of_it() -> None:
    step = {"action": "ls", "observation": "a", "timestamp": "x", "source": "y"}
    for value in ([], {}, [{"kind": "MessageEvent"}], [step], {"items": [step]}, {"kind": "x", "id": 1}):
        data = json.dumps(value).encode()
        for name in ("openhands", "openhands-stream"):
            assert not base.by_name(name).detect(base.Probe(data, data)), value


def test_each_file_of_the_cases_is_of_these_formats_alone(tmp_path: Path) -> None:
    for folder in CASES:
        out = tmp_path / folder.parent.name
        out.mkdir(exist_ok=True)
        for path in sorted((cases.render(folder, out) / "input").iterdir()):
            if path.is_dir():
                assert base.claim(path) is base.by_name("openhands"), path
            else:
                assert pipeline.detected(path) == folder.parent.name, path


def test_other_folders_are_not_claimed(tmp_path: Path) -> None:
    pipeline.write_json(tmp_path / "events" / "1.json", {"action": "x"})
    pipeline.write_json(tmp_path / "other" / "events" / "event-00000-0123456789.json", [event(1)])
    assert base.claim(tmp_path) is None
    assert base.claim(tmp_path / "other") is None
    shutil.rmtree(tmp_path / "other" / "events")
    assert base.claim(tmp_path / "other") is None
