"""What stands in an exported trajectory: heads, times, reasons, several sessions, values and bytes alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geode_traj.codec import framed
from geode_traj.contract.times import parse
from geode_traj.errors import EXIT_REFUSED, DataError
from geode_traj.export.trajectory import Export
from geode_traj.store import opening
from geode_traj.verify import verify_bytes
from tests.migrate import pipeline
from tests.reference import geode


def store_of(folder: Path, *files: list[Any]) -> Path:
    for number, lines in enumerate(files):
        pipeline.write_lines(folder / "in" / f"{number}.jsonl", lines)
    pipeline.migrate(folder / "sessions.db", folder / "in")
    return folder / "sessions.db"


@pytest.mark.parametrize("ids", [["nobody"], [], ["nobody", "no one"]])
def test_nothing_to_export_is_refused(ids: list[str], tmp_path: Path) -> None:
    store = store_of(tmp_path, pipeline.dialogue("s1", "a"))
    with pytest.raises(DataError) as caught:
        pipeline.export(store, *ids, trajectory_id="x")
    assert (caught.value.code, caught.value.exit_code) == ("TE302", EXIT_REFUSED)


def test_several_sessions_in_database_order_each_once(tmp_path: Path) -> None:
    both = [
        line
        for pair in zip(pipeline.dialogue("a", "x"), pipeline.dialogue("b", "y"), strict=True)
        for line in pair
    ]
    both = [{**line, "session_id": "ab"[n % 2]} for n, line in enumerate(both)]
    store = store_of(tmp_path, both, pipeline.dialogue("c", "z", start=3e9))
    doc = json.loads(pipeline.export(store, "c", "a", "b", "a", trajectory_id="t1"))
    assert [event["session_id"] for event in doc["events"]] == list("abababccc")
    assert [event["ordinal"] for event in doc["events"]] == list(range(1, 10))
    assert doc["trajectory_id"] == doc["source"]["session"] == doc["source"]["run"] == "t1"
    assert doc["integrity"]["scope_complete"] is True
    assert geode.check_trajectory(doc) == []


def test_a_session_that_is_not_there_is_a_reason(tmp_path: Path) -> None:
    store = store_of(tmp_path, pipeline.dialogue("a", "x"), pipeline.dialogue("b", "y", ended=False))
    integrity = json.loads(pipeline.export(store, "b", "a", "nobody", trajectory_id="t1"))["integrity"]
    assert integrity["scope_incompleteness"] == [
        "session b has no terminal event",
        "session nobody has no canonical events",
    ]
    assert integrity["replay_incompleteness"] == ["producer declared trajectory replay incomplete"]


def test_captured_at_is_the_greatest_event_time(tmp_path: Path) -> None:
    start, question, answer, end = pipeline.dialogue("s1", "a", "b")
    question["ts"] = pipeline.START + 500.5
    store = store_of(tmp_path, [start, question, answer, end])
    doc = pipeline.document(store, "s1")
    assert doc["captured_at"] == "2025-06-15T15:15:00.500000Z"
    times = [parse(event["occurred_at"]) for event in doc["events"]]
    assert [moment[0] - pipeline.START for moment in times if moment] == [0, 500.5, 2, 3]  # file order


def test_values_and_bytes_are_the_same_trajectory(tmp_path: Path) -> None:
    store = store_of(tmp_path, [*pipeline.dialogue("s1", "a", "x" * 150_000), "{torn"])
    data = pipeline.export(store, "s1")
    with opening.open_reader(store) as connection:
        made = Export(connection, ["s1"])
        document = made.document()
        texts = list(document.events)
        assert {**document.head, "events": [text.value for text in texts]} == json.loads(data)
        assert [text.data for text in texts] == [line.removesuffix(b",") for line in data.splitlines()[1:-1]]
        assert made.result.records == len(texts) == 4
        assert made.result.completeness.scope_reasons == ("1 source line(s) damaged",)
        assert (made.result.trajectory_id, made.result.derived) == ("geode-session-s1", 2)


def test_a_result_is_known_only_at_the_end(tmp_path: Path) -> None:
    store = store_of(tmp_path, pipeline.dialogue("s1", "a"))
    with opening.open_reader(store) as connection:
        made = Export(connection, ["s1"])
        next(made.chunks())
        with pytest.raises(RuntimeError):
            made.result  # noqa: B018


def test_a_file_is_line_framed_and_canonical(tmp_path: Path) -> None:
    store = store_of(tmp_path, pipeline.dialogue("s1", "a\u2028b", "é 😀"))
    data = pipeline.export(store, "s1")
    lines = data.split(b"\n")
    assert lines[-1] == b""
    assert framed.is_framed(lines[0])
    assert len(lines) == 1 + 4 + 1 + 1
    doc = json.loads(data)
    assert data.replace(b"\n", b"").decode() == geode.compact(doc)
    assert verify_bytes(data).verdict == "valid"


def test_what_ours_adds_is_counted(tmp_path: Path) -> None:
    secret = "gh" + "p_" + "a1B2" * 9
    lines: list[Any] = [
        *pipeline.dialogue("s1", f"use {secret} or {secret}", ended=False),
        {"event": "tool_call", "tool": "t", "input": {}, "ts": 5},
        {"event": "tool_result", "tool": "t", "summary": "ok", "ts": 6},
        {"event": "session_end"},
        "{torn",
        "[]",
    ]
    integrity = pipeline.document(store_of(tmp_path, lines), "s1")["integrity"]
    assert integrity["value_redactions"] == {"github_token": 2}
    assert integrity["damaged_lines"] == 2
    assert integrity["derived"] == {
        "user_message_span": 2,
        "call_order": 1,
        "turn_of_call": 1,
        "open_call_of_tool": 1,
        "previous_record": 1,
    }
    assert integrity["scope_incompleteness"] == ["2 source line(s) damaged"]


def test_failures_of_any_generation_are_reported(tmp_path: Path) -> None:
    first = pipeline.dialogue("s1", "a")
    first[-1]["record_failures"] = 1
    store = store_of(tmp_path, [*first, *pipeline.dialogue("s1", "b", start=2e9)])
    reasons = pipeline.document(store, "s1")["integrity"]["scope_incompleteness"]
    assert reasons == ["session s1 reports canonical write failures"]


def test_references_in_verification_events_become_evidence(tmp_path: Path) -> None:
    one = {"kind": "legacy", "schema_id": "x", "authority": "y", "reference": "r1"}
    two = {**one, "reference": "r2", "more": [1]}
    store = geode.create_store(tmp_path / "sessions.db")
    for row, kind, listed in [
        (2, "verification.evidence", [one, two, {"kind": "odd"}, 5, one]),
        (3, "verification.pending", [two]),
        (5, "message.assistant", [{**one, "reference": "r3"}]),
    ]:
        text = geode.compact({"references": listed})
        query = "UPDATE session_events SET kind = ?, payload_json = ?, payload_hash = ? WHERE id = ?"
        pipeline.sql(store, query, kind, text, geode.sha256(text), row)
    doc = pipeline.document(store, "demo-finished")
    assert doc["evidence_refs"] == [one, two]
    assert geode.check_trajectory(doc) == []
