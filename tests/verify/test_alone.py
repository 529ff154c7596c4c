"""The verifier as a small library: one import, bytes or events in, and nothing else of the house loaded."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from geode_traj.verify import verify
from tests.reference import geode

_ALONE = """
import json, sys
from geode_traj.verify import verify
results = [verify(data).verdict for data in (sys.stdin.buffer.read(), b"[]")] + [verify(iter([])).verdict]
print(json.dumps([results, sorted(sys.modules)]))
"""
NOT_LOADED = {
    "click",
    "rich",
    "sqlite3",
    "platformdirs",
    "tomllib",
    "http",
    "ssl",
    "asyncio",
    "multiprocessing",
}
ROOMS = {"errors", "model", "codec", "contract", "verify"}


@pytest.fixture(scope="module")
def trajectory(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    store = geode.create_store(tmp_path_factory.mktemp("store") / "sessions.db")
    found: dict[str, Any] = geode.export_session(geode.read_store(store), "demo-finished")
    return found


def test_it_loads_nothing_else(trajectory: dict[str, Any]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ALONE], input=json.dumps(trajectory).encode(), capture_output=True, check=True
    )
    verdicts, modules = json.loads(done.stdout)
    assert verdicts == ["valid", "unreadable", "incomplete"]
    rooms = {name.split(".")[1] for name in modules if name.startswith("geode_traj.")}
    assert rooms <= ROOMS
    assert not {name.partition(".")[0] for name in modules} & NOT_LOADED


def test_events_are_judged_like_bytes(trajectory: dict[str, Any]) -> None:
    head = {key: value for key, value in trajectory.items() if key != "events"}
    of_bytes = verify(json.dumps(trajectory).encode())
    late: dict[str, Any] = {}

    def events() -> Any:
        yield from trajectory["events"]
        late.update(head)

    for of_events in (verify(iter(trajectory["events"]), head), verify(events(), late)):
        assert of_events.verdict == of_bytes.verdict == "valid"
        assert of_events.quality == of_bytes.quality
        layout = {"GT115"}  # how the bytes lie, which events do not have
        assert {f.code for f in of_events.findings} == {f.code for f in of_bytes.findings} - layout


def test_a_false_claim_of_the_head_is_found(trajectory: dict[str, Any]) -> None:
    head = {key: value for key, value in trajectory.items() if key != "events"}
    head["integrity"] = {**head["integrity"], "record_count": 99}
    result = verify(trajectory["events"], head)
    assert (result.verdict, [f.code for f in result.findings if f.severity == "error"]) == (
        "invalid",
        ["GT701"],
    )


def test_without_a_head_only_events_are_judged(trajectory: dict[str, Any]) -> None:
    events = trajectory["events"]
    assert verify(events).verdict == "valid"
    answers = [event for event in events if event["call_id"]][-1:]
    assert verify([event for event in events if event not in answers]).scope_reasons
    assert verify([*events, events[0]]).verdict == "invalid"
    assert [f.code for f in verify([{"ordinal": 1}]).findings if f.severity == "error"][:1] == ["GT102"]
