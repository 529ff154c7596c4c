"""Parquet: what other readers see in it, and that all files of it are of one shape."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet
import pytest

from geode_traj.errors import WorldError
from geode_traj.export.ways import parquet
from geode_traj.export.ways.base import by_name
from geode_traj.jobs.exporting import Projection
from geode_traj.store import opening
from tests.export import ways
from tests.migrate import pipeline

NAMES = [name for name, _, _ in parquet.COLUMNS]


def written(store: Path, out: Path, *ids: str) -> Path:
    data, report = ways.projected(store, "parquet", *ids)
    assert report["events"]["whole"] == report["events"]["total"]
    assert report["words"] == report["left_out"] == []
    out.write_bytes(data)
    return out


def rows(path: Path) -> list[dict[str, Any]]:
    found = duckdb.connect().execute(f"SELECT {', '.join(NAMES)} FROM '{path}' ORDER BY session_id, ordinal")
    return [dict(zip(NAMES, row, strict=True)) for row in found.fetchall()]


@pytest.mark.parametrize("case", ways.CASES)
def test_a_row_is_an_event(case: str, tmp_path: Path) -> None:
    store = ways.store_of(case, tmp_path)
    for session in ways.sessions(store):
        events = pipeline.document(store, session)["events"]
        read = rows(written(store, tmp_path / "x.parquet", session))
        assert len(read) == len(events)
        for row, event in zip(read, events, strict=True):
            payload = event["payload"]
            assert json.loads(row["payload"]) == payload
            assert row["occurred_at"] == datetime.fromisoformat(event["occurred_at"])
            for name in ("session_id", "ordinal", "event_id", "kind", "actor", "turn_id", "call_id"):
                assert row[name] == (event[name] or None)
            for name in ("model", "provider", "status", "source"):
                assert row[name] == (payload[name] or None)
            for name in ("input_tokens", "output_tokens", "cache_read_tokens"):
                assert row[name] in (payload.get(name), None)
            if "arguments" in payload:
                assert json.loads(row["arguments"]) == payload["arguments"]


def test_all_files_have_one_schema_whatever_they_hold(tmp_path: Path) -> None:
    schemas = []
    for number, case in enumerate(ways.CASES):
        (tmp_path / str(number)).mkdir()
        store = ways.store_of(case, tmp_path / str(number))
        for session in ways.sessions(store):
            path = written(store, tmp_path / f"{number}-{len(schemas)}.parquet", session)
            schemas.append(pyarrow.parquet.read_schema(path))
    assert len(schemas) > 20
    assert all(schema.equals(schemas[0], check_metadata=True) for schema in schemas)
    assert schemas[0].names == NAMES
    count = duckdb.connect().execute(f"SELECT count(*), count(DISTINCT kind) FROM '{tmp_path}/*.parquet'")
    assert count.fetchone()[0] > 200  # type: ignore[index]


def test_unknown_is_null_and_zero_is_zero(tmp_path: Path) -> None:
    start, *_ = pipeline.dialogue("s1", "q")
    usage = {"event": "cost", "model": "m", "input_tokens": 0, "output_tokens": None, "ts": 5}
    huge = {"event": "cost", "model": "m", "input_tokens": 2**70, "cost_usd": 1, "ts": 6}
    path = pipeline.write_lines(tmp_path / "s1.jsonl", [start, usage, huge])
    pipeline.migrate(tmp_path / "s.db", path)
    first, second = rows(written(tmp_path / "s.db", tmp_path / "x.parquet", "s1"))[1:]
    assert [first[name] for name in ("input_tokens", "output_tokens", "cost_usd")] == [0, None, None]
    assert [second[name] for name in ("input_tokens", "output_tokens", "cost_usd")] == [None, None, 1.0]
    assert json.loads(second["payload"])["input_tokens"] == 2**70


def test_several_sessions_are_one_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        pipeline.write_lines(tmp_path / "in" / f"{name}.jsonl", pipeline.dialogue(name, f"I am {name}"))
    pipeline.migrate(tmp_path / "s.db", tmp_path / "in")
    read = rows(written(tmp_path / "s.db", tmp_path / "x.parquet", "b", "a"))
    assert [(row["session_id"], row["ordinal"]) for row in read] == [
        ("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2), ("b", 3),
    ]  # fmt: skip


def test_rows_come_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_ROWS", 2)
    pipeline.migrate(
        tmp_path / "s.db", pipeline.write_lines(tmp_path / "s1.jsonl", pipeline.dialogue("s1", *"abc"))
    )
    path = written(tmp_path / "s.db", tmp_path / "x.parquet", "s1")
    assert pyarrow.parquet.ParquetFile(path).metadata.num_row_groups == 3
    assert [row["content"] for row in rows(path)] == [None, "a", "b", "c", None]


def test_the_datasets_library_reads_it(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "s1.jsonl", pipeline.dialogue("s1", "q", "a")))
    path = written(store, tmp_path / "x.parquet", "s1")
    # A process of its own: it imports half a data-science stack, and asks the Hub unless told not to.
    script = (
        "import json, sys, datasets\n"
        "read = datasets.load_dataset('parquet', data_files=sys.argv[1], split='train')\n"
        "kind = str(read.features['occurred_at'].dtype)\n"
        "print(json.dumps([read.column_names, list(read['content']), kind]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf"), "HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    names, content, kind = json.loads(done.stdout)
    assert (names, kind) == (NAMES, "timestamp[us, tz=UTC]")
    assert content == [None, "q", "a", None]


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline.migrate(
        tmp_path / "s.db", pipeline.write_lines(tmp_path / "s1.jsonl", pipeline.dialogue("s1", "q"))
    )
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with opening.open_reader(tmp_path / "s.db") as connection, pytest.raises(WorldError) as caught:
        list(Projection(connection, ["s1"], by_name("parquet")).chunks())
    assert "geode-traj[lake]" in caught.value.message
