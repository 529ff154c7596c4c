"""A source read in a process beside the one that writes: the same store, receipts and failures."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from geode_traj.errors import DataError
from geode_traj.migrate import apply as applying
from geode_traj.migrate import assemble, beside
from geode_traj.migrate.plan import plan
from geode_traj.model.receipt import MigrateReceipt
from geode_traj.sources.geode_legacy import GeodeLegacy
from geode_traj.store import opening, secrets
from tests.migrate import pipeline
from tests.support import cases
from tests.support.secrets import make

FIXTURES = cases.FIXTURES.parent
FORMATS = ["legacy", "claude_code", "codex", "atif", "stimm", "hermes_gateway"]
FOLDERS = sorted(path.parent for name in FORMATS for path in FIXTURES.glob(f"{name}/*/expect.json"))


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble, "BATCH_ROWS", 1)


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    made: list[int] = []
    real = os.fork

    def fork() -> int:
        made.append(real())
        return made[-1]

    monkeypatch.setattr(os, "fork", fork)
    return made


def migrate(store: Path, *paths: Path, jobs: int, fields: tuple[str, ...] = ()) -> list[MigrateReceipt]:
    return list(applying.apply(plan(paths, store), store, sensitive_fields=fields, jobs=jobs))


def numbers(store: Path) -> list[tuple[str, int]]:
    """Return class and number of every numbered value; what stands for the value is each store's own."""
    with opening.open_reader(store) as connection:
        return [(row[0], row[2]) for row in secrets.numbers(connection)]


def gone(pids: list[int]) -> bool:
    """Tell whether every child has ended and was waited for."""
    for pid in pids:
        with pytest.raises(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    return True


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_one_process_or_two_give_the_same(folder: Path, tmp_path: Path, forks: list[int]) -> None:
    given = cases.render(folder, tmp_path / "case") / "input"
    said = []
    for jobs in (1, 2):
        store = tmp_path / f"{jobs}.db"
        receipts = [receipt.to_json() for receipt in migrate(store, given, jobs=jobs, fields=("pin",))]
        facts = (pipeline.facts(store), numbers(store)) if store.exists() else ()
        others = [
            pipeline.sql(store, f"SELECT * FROM {table} ORDER BY id") if facts else ()
            for table in ("traj_links", "traj_damaged", "traj_import_sessions")
        ]
        said.append((receipts, facts, others))
    assert said[0] == said[1]
    assert gone(forks)


def test_a_long_file_is_read_beside_and_a_short_one_is_not(tmp_path: Path, forks: list[int]) -> None:
    short = pipeline.write_lines(tmp_path / "a.jsonl", pipeline.dialogue("a", ended=False))
    long = pipeline.write_lines(tmp_path / "b.jsonl", pipeline.dialogue("b", "one", "two"))
    migrate(tmp_path / "s.db", short, jobs=2)
    assert not forks
    migrate(tmp_path / "s.db", long, jobs=1)
    assert not forks
    migrate(tmp_path / "t.db", long, jobs=2)
    assert len(forks) == 1
    assert gone(forks)


def test_values_are_numbered_on_from_source_to_source(tmp_path: Path) -> None:
    key = make("openai_key")
    other, third = key[:-1] + "7", key[:-1] + "8"
    for name, texts in {"a": (key, other), "b": (other, third), "c": (third, key)}.items():
        pipeline.write_lines(
            tmp_path / "in" / f"{name}.jsonl",
            pipeline.dialogue(name, *(f"the key {text}" for text in texts), start=ord(name)),
        )
    for jobs in (1, 2):
        migrate(tmp_path / f"{jobs}.db", tmp_path / "in", jobs=jobs)
    assert pipeline.facts(tmp_path / "1.db") == pipeline.facts(tmp_path / "2.db")
    assert [n for _, n in numbers(tmp_path / "2.db")] == [1, 2, 3]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("raised", "code"), [(DataError("TE202", why="it ends badly", place="b"), "TE202"), (None, "TE210")]
)
def test_a_failing_source_leaves_nothing_and_the_others_go_on(
    jobs: int, raised: DataError | None, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if raised is None and jobs == 1:
        return  # there is no other process that could die
    key = make("openai_key")
    other = key[:-1] + "7"
    for name, text in {"a": key, "b": other, "c": "none"}.items():
        lines = pipeline.dialogue(name, f"the key {text}", start=ord(name))
        pipeline.write_lines(tmp_path / "in" / f"{name}.jsonl", lines)
    real = GeodeLegacy.read

    def read(self: GeodeLegacy, given: Any, stream: Any) -> Any:
        yield from real(self, given, stream)
        if given.path.stem == "b":
            if raised is None:
                os.kill(os.getpid(), signal.SIGKILL)
            else:
                raise raised

    monkeypatch.setattr(GeodeLegacy, "read", read)
    store = tmp_path / "s.db"
    receipts = migrate(store, tmp_path / "in", jobs=jobs)
    assert [(one.status, one.code) for one in receipts] == [
        ("imported", None),
        ("failed", code),
        ("imported", None),
    ]
    assert {row.session_id for row in pipeline.rows(store)} == {"a", "c"}
    assert [n for _, n in numbers(store)] == [1]  # what the failed source numbered is not remembered


def test_a_fault_in_the_other_process_is_told_and_nothing_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = pipeline.write_lines(tmp_path / "a.jsonl", pipeline.dialogue("a", "one", "two"))
    monkeypatch.setattr(GeodeLegacy, "read", lambda *_: iter([1 / 0]))
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        migrate(tmp_path / "s.db", source, jobs=2)
    assert pipeline.rows(tmp_path / "s.db") == []


def test_an_import_that_is_given_up_ends_its_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forks: list[int]
) -> None:
    texts = ["x" * 50_000] * 50  # more than a pipe holds
    source = pipeline.write_lines(tmp_path / "a.jsonl", pipeline.dialogue("a", *texts))

    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(applying.events, "insert", interrupted)
    with pytest.raises(KeyboardInterrupt):
        migrate(tmp_path / "s.db", source, jobs=2)
    assert gone(forks)
    assert pipeline.rows(tmp_path / "s.db") == []


def test_this_machine_has_a_core() -> None:
    assert 1 <= beside.cores() <= (os.cpu_count() or 1)
