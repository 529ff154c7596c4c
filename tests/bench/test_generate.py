import json
from collections import Counter
from pathlib import Path

import pytest

from tests.bench.generate import EVENT_BYTES, Writer, write_file, write_folder


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    first, second, other = (tmp_path / name for name in ("first", "second", "other"))
    write_file(first, 50_000)
    write_file(second, 50_000)
    write_file(other, 50_000, seed=2)
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes() != other.read_bytes()


@pytest.mark.parametrize("size", [200_000, 1_000_000])
def test_size_and_mean_event(tmp_path: Path, size: int) -> None:
    path = tmp_path / "one.jsonl"
    write_file(path, size)
    assert size <= path.stat().st_size <= size + 100_000
    events = len(path.read_bytes().splitlines())
    assert path.stat().st_size / events == pytest.approx(EVENT_BYTES, rel=0.1)


def test_session_is_ended_and_calls_are_answered() -> None:
    rows = [json.loads(line) for line in Writer().session("one", 100_000)]
    assert (rows[0]["event"], rows[-1]["event"]) == ("session_start", "session_end")
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    assert rows == sorted(rows, key=lambda row: row["ts"])
    calls = Counter(row["call_id"] for row in rows if row["event"] == "tool_call")
    assert calls == Counter(row["call_id"] for row in rows if row["event"] == "tool_result")
    assert set(calls.values()) == {1}


def test_files_hold_the_sessions_of_the_one_file(tmp_path: Path) -> None:
    write_file(tmp_path / "one.jsonl", 60_000, sessions=3)
    write_folder(tmp_path / "parts", 60_000, files=3)
    parts = sorted((tmp_path / "parts").iterdir())
    assert [part.name for part in parts] == ["bench-0000.jsonl", "bench-0001.jsonl", "bench-0002.jsonl"]
    assert b"".join(part.read_bytes() for part in parts) == (tmp_path / "one.jsonl").read_bytes()
