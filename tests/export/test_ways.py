"""What holds of every way out: accounts that add up, the same bytes again, pairs of files or none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from geode_traj.codec import files
from geode_traj.errors import DataError, TrajError, WorldError
from geode_traj.export.ways.base import all_ways, by_name
from geode_traj.jobs.exporting import LOSS, export_as
from geode_traj.store import opening
from tests.export import ways
from tests.export.conversations import conversations
from tests.migrate import pipeline

WAYS = sorted(all_ways())
SMALL = pipeline.dialogue("s1", "a question", "an answer")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    pipeline.migrate(tmp_path / "sessions.db", pipeline.write_lines(tmp_path / "s1.jsonl", SMALL))
    return tmp_path / "sessions.db"


def written(store: Path, out: Path, way: str, *ids: str, **options: bool) -> None:
    with opening.open_reader(store) as connection:
        export_as(connection, ids or ["s1"], out, by_name(way), **options)


@pytest.mark.parametrize("case", ways.CASES)
def test_every_event_is_accounted_for(case: str, tmp_path: Path) -> None:
    store = ways.store_of(case, tmp_path)
    carried = 0
    for session in ways.sessions(store):
        for way in WAYS:
            try:
                data, report = ways.projected(store, way, session)
            except DataError as error:
                assert error.code == "TE302"  # a session of which the format holds nothing
                continue
            carried += report["events"]["whole"] + report["events"]["part"]
            assert ways.projected(store, way, session)[0] == data
    assert carried


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(lines=conversations())
def test_any_conversation_is_accounted_for(
    way: str, tmp_path_factory: pytest.TempPathFactory, lines: list
) -> None:
    folder = tmp_path_factory.mktemp("way")
    pipeline.migrate(folder / "s.db", pipeline.write_lines(folder / "s1.jsonl", lines))
    _, report = ways.projected(folder / "s.db", way, "s1")
    conversation = [report["kinds"].get(kind, {"left_out": 0}) for kind in ("message.user", "tool.called")]
    assert [count["left_out"] for count in conversation] == [0, 0]


@pytest.mark.parametrize("way", WAYS)
def test_a_file_and_its_account_appear_together(way: str, store: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    written(store, out, way)
    report = json.loads((tmp_path / f"out{LOSS}").read_bytes())
    assert (report["output"]["sha256"], report["output"]["bytes"]) == files.sha256_file(out)
    assert (report["way"], report["sessions"]) == (way, ["s1"])
    assert {path.stat().st_mode & 0o777 for path in (out, tmp_path / f"out{LOSS}")} == {0o600}
    first = out.read_bytes(), (tmp_path / f"out{LOSS}").read_bytes()
    written(store, out, way, force=True)
    assert first == (out.read_bytes(), (tmp_path / f"out{LOSS}").read_bytes())


@pytest.mark.parametrize("there", ["out", f"out{LOSS}"])
def test_neither_is_replaced(there: str, store: Path, tmp_path: Path) -> None:
    (tmp_path / there).write_text("mine")
    before = sorted(tmp_path.glob("*out*"))
    with pytest.raises(WorldError) as caught:
        written(store, tmp_path / "out", "openai")
    assert caught.value.code == "TE601"
    assert sorted(tmp_path.glob("*out*")) == before
    assert (tmp_path / there).read_text() == "mine"


@pytest.mark.parametrize("way", ["hf-sts", "openai"])
def test_a_start_that_no_message_follows_is_not_there(way: str, tmp_path: Path) -> None:
    head = {"type": "session", "harness": "llama.app", "id": "s1", "name": "A talk"}
    tools = [{"type": "function", "function": {"name": "t"}}]
    document = {"schema_version": "ATIF-v1.7", "session_id": "s2", "steps": [],
                "agent": {"name": "a", "version": "1", "tool_definitions": tools}}  # fmt: skip
    for name, lines in (("1.jsonl", [head]), ("2.json", [document])):
        pipeline.migrate(tmp_path / "s.db", pipeline.write_lines(tmp_path / name, lines))
    assert ways.sessions(tmp_path / "s.db") == ["s1", "s2"]
    for session in ("s1", "s2"):
        with pytest.raises(DataError) as caught:
            ways.projected(tmp_path / "s.db", way, session)
        assert caught.value.code == "TE302"


@pytest.mark.parametrize(
    ("lines", "ids", "code"),
    [
        (SMALL, ["nobody"], "TE302"),
        ([SMALL[0], SMALL[-1]], ["s1"], "TE302"),  # a start and an end are no conversation
        (SMALL, ["s1", "s2"], "TE101"),
    ],
)
def test_what_cannot_be_written_leaves_nothing(lines: list, ids: list, code: str, tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "in" / "s1.jsonl", lines))
    (tmp_path / "out").mkdir()
    with pytest.raises(TrajError) as caught:
        written(store, tmp_path / "out" / "x", "atif", *ids)
    assert caught.value.code == code
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("way", WAYS)
def test_derived_ids_are_counted_and_can_be_refused(way: str, store: Path, tmp_path: Path) -> None:
    assert ways.projected(store, way, "s1")[1]["derived_ids"] == 2
    with pytest.raises(DataError) as caught:
        written(store, tmp_path / "out", way, native_ids=True)
    assert caught.value.code == "TE313"
    assert not (tmp_path / "out").exists()


def test_words_without_number_are_told_together(tmp_path: Path) -> None:
    odd = {f"word {n}": n for n in range(200)}
    rows = [{"event": "user_message", "text": "x", "ts": 1, **{f"{n}-{k}": v for k, v in odd.items()}}
            for n in range(8)]  # fmt: skip
    pipeline.migrate(tmp_path / "s.db", pipeline.write_lines(tmp_path / "s1.jsonl", [SMALL[0], *rows]))
    _, report = ways.projected(tmp_path / "s.db", "openai", "s1")
    assert len(report["words"]) < 1010
    further = [row["count"] for row in report["words"] if row["word"] == "(further words)"]
    assert sum(further) > 500
