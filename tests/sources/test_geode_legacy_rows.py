"""What becomes of a legacy row: each key has a place, each odd value is told where it stands."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.codec.canonical import dumps
from geode_traj.errors import TrajError
from geode_traj.migrate.apply import apply
from geode_traj.migrate.plan import plan
from geode_traj.sources.base import Probe, by_name
from geode_traj.sources.geode_legacy import SOURCE
from tests.migrate import pipeline


def stored(folder: Path, *lines: bytes | dict[str, Any]) -> list[tuple[Any, dict[str, Any]]]:
    """Import lines as one file and return (row, payload) of each event."""
    texts = (line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    path = folder / "s1.jsonl"
    path.write_bytes(b"".join(text + b"\n" for text in texts))
    store = folder / "sessions.db"
    receipts = list(apply(plan([path], store, format_name="geode-legacy"), store))
    assert all(receipt.balanced and receipt.status == "imported" for receipt in receipts)
    return [(row, json.loads(row.payload_json)) for row in pipeline.rows(store)]


FIELDS = "/_legacy/fields"


@pytest.mark.parametrize(
    ("line", "escaped", "nonfinite"),
    [
        (b'"event":"user_message","text":"\xff"', ["/content"], []),
        (b'"event":"user_message","payload":{"text":"\xff"}', ["/content", "/payload/text"], []),
        (b'"event":"user_message","content":"c","text":"\xff"', [f"{FIELDS}/text"], []),
        (b'"event":"tool_call","tool":"\xff"', ["/tool"], []),
        (b'"event":"tool_call","input":{"a":["\xff",NaN]}', ["/arguments/a/0"], ["/arguments/a/1"]),
        (rb'"event":"tool_call","input":"{\"a\":\"\\ud83d\",\"b\":NaN}"', ["/arguments/a"], ["/arguments/b"]),
        (rb'"event":"tool_call","input":"[\"\\ud83d\"]"', ["/arguments/_value/0"], []),
        (b'"event":"tool_call","input":"\xff cut"', ["/arguments/_legacy_fragment"], []),
        (b'"event":"tool_call","input":["\xff"]', [f"{FIELDS}/input/0"], []),
        (b'"event":"tool_call","arguments":1,"input":"[NaN,\xff]"', [f"{FIELDS}/input"], []),
        (b'"event":"tool_result","summary":"\xff","text":NaN', ["/summary"], [f"{FIELDS}/text"]),
        (b'"event":"odd \xff","a":Infinity', ["/_legacy/event"], ["/a"]),
        (b'"event":"x","k\xff":1', ["/k\\xff"], []),
        (b'"event":"x","_blobs":["\xff"]', [f"{FIELDS}/_blobs/0"], []),
        (b'"event":"x","model":"\xff"', ["/model"], []),
        (b'"event":"x","ts":NaN', [], [f"{FIELDS}/ts"]),
    ],
)
def test_pointers_lead_into_the_payload(line: bytes, escaped: list, nonfinite: list, tmp_path: Path) -> None:
    ((row, payload),) = stored(tmp_path, b"{" + line + b"}")
    assert sorted(payload.get("_escaped", [])) == escaped
    assert sorted(payload.get("_nonfinite", [])) == nonfinite
    whole = {**payload, "model": row.model}
    for pointer in [*escaped, *nonfinite]:
        value = whole
        for step in pointer.split("/")[1:]:
            value = value[int(step)] if isinstance(value, list) else value[step]
        assert isinstance(value, str) or pointer.startswith("/k")


@pytest.mark.parametrize(
    ("event", "row", "payload", "kept"),
    [
        ("user_message", {"text": "a", "tool": "t", "summary": "s"}, {"content": "a"}, "tool summary"),
        ("user_message", {"text": ""}, {"content": ""}, ""),
        ("user_message", {"text": None}, {"content": ""}, "text"),
        ("user_message", {"text": {"a": 1}}, {"content": {"a": 1}}, ""),
        ("user_message", {"content": "own", "text": "a"}, {"content": "own"}, "text"),
        ("assistant_message", {"payload": {"text": "d"}}, {"content": "d", "payload": {"text": "d"}}, ""),
        ("tool_call", {"tool": "t", "input": '{"a":1,"a":2}'}, {"arguments": {"a": 2}}, "input"),
        ("tool_call", {"input": {"a": 1}}, {"tool": "", "arguments": {"a": 1}}, ""),
        ("tool_call", {"input": "5"}, {"arguments": {"_value": 5}}, ""),
        ("tool_call", {"input": '{"cut'}, {"arguments": {"_legacy_fragment": '{"cut'}}, ""),
        ("tool_call", {"input": 5}, {"arguments": {}}, "input"),
        ("tool_call", {"tool": None}, {"tool": "", "arguments": {}}, "tool"),
        ("tool_result", {"tool": "t", "summary": ""}, {"tool": "t", "summary": ""}, ""),
        ("tool_result", {"tool": "t"}, {"summary": ""}, ""),
        ("subagent_complete", {"summary": "s", "status": "ok"}, {"summary": "s"}, ""),
        ("subagent_start", {"summary": "s"}, {}, "summary"),
        ("gui_step", {"text": "t", "input": {"a": 1}}, {}, "text input"),
        ("x", {"seq": 7, "_displaced": {"a": 1}, "_legacy": 5}, {}, "seq _displaced _legacy"),
        ("x", {"status": 5, "turn_id": ["t"], "call_id": False}, {}, "status turn_id call_id"),
        ("x", {"model": "m" * 257}, {}, "model"),
        (5, {}, {}, "event"),
    ],
)
def test_every_key_has_a_place(event: object, row: dict, payload: dict, kept: str, tmp_path: Path) -> None:
    row = {"event": event, **row}
    ((stored_row, made),) = stored(tmp_path, {**row, "ts": 1})
    assert made.items() >= payload.items()
    assert made["_legacy"].get("fields", {}) == {key: row[key] for key in kept.split()}
    # Nothing that the row says is nowhere.
    text = json.dumps([stored_row, made])
    for value in row.values():
        assert json.dumps(value)[1:-1] in text or json.dumps(value) in text or value is None


@pytest.mark.parametrize(
    ("ts", "seconds", "kept"),
    [
        (5, 5.0, True),
        ("6.5", 6.5, True),
        (" 7 ", 7.0, True),
        ("1e3", 1000.0, True),
        ("0x10", 1.0, False),
        ("１", 1.0, False),
        ("nan", 1.0, False),
        ("9" * 80, 1.0, False),
        (True, 1.0, False),
        ([5], 1.0, False),
        (1e300, 1.0, False),
        (1_750_000_000_000, 1.0, False),
        (10**400, 1.0, False),
        (-62135596800, -62135596800.0, True),
        (-62135596801, 1.0, False),
    ],
)
def test_times(ts: object, seconds: float, kept: bool, tmp_path: Path) -> None:
    _, (row, payload) = stored(tmp_path, {"event": "x", "ts": 1}, {"event": "y", "ts": ts})
    assert row.occurred_at == seconds
    assert payload.get("_derived") == (None if kept else {"occurred_at": "previous_record"})
    assert payload["_legacy"].get("timestamp_invalid") is (None if kept else True)
    assert kept or payload["_legacy"]["fields"]["ts"] == ts


def test_a_first_row_without_time_takes_the_next_one_s(tmp_path: Path) -> None:
    rows = stored(
        tmp_path, {"event": "x"}, {"event": "y", "ts": None}, {"event": "z", "ts": 9}, {"event": "w"}
    )
    assert [row.occurred_at for row, _ in rows] == [9, 9, 9, 9]
    rules = [payload.get("_derived", {}).get("occurred_at") for _, payload in rows]
    assert rules == ["next_record", "next_record", None, "previous_record"]
    assert not any("timestamp_invalid" in payload["_legacy"] for _, payload in rows)


def test_a_file_without_any_time(tmp_path: Path) -> None:
    ((row, payload),) = stored(tmp_path, {"event": "x"})
    assert (row.occurred_at, payload["_derived"]) == (0, {"occurred_at": "none_in_source"})


def test_repeated_keys_are_told_with_their_values(tmp_path: Path) -> None:
    ((_, payload),) = stored(tmp_path, b'{"event":"x","a":1,"a":{"b":2,"b":3},"ts":1}')
    assert payload["a"] == {"b": 3}
    assert payload["_legacy"]["duplicates"] == {"/a": [1], "/a/b": [2]}


def test_blocks_of_nuls(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    path.write_bytes(b'{"event":"x","ts":1}\n' + b"\0" * 50 + b'{"event":"y","ts":2}\n' + b"\0" * 9 + b"\n")
    (receipt,) = pipeline.migrate(tmp_path / "sessions.db", path)
    assert (receipt.converted + receipt.kept_raw, receipt.damaged_count) == (2, 1)
    assert receipt.losses == {"nul_block": 1}
    assert [payload["_legacy"]["event"] for payload in pipeline.payloads(tmp_path / "sessions.db")] == [
        "x",
        "y",
    ]


ROWS = [
    b'{"event":"session_start","session_id":"a","ts":1}',
    b'{"event":"user_message","text":"x","ts":2}',
    b'{"event":"user_message","text":"\xff\\ud83d","session_id":"b","ts":NaN,"ts":3}',
    b"",
    b" \t",
    b"[1]",
    b"{torn",
    b"\0\0\0",
    b'{"event":"' + b"[" * 300,
    b'{"a":' * 300 + b"1" + b"}" * 300,
    b"null",
    b"\xef\xbb\xbf",
]
FILES = st.lists(st.sampled_from(ROWS) | st.binary(max_size=6), max_size=10).map(b"\n".join)


@given(FILES, st.sampled_from([b"", b"\n", b"\r\n", b"\r"]))
def test_any_bytes_balance(tmp_path_factory: pytest.TempPathFactory, data: bytes, end: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    path = folder / "s1.jsonl"
    path.write_bytes(data + end)
    store = folder / "sessions.db"
    (receipt,) = apply(plan([path], store, format_name="geode-legacy"), store)
    assert receipt.status == "imported"
    lines = (data + end).split(b"\n")
    assert receipt.total == len(lines) - (lines[-1] == b"")
    assert receipt.balanced
    assert len(pipeline.rows(store)) == receipt.converted + receipt.kept_raw
    for row in pipeline.rows(store):
        assert dumps(json.loads(row.payload_json)).decode() == row.payload_json
    for session in {row.session_id for row in pipeline.rows(store)}:
        pipeline.export(store, session)


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([{"event": "x", "ts": 1}], True),
        ([{"event": "x", "seq": 1}], True),
        ([{"event": "x"}], False),
        ([{"event": 5, "ts": 1}], False),
        ([{"event": "x", "ts": 1, "schema_id": "geode.run-event@1"}], False),
        ([{"event": "x", "ts": 1}, {"a": 1}, {"event": "y", "ts": 2}], True),
        ([{"event": "x", "ts": 1}, {"a": 1}], False),
        (["{torn", {"event": "x", "ts": 1}], True),
        ([], False),
        (["plain text"], False),
    ],
)
def test_detection(lines: list, found: bool) -> None:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    head = "".join(text + "\n" for text in texts).encode()
    for mark in (b"", b"\xef\xbb\xbf", b"\0\0"):
        assert SOURCE.detect(Probe(mark + head, head)) is found


def test_counting_is_independent_of_reading() -> None:
    for data, count in [(b"", 0), (b"\n", 1), (b"a", 1), (b"a\n", 1), (b"a\n\nb", 3), (b"a\r\nb\r", 2)]:
        assert SOURCE.count(io.BytesIO(data + b"more\n"), len(data)) == count


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TrajError) as caught:
        by_name("no such format")
    assert caught.value.code == "TE105"
    assert by_name("geode-legacy") is SOURCE


@pytest.mark.parametrize("name", [b"caf\xe9", b"s\xff.more", "é".encode()])
def test_file_names_are_bytes(name: bytes, tmp_path: Path) -> None:
    folder = Path(bytes(tmp_path).decode()) / "in"
    folder.mkdir()
    path = bytes(folder) + b"/" + name + b".jsonl"
    with open(path, "wb") as stream:  # noqa: PTH123
        stream.write(b'{"event":"user_message","text":"a","ts":1}\n')
    store = tmp_path / "sessions.db"
    (receipt,) = pipeline.migrate(store, folder)
    shown = name.decode("utf-8", "backslashreplace")
    assert receipt.source == f"{folder}/{shown}.jsonl"
    ((session_id, source),) = pipeline.sql(store, "SELECT session_id, source_path FROM session_event_imports")
    assert (session_id, source) == (shown, receipt.source)
    assert [row.session_id for row in pipeline.rows(store)] == [shown]
    assert [one.status for one in pipeline.migrate(store, folder)] == ["unchanged"]
    assert json.loads(pipeline.export(store, shown))["integrity"]["record_count"] == 1
