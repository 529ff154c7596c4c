from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.codec.jsonl import MAX_LINE
from geode_traj.sources.stimm.instances import COMPLETED, STARTED, Instances
from geode_traj.sources.stimm.observed import observed
from tests.migrate import pipeline
from tests.support import cases

FIXTURES = cases.FIXTURES.parent / "stimm"


def event(name: str, seq: int, at: int = 0, **more: Any) -> dict[str, Any]:
    component = more.pop("component", "conversation_supervisor")
    return {
        "component": component,
        "event": name,
        "ts_ms": 1_788_256_800_000 + at,
        "inference_seq": seq,
        **more,
    }


def line(value: object, prefix: str = "INFO demo ") -> str:
    return f"{prefix}OBS_JSON {json.dumps(value, separators=(',', ':'))}\n"


def test_a_log_that_grows_gives_only_its_new_lines(tmp_path: Path) -> None:
    store, path = tmp_path / "store.db", tmp_path / "worker.log"
    whole = [
        line(event("inference_started", 1)),
        "INFO something else\n",
        line(event("no_action", 1, 10)),
        line(event("inference_started", 1, 5000)),
        line(event("trigger_sent", 1, 5010, text_chars=2, preview="hi")),
    ]
    path.write_text(whole[0] + whole[1] + whole[2][:-30])
    (first,) = pipeline.migrate(store, path)
    assert [one["reason"] for one in first.damaged] == ["torn_tail"]
    assert first.losses == {"inference_without_completion": 1}
    reasons = pipeline.document(store, "worker")["integrity"]["scope_incompleteness"]
    assert reasons[0] == "1 inference(s) without a terminal event"
    early = pipeline.rows(store)
    path.write_text("".join(whole))
    (second,) = pipeline.migrate(store, path)
    assert (second.status, second.new, second.damaged_count) == ("extended", 4, 0)
    assert pipeline.rows(store)[: len(early)] == early
    integrity = pipeline.document(store, "worker")["integrity"]
    assert integrity["scope_incompleteness"] == ["session worker has no terminal event"]
    assert integrity["damaged_lines"] == 0
    fresh = tmp_path / "fresh.db"
    pipeline.migrate(fresh, path)
    assert [row.event_id for row in pipeline.rows(fresh)] == [row.event_id for row in pipeline.rows(store)]


def test_a_supervisor_that_speaks_late_in_a_long_log_is_found(tmp_path: Path) -> None:
    store, path = tmp_path / "store.db", tmp_path / "worker.log"
    noise = "2026-09-01 10:00:00 DEBUG demo nothing to see here\n" * 10_000
    path.write_text(noise + line(event("no_action", 1)) + noise)
    (receipt,) = pipeline.migrate(store, path)
    assert (receipt.format, receipt.converted, receipt.foreign) == ("stimm", 1, 20_000)


def test_a_long_log_without_a_supervisor_is_no_format(tmp_path: Path) -> None:
    path = tmp_path / "worker.log"
    path.write_text(("DEBUG demo OBS_JSON is not at work here\n") * 20_000)
    (receipt,) = pipeline.migrate(tmp_path / "store.db", path)
    assert receipt.code == "TE205"


def test_a_line_without_end_hides_no_other(tmp_path: Path) -> None:
    store, path = tmp_path / "store.db", tmp_path / "worker.log"
    path.write_text(
        line(event("inference_started", 1)) + "x" * (MAX_LINE + 1) + "\n" + line(event("no_action", 1))
    )
    (receipt,) = pipeline.migrate(store, path)
    assert (receipt.converted, [one["reason"] for one in receipt.damaged]) == (2, ["line_too_long"])


@pytest.mark.parametrize("depth", range(5))
def test_a_line_is_found_in_hosts_up_to_three_deep(depth: int) -> None:
    text = line(event("no_action", 1))
    for _ in range(depth):
        text = json.dumps({"log": text})
    assert (observed(text.encode()) is not None) == (depth <= 3)


@pytest.mark.parametrize(
    "text",
    [
        "OBS_JSON{}",
        'OBS_JSON {"component":"other"}',
        "OBS_JSON [1]",
        "OBS_JSON null",
        'OBS_JSON {"component":"conversation_supervisor"} and more',
        'x {"a":"OBS_JSON ',
        '{"a":"OBS_JSON {\\"component\\":\\"conversation_supervisor\\"}',
        "OBS_JSON " + "[" * 5000,
        "OBS_JSON " + '{"component":' * 5000,
        '{"a":' * 3000 + "OBS_JSON ",
    ],
)
def test_what_only_looks_like_a_line_is_none(text: str) -> None:
    assert observed(text.encode()) is None


@given(st.text(), st.integers(1, 10**30), st.text(alphabet=' {}[]":,abOBS_JSN\\n', max_size=40))
def test_a_line_is_read_behind_any_prefix(preview: str, seq: int, prefix: str) -> None:
    value = event("trigger_sent", seq, preview=preview.encode("utf-8", "replace").decode())
    text = prefix.replace("OBS_JSON ", "") + line(value, prefix="")
    read = observed(text.encode())
    assert read is not None and read.value == value


@given(st.lists(st.tuples(st.sampled_from([STARTED, COMPLETED, "no_action", "other"]), st.integers(0, 6))))
def test_instances_depend_on_the_lines_before_alone(feed: list[tuple[str, int]]) -> None:
    whole = Instances()
    numbers = [whole.place(name, seq)[0].number for name, seq in feed]
    for length in range(len(feed)):
        part = Instances()
        assert [part.place(name, seq)[0].number for name, seq in feed[:length]] == numbers[:length]
    started = [seq for name, seq in feed if name == STARTED]
    assert whole.unfinished()[STARTED] <= len(started)


@given(st.lists(st.integers(1, 8), min_size=1, max_size=8))
def test_instances_one_after_the_other_are_told_apart(lengths: list[int]) -> None:
    instances = Instances()
    for number, length in enumerate(lengths, start=1):
        for seq in range(1, length + 1):
            for name in (STARTED, COMPLETED, "no_action"):
                instance, opened = instances.place(name, seq)
                assert (instance.number, opened) == (number, seq == 1 and name == STARTED)
    assert (instances.ambiguous(), instances.without_start, instances.unfinished().total()) == (0, 0, 0)
