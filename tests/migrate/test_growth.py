"""Files come again, grow, tear and change: nothing is imported twice, nothing is lost."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geode_traj.errors import DataError
from geode_traj.migrate import apply as applying
from geode_traj.migrate import assemble
from geode_traj.migrate.apply import apply
from geode_traj.migrate.plan import plan
from geode_traj.sources.geode_legacy import GeodeLegacy
from tests.migrate import pipeline


def told(store: Path) -> list[dict[str, Any]]:
    """Return what is stored, less what says in which state of its file a line was met."""
    rows = []
    for row in pipeline.rows(store):
        payload = json.loads(row.payload_json)
        payload["_legacy"].pop("source_digest")
        rows.append({**row._asdict(), "id": 0, "payload_json": payload, "payload_hash": ""})
    return rows


def damaged(store: Path) -> list[tuple]:
    return pipeline.sql(store, "SELECT line, reason, session_id FROM traj_damaged ORDER BY id")


LONG = [
    *pipeline.dialogue("s1", "é 😀 one", "two"),
    *pipeline.dialogue("s1", "three", start=pipeline.START + 100, ended=False),
    {"event": "tool_call", "tool": "t", "input": {"a": [1, "x"]}, "call_id": "c", "ts": pipeline.START + 200},
    *pipeline.dialogue("s2", "four", start=pipeline.START + 300),
]


@given(
    st.lists(st.integers(0, 2_000), max_size=4),
    st.sampled_from([b"\n", b"\r\n"]),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
)
@settings(max_examples=25)
def test_growing_in_steps_equals_importing_at_once(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], end: bytes, mark: bytes
) -> None:
    folder = tmp_path_factory.mktemp("grow")
    source = folder / "s1.jsonl"
    data = mark + b"".join(json.dumps(line, ensure_ascii=False).encode() + end for line in LONG)
    source.write_bytes(data)
    pipeline.migrate(folder / "once.db", source)
    for size in sorted({min(cut, len(data)) for cut in cuts}):
        source.write_bytes(data[:size])
        receipts = pipeline.migrate(folder / "steps.db", source)
        assert all(receipt.balanced for receipt in receipts)
    source.write_bytes(data)
    pipeline.migrate(folder / "steps.db", source)
    assert told(folder / "steps.db") == told(folder / "once.db")
    assert damaged(folder / "steps.db") == []
    for session in ("s1", "s2"):
        steps, once = (pipeline.document(folder / name, session) for name in ("steps.db", "once.db"))
        assert steps["integrity"] == once["integrity"]


@pytest.mark.parametrize(
    ("tail", "reason", "rest"),
    [
        (b'{"event":"user_message","text":"to', "torn_tail", b'rn","ts":5}\n'),
        (b'{"event":"user_message","text":"half \xc3', "torn_tail", b'\xa9","ts":5}\n'),
        (b"\0" * 64, "nul_block", b'{"event":"user_message","text":"after","ts":5}\n'),
        (b'{"event":"user_message","a":' + b"[" * 300, "too_deep", b""),
        (b"1", "not_object", b"2\n"),
        (b"nul", "torn_tail", b"l\n"),
        (b'{"event":"user_message","text":"to', "torn_tail", b"rn, and torn again"),
    ],
    ids=["text", "letter", "nul", "deep", "number", "null", "again"],
)
def test_a_torn_tail_is_replaced_by_what_it_grew_into(
    tail: bytes, reason: str, rest: bytes, tmp_path: Path
) -> None:
    store = tmp_path / "sessions.db"
    source = pipeline.write_lines(tmp_path / "s1.jsonl", pipeline.dialogue("s1", "a"))
    head = source.read_bytes()
    source.write_bytes(head + tail)
    (first,) = pipeline.migrate(store, source)
    assert [line["reason"] for line in first.damaged] == [reason]
    assert damaged(store) == [(4, reason, "s1")]
    assert pipeline.document(store, "s1")["integrity"]["damaged_lines"] == 1
    source.write_bytes(head + tail + rest)
    (second,) = pipeline.migrate(store, source)
    whole = rest.endswith(b"}\n")
    assert second.status == ("extended" if rest else "unchanged")
    assert second.new == whole
    assert [line["line"] for line in second.damaged] == ([] if whole or not rest else [4])
    assert len(damaged(store)) == (0 if whole else 1)
    assert pipeline.document(store, "s1")["integrity"]["damaged_lines"] == (0 if whole else 1)


def test_damage_in_the_middle_stays_when_the_file_grows(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    lines: list[Any] = pipeline.dialogue("s1", "a", "b")
    lines.insert(2, "{no json")
    source = pipeline.write_lines(tmp_path / "s1.jsonl", lines)
    pipeline.migrate(store, source)
    pipeline.write_lines(source, [*lines, {"event": "user_message", "text": "c", "ts": 9}])
    (receipt,) = pipeline.migrate(store, source)
    assert (receipt.status, receipt.new, receipt.known, receipt.damaged_count) == ("extended", 1, 4, 1)
    assert damaged(store) == [(3, "not_json", "s1")]


def test_another_file_under_the_same_name_heals_nothing(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    source = pipeline.write_lines(tmp_path / "s1.jsonl", [*pipeline.dialogue("s1", "a"), "{torn"])
    source.write_bytes(source.read_bytes().removesuffix(b"\n"))
    pipeline.migrate(store, source)
    pipeline.write_lines(source, pipeline.dialogue("s1", "b", "c", "d", start=pipeline.START + 50))
    (receipt,) = pipeline.migrate(store, source)
    assert (receipt.status, receipt.new) == ("imported", 5)
    assert damaged(store) == [(4, "torn_tail", "s1")]
    assert {row.session_generation for row in pipeline.rows(store)} == {1, 2}


def test_the_same_bytes_under_other_names(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    source = pipeline.write_lines(tmp_path / "a.jsonl", pipeline.dialogue("s1", "a"))
    copy = pipeline.write_lines(tmp_path / "b.jsonl", pipeline.dialogue("s1", "a"))
    receipts = pipeline.migrate(store, copy, source)
    assert {r.source: (r.status, r.reason) for r in receipts} == {
        str(source): ("unchanged", f"the same bytes as {copy}"),
        str(copy): ("imported", None),
    }
    (again,) = pipeline.migrate(store, source)
    assert (again.status, again.reason) == ("unchanged", "recorded under session b")


def test_a_copy_stands_in_for_a_source_that_fails(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    sources = [
        pipeline.write_lines(tmp_path / f"{name}.jsonl", pipeline.dialogue("s1", "a")) for name in "abc"
    ]
    planned = plan(sources, store)
    assert [one.action for one in planned.sources] == ["import", "unchanged", "unchanged"]
    rewrite(sources[0])
    receipts = list(apply(planned, store))
    assert [one.source for one in receipts] == [str(source) for source in sources]
    assert [(one.status, one.code) for one in receipts] == [
        ("failed", "TE207"),
        ("imported", None),
        ("unchanged", None),
    ]
    assert len(pipeline.rows(store)) == 3


@pytest.mark.parametrize("first", [None, "given", "s1"])
def test_an_explicit_session_id_must_be_the_recorded_one(first: str | None, tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    source = pipeline.write_lines(tmp_path / "stem.jsonl", [{"event": "user_message", "text": "a", "ts": 1}])
    pipeline.migrate(store, source, session_id=first)
    recorded = first or "stem"
    before = pipeline.dump(store)
    for given_id, status in [(None, "unchanged"), (recorded, "unchanged"), ("other", "failed")]:
        (receipt,) = pipeline.migrate(store, source, session_id=given_id)
        assert receipt.status == status
        assert recorded in (receipt.reason or "")
    assert (receipt.code, "not other" in (receipt.reason or "")) == ("TE301", True)
    assert pipeline.dump(store) == before


def test_an_explicit_id_is_held_against_an_import_since_the_plan(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    source = pipeline.write_lines(tmp_path / "stem.jsonl", [{"event": "user_message", "text": "a", "ts": 1}])
    planned = [plan([source], store, session_id=name) for name in ("one", "two", None)]
    done = [receipt for one in planned for receipt in apply(one, store)]
    assert [(one.status, one.code) for one in done] == [
        ("imported", None),
        ("failed", "TE301"),
        ("unchanged", None),
    ]
    assert {row.session_id for row in pipeline.rows(store)} == {"one"}


def test_a_session_in_several_files_is_numbered_by_time(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    files = {
        name: pipeline.write_lines(tmp_path / f"{name}.jsonl", pipeline.dialogue("s", name, start=start))
        for name, start in [("late", 3e9), ("early", 1e9), ("middle", 2e9)]
    }
    pipeline.migrate(store, files["late"], files["early"])
    pipeline.migrate(store, files["middle"])  # comes last, and its receipt says so
    found = [(row.session_generation, json.loads(row.payload_json)) for row in pipeline.rows(store)]
    texts = [(generation, payload["content"]) for generation, payload in found if "content" in payload]
    assert texts == [(1, "early"), (2, "late"), (3, "middle")]
    resumed = [*pipeline.dialogue("s", "a", start=4e9), *pipeline.dialogue("s", "b", start=5e9)]
    (receipt,) = pipeline.migrate(store, pipeline.write_lines(tmp_path / "resumed.jsonl", resumed))
    assert receipt.to_json()["sessions"][0]["generations"] == 2
    assert [row.session_generation for row in pipeline.rows(store)][9:] == [4, 4, 4, 5, 5, 5]


def rewrite(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"a"', b'"b"'))


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def replace(path: Path) -> None:
    other = path.with_suffix(".new")
    other.write_bytes(path.read_bytes().replace(b'"a"', b'"b"'))
    other.replace(path)


def append(path: Path) -> None:
    with path.open("ab") as stream:
        stream.write(b'{"event":"user_message","text":"more","ts":9}\n')


def same_again(path: Path) -> None:
    other = path.with_suffix(".new")
    other.write_bytes(path.read_bytes())
    other.replace(path)


CHANGES = [
    (rewrite, "TE207"),
    (truncate, "TE207"),
    (replace, "TE207"),
    (Path.unlink, "TE201"),
    (append, None),
    (same_again, None),
    (lambda path: os.utime(path, (1, 1)), None),
]
NAMES = ["rewritten", "truncated", "replaced", "deleted", "appended", "same", "touched"]


@pytest.mark.parametrize(("change", "code"), CHANGES, ids=NAMES)
def test_a_source_that_changes_after_the_plan(
    change: Callable[[Path], object], code: str | None, tmp_path: Path
) -> None:
    store = tmp_path / "sessions.db"
    changing = pipeline.write_lines(tmp_path / "s1.jsonl", pipeline.dialogue("s1", "a"))
    other = pipeline.write_lines(tmp_path / "s2.jsonl", pipeline.dialogue("s2", "a", start=2e9))
    planned = plan([changing, other], store)
    change(changing)
    first, second = apply(planned, store)
    assert (second.status, first.code) == ("imported", code)  # the others go on
    if code:
        assert first.status == "failed"
        assert {row.session_id for row in pipeline.rows(store)} == {"s2"}
        assert len(pipeline.sql(store, "SELECT * FROM session_event_imports")) == 1
    else:
        assert (first.status, first.new, first.sha256) == ("imported", 3, planned.sources[0].given.sha256)


@pytest.mark.parametrize(("change", "code"), CHANGES[:3], ids=NAMES[:3])
def test_a_source_that_changes_while_it_is_read(
    change: Callable[[Path], object], code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "sessions.db"
    source = pipeline.write_lines(tmp_path / "s1.jsonl", pipeline.dialogue("s1", "a"))
    real = GeodeLegacy.read

    def read(self: GeodeLegacy, given: Any, stream: Any) -> Any:
        for number, item in enumerate(real(self, given, stream)):
            if number == 1:
                change(source)
            yield item

    monkeypatch.setattr(GeodeLegacy, "read", read)
    (receipt,) = pipeline.migrate(store, source)
    # A file that another one replaced is still read to its end: what was planned was imported.
    kept = change is replace
    assert (receipt.status, receipt.code) == (("imported", None) if kept else ("failed", code))
    assert len(pipeline.rows(store)) == (3 if kept else 0)


@pytest.mark.parametrize("there", [True, False])
def test_a_plan_writes_nothing(there: bool, tmp_path: Path) -> None:
    store = tmp_path / "store" / "sessions.db"
    source = pipeline.write_lines(tmp_path / "in" / "s1.jsonl", pipeline.dialogue("s1", "a"))
    if there:
        other = pipeline.write_lines(tmp_path / "in2" / "s2.jsonl", pipeline.dialogue("s2", "a"))
        pipeline.migrate(store, other)
    before = store.read_bytes() if there else None
    planned = plan([tmp_path / "in"], store)
    assert [(one.given.name, one.action, one.total) for one in planned.sources] == [
        (str(source), "import", 3)
    ]
    assert planned.records == 3
    assert (store.read_bytes() if there else None) == before
    assert there or not store.parent.exists()


def test_an_import_of_nothing_makes_no_store(tmp_path: Path) -> None:
    store = tmp_path / "store" / "sessions.db"
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "notes.txt").write_text("no transcript")
    (receipt,) = pipeline.migrate(store, tmp_path / "in")
    assert (receipt.status, receipt.code) == ("skipped", "TE205")
    assert not store.parent.exists()


def test_sources_are_never_touched(tmp_path: Path) -> None:
    source = pipeline.write_lines(tmp_path / "s1.jsonl", pipeline.dialogue("s1", "a"))
    source.chmod(0o444)
    before = source.read_bytes(), source.stat().st_mtime_ns, sorted(tmp_path.iterdir())
    pipeline.migrate(tmp_path / "store" / "sessions.db", source)
    after = source.read_bytes(), source.stat().st_mtime_ns
    assert before == (*after, [source])


@pytest.mark.parametrize(("rows", "sources"), [(1, 1), (2, 2), (3, 1), (1000, 1000)])
def test_sizes_of_batches_and_groups_change_nothing(
    rows: int, sources: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "in"
    for number in range(4):
        lines = [*LONG, *pipeline.dialogue("s3", "x" * 150_000, f"{number}", start=1e9 + number)]
        pipeline.write_lines(folder / f"{number}.jsonl", [*lines[number:], "{torn"])
    store, other = tmp_path / "one.db", tmp_path / "two.db"
    one = [receipt.to_json() for receipt in pipeline.migrate(store, folder)]
    monkeypatch.setattr(assemble, "BATCH_ROWS", rows)
    monkeypatch.setattr(applying, "GROUP_SOURCES", sources)
    two = [receipt.to_json() for receipt in pipeline.migrate(other, folder)]
    assert one == two
    assert pipeline.facts(store) == pipeline.facts(other)
    assert [pipeline.export(store, session) for session in ("s1", "s2", "s3")] == [
        pipeline.export(other, session) for session in ("s1", "s2", "s3")
    ]


def test_a_missing_path_fails_alone(tmp_path: Path) -> None:
    source = pipeline.write_lines(tmp_path / "s1.jsonl", pipeline.dialogue("s1", "a"))
    good, missing = pipeline.migrate(tmp_path / "sessions.db", source, tmp_path / "no.jsonl")
    assert (good.status, missing.status, missing.code) == ("imported", "failed", "TE201")


def test_a_failing_source_is_undone_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "sessions.db"
    for name, start in [("a", 1e9), ("b", 2e9), ("c", 3e9)]:
        pipeline.write_lines(
            tmp_path / "in" / f"{name}.jsonl", pipeline.dialogue(name, "x" * 150_000, start=start)
        )
    real = GeodeLegacy.read

    def read(self: GeodeLegacy, given: Any, stream: Any) -> Any:
        yield from real(self, given, stream)
        if given.path.stem == "b":
            raise DataError("TE202", why="it ends badly")

    monkeypatch.setattr(GeodeLegacy, "read", read)
    monkeypatch.setattr(assemble, "BATCH_ROWS", 1)
    receipts = pipeline.migrate(store, tmp_path / "in")
    assert [(one.status, one.code) for one in receipts] == [
        ("imported", None),
        ("failed", "TE202"),
        ("imported", None),
    ]
    for table in ("session_events", "traj_import_sessions", "traj_blob_refs"):
        assert {one for (one,) in pipeline.sql(store, f"SELECT session_id FROM {table}")} == {"a", "c"}
    monkeypatch.undo()
    assert [one.status for one in pipeline.migrate(store, tmp_path / "in")] == [
        "imported",
        "unchanged",
        "unchanged",
    ]
