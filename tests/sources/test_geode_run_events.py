"""GEODE run events: every case, and what a file's growth and compaction do to a store."""

from __future__ import annotations

import json
from pathlib import Path

from tests.migrate import pipeline
from tests.support import cases

FIXTURES = cases.FIXTURES.parent / "geode-run-events"


def rows(case: str) -> list[dict]:
    lines = (FIXTURES / case / "input" / "events.jsonl").read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def test_a_grown_file_gives_only_its_new_rows(tmp_path: Path) -> None:
    store, given = tmp_path / "s.db", rows("run-timeline")
    path = pipeline.write_lines(tmp_path / "r" / "events.jsonl", given[:3])
    with path.open("a") as file:
        file.write(json.dumps(given[3])[:50])
    (first,) = pipeline.migrate(store, path)
    assert (first.damaged_count, first.new) == (1, 3)
    pipeline.write_lines(path, given)
    (second,) = pipeline.migrate(store, path)
    assert (second.status, second.new, second.known) == ("extended", 4, 3)
    assert len(pipeline.rows(store)) == 7
    assert pipeline.document(store, "run-9")["integrity"]["damaged_lines"] == 0


def test_a_compacted_file_repeats_what_the_store_holds(tmp_path: Path) -> None:
    store, given = tmp_path / "s.db", rows("run-timeline")
    path = pipeline.write_lines(tmp_path / "events.jsonl", given)
    pipeline.migrate(store, path)
    marker = {**rows("compacted")[0], "session_id": "run-9"}
    pipeline.write_lines(path, [marker, *given[5:]])
    (receipt,) = pipeline.migrate(store, path)
    assert (receipt.new, receipt.known, receipt.losses["projection_truncated"]) == (1, 2, 49)
    assert len(pipeline.rows(store)) == 8


def test_a_projection_of_what_the_store_holds_adds_nothing(tmp_path: Path) -> None:
    store, given = tmp_path / "s.db", rows("session-projection")
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "a" / "events.jsonl", given[:4]))
    (receipt,) = pipeline.migrate(store, pipeline.write_lines(tmp_path / "b" / "events.jsonl", given))
    assert (receipt.new, receipt.known) == (2, 4)
    assert {row.session_generation for row in pipeline.rows(store)} == {1}
    assert [row.event_id for row in pipeline.rows(store)] == [row["event_id"] for row in given]
