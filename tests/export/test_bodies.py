"""Bodies over the bounds: a full export puts them back, a digest does not, and nobody else's is reached."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geode_traj.contract.bounds import MAX_BYTES
from tests.migrate import pipeline
from tests.reference import geode

ISSUE = "1 event payload(s) are truncated, corrupt, or omitted"
LONG = "é" * 100_001
DEEP: Any = "leaf"
for _ in range(14):
    DEEP = {"down": DEEP}

# What a row brings, what the stored payload shows of it, and the pointers of what is kept beside.
SHAPES: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "text": ({"text": LONG}, {"content": "é" * 100_000 + "…[truncated:1]"}, ["/content"]),
    "nested": ({"a": {"b/c": ["x", LONG]}}, {}, ["/a/b~1c/1"]),
    "items": ({"a": list(range(257))}, {"a": [*range(256), {"_truncated_items": 1}]}, ["/a"]),
    "keys": ({"a": {f"{n:03}": n for n in range(300)}}, {}, ["/a"]),
    "long key": ({"a": {"k" * 129: 1}}, {"a": {"k" * 128 + "…[truncated:1]": 1}}, ["/a"]),
    "deep": ({"a": DEEP}, {}, ["/a" + "/down" * 11]),
    "several": ({"a": "x" * 100_001, "b": ["y" * 100_001]}, {}, ["/a", "/b/0"]),
    "heavy": ({"a": ["x" * 90_000] * 3}, {"_truncated": True, "keys": ["_legacy", "a", "content"]}, [""]),
    "heavy and long": ({"a": [LONG] * 3}, {"_truncated": True}, [""]),
    "many long": ({f"k{n}": "x" * 100_001 for n in range(3)}, {"_truncated": True}, [""]),
}


def store_with(folder: Path, row: dict[str, Any]) -> Path:
    start, *_, end = pipeline.dialogue("s1", "")
    line = {"event": "user_message", "text": "short", **row, "ts": pipeline.START + 1}
    source = pipeline.write_lines(folder / "s1.jsonl", [start, line, end])
    (receipt,) = pipeline.migrate(folder / "sessions.db", source)
    assert receipt.status == "imported"
    return folder / "sessions.db"


@pytest.mark.parametrize("name", SHAPES)
def test_what_was_cut_comes_back(name: str, tmp_path: Path) -> None:
    row, shown, pointers = SHAPES[name]
    store = store_with(tmp_path, row)
    stored = pipeline.payloads(store)[1]
    assert stored.items() >= shown.items()
    assert [one["pointer"] for one in stored["_blobs"]] == pointers
    assert len(json.dumps(stored, ensure_ascii=False, separators=(",", ":")).encode()) <= MAX_BYTES
    assert [one["bytes"] for one in stored["_blobs"]] == [len(body) for body in pipeline.bodies(store)]

    doc = pipeline.document(store, "s1")
    event = doc["events"][1]["payload"]
    assert "_blobs" not in event
    wanted = {"content": "short", **row}
    wanted["content"] = wanted.pop("text", wanted["content"])
    assert {key: event[key] for key in wanted} == wanted
    assert doc["integrity"]["replay_complete"] is True
    assert geode.check_trajectory(doc) == []


@pytest.mark.parametrize("name", SHAPES)
def test_a_digest_runs_over_what_is_stored(name: str, tmp_path: Path) -> None:
    store = store_with(tmp_path, SHAPES[name][0])
    stored = pipeline.payloads(store)[1]
    doc = pipeline.document(store, "s1", content="digest")
    omitted = {
        key: value for key, value in stored.items() if key not in ("_blobs", "_derived", "_redactions")
    }
    event = doc["events"][1]["payload"]
    assert event["_omitted_payload_sha256"] == geode.sha256(geode.compact(omitted))
    assert event["_content_omitted"] == sorted(omitted)
    assert geode.check_trajectory(doc) == []


@pytest.mark.parametrize("name", SHAPES)
def test_a_reader_without_blobs_sees_an_ordinary_truncated_payload(name: str, tmp_path: Path) -> None:
    store = store_with(tmp_path, SHAPES[name][0])
    theirs = geode.export_session(geode.read_store(store), "s1")
    assert geode.check_trajectory(theirs) == []
    counted = name != "long key"  # the contract counts cut values, not cut keys
    assert theirs["integrity"]["quality"]["payload_issue_events"] == counted
    assert (ISSUE in theirs["integrity"]["replay_incompleteness"]) is counted


def test_a_tool_name_in_a_cut_payload_still_pairs(tmp_path: Path) -> None:
    start, *_, end = pipeline.dialogue("s1", "")
    heavy = {"a": ["x" * 90_000] * 3}
    lines = [
        start,
        {"event": "tool_call", "tool": "big", "input": heavy, "ts": 1},
        {"event": "tool_call", "tool": "other", "input": {}, "ts": 2},
        {"event": "tool_result", "tool": "big", "summary": "s", "more": heavy, "ts": 3},
        {"event": "tool_result", "tool": "other", "summary": "s", "ts": 4},
        end,
    ]
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "s1.jsonl", lines))
    for content in ("full", "digest"):
        doc = pipeline.document(store, "s1", content=content)  # type: ignore[arg-type]
        calls = [event["call_id"] for event in doc["events"][1:5]]
        assert calls == ["call-1-1", "call-1-2", "call-1-1", "call-1-2"]
        assert doc["integrity"]["scope_complete"] is True


def test_failures_in_a_cut_payload_are_still_reported(tmp_path: Path) -> None:
    start, *_ = pipeline.dialogue("s1", "")
    end = {"event": "session_end", "record_failures": 2, "a": ["x" * 90_000] * 3, "ts": pipeline.START + 9}
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "s1.jsonl", [start, end]))
    for content in ("full", "digest"):
        integrity = pipeline.document(store, "s1", content=content)["integrity"]  # type: ignore[arg-type]
        assert integrity["scope_incompleteness"] == ["session s1 reports canonical write failures"]


def test_a_transcript_s_own_blobs_lead_nowhere(tmp_path: Path) -> None:
    store = store_with(tmp_path, {"text": "quiet-harbour " + LONG})
    (listed,) = pipeline.payloads(store)[1]["_blobs"]
    thief = [
        {"event": "session_start", "session_id": "thief", "ts": 1},
        {"event": "user_message", "text": "x", "session_id": "thief", "_blobs": [listed], "ts": 2},
        {"event": "user_message", "text": "x", "session_id": "thief", "a": {"_blobs": [listed]}, "ts": 3},
        {"event": "user_message", "text": LONG, "session_id": "thief", "_blobs": [listed], "ts": 4},
        {"event": "session_end", "session_id": "thief", "ts": 5},
    ]
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "thief.jsonl", thief))
    for content in ("full", "digest"):
        assert b"quiet-harbour" not in pipeline.export(store, "thief", content=content)  # type: ignore[arg-type]
    events = pipeline.document(store, "thief")["events"]
    assert [event["payload"]["content"] for event in events[1:4]] == ["x", "x", LONG]
    assert events[1]["payload"]["_legacy"]["fields"]["_blobs"] == [listed]  # told, as the row's own text
    # the same by way of a trajectory file
    forged = json.loads(pipeline.export(store, "thief"))
    for number, event in enumerate(forged["events"]):
        event["event_id"], event["session_id"] = f"f{number}", "forged"
        event["payload"]["_blobs"] = [listed]
    (tmp_path / "forged.json").write_text(json.dumps(forged))
    (receipt,) = pipeline.migrate(store, tmp_path / "forged.json")
    assert receipt.status == "imported"
    assert b"quiet-harbour" not in pipeline.export(store, "forged")


@pytest.mark.parametrize("packed", ["X'00'", "'x'", "5", "zeroblob(900)"])
def test_a_damaged_body_leaves_the_cut_payload_with_its_marker(packed: str, tmp_path: Path) -> None:
    store = store_with(tmp_path, {"text": LONG})
    for damage in (f"UPDATE traj_blobs SET zstd = {packed}", "DELETE FROM traj_blobs"):
        pipeline.sql(store, damage)
        integrity = pipeline.document(store, "s1")["integrity"]
        assert integrity["missing_blobs"] == 1
        assert not integrity["replay_complete"]
    assert pipeline.document(store, "s1", content="digest")["integrity"]["record_count"] == 3


def test_equal_bodies_are_kept_once(tmp_path: Path) -> None:
    text = "x" * 100_001
    store = store_with(tmp_path, {"text": text, "again": text})
    assert len(list(pipeline.bodies(store))) == 1
    assert len(pipeline.sql(store, "SELECT * FROM traj_blob_refs")) == 2
