"""An import that is killed leaves whole groups or nothing of them, and a second run finishes it."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from geode_traj.migrate.plan import plan
from tests.migrate import pipeline

SOURCES, GROUP = 24, 3
# Kills itself at the n-th write of a batch (0: never), or is killed from outside after it said so.
CHILD = f"""
import os, signal, sys
from pathlib import Path
from geode_traj.migrate import apply as applying
from geode_traj.migrate import assemble
from geode_traj.migrate.plan import plan
from geode_traj.store import events
store, folder, at = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
applying.GROUP_SOURCES, assemble.BATCH_ROWS = {GROUP}, 7
real, writes = events.insert, 0

def insert(connection, rows):
    global writes
    writes += 1
    if writes == at:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(connection, rows)

events.insert = insert
planned = plan([folder], store)
print("go", flush=True)
for receipt in applying.apply(planned, store, jobs=int(sys.argv[4])):
    print(receipt.source, flush=True)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("in")
    for number in range(SOURCES):
        texts = [f"text {number} {turn} " + "x" * (150_000 if turn == 5 else 200) for turn in range(20)]
        lines = pipeline.dialogue(f"s{number:02}", *texts, start=1e9 + number * 100)
        pipeline.write_lines(folder / f"{number:02}.jsonl", [*lines, "{torn"])
    return folder


@pytest.fixture(scope="module")
def whole(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> list:
    store = tmp_path_factory.mktemp("whole") / "sessions.db"
    pipeline.migrate(store, folder)
    return pipeline.facts(store)


def start(store: Path, folder: Path, at: int = 0, jobs: int = 1) -> subprocess.Popen:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(store), str(folder), str(at), str(jobs)], stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"go\n"
    return child


def check(store: Path, folder: Path, said: bytes, whole: list) -> int:
    """Check what a killed import left, finish it, and return how many sources it had imported."""
    done: list[str] = []
    if store.exists() and pipeline.sql(store, "SELECT 1 FROM sqlite_master WHERE name = 'session_events'"):
        assert pipeline.sql(store, "PRAGMA integrity_check") == [("ok",)]
        done = sorted(
            path for (path,) in pipeline.sql(store, "SELECT source_path FROM session_event_imports")
        )
        ids = {Path(path).stem for path in done}
        counts = dict(pipeline.sql(store, "SELECT session_id, count(*) FROM session_events GROUP BY 1"))
        assert counts == {f"s{number}": 22 for number in ids}
        for table in ("traj_damaged", "traj_blob_refs", "traj_import_sessions"):
            sessions = pipeline.sql(store, f"SELECT session_id FROM {table} ORDER BY 1")
            assert sessions == [(session,) for session in sorted(counts)]
    order = [str(path) for path in sorted(folder.iterdir())]
    assert done == order[: len(done)]
    assert len(done) % GROUP == 0  # a group is there or it is not
    assert set(said.decode().split()) <= set(done)  # what was said to be imported is there
    assert [one.action for one in plan([folder], store).sources].count("unchanged") == len(done)
    pipeline.migrate(store, folder)
    assert pipeline.facts(store) == whole
    return len(done)


@pytest.mark.parametrize(("at", "jobs"), [(1, 1), (2, 2), (5, 1), (13, 2), (30, 1)])
def test_killed_at_a_write(at: int, jobs: int, folder: Path, whole: list, tmp_path: Path) -> None:
    child = start(tmp_path / "sessions.db", folder, at, jobs)
    said, _ = child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL
    done = check(tmp_path / "sessions.db", folder, said, whole)
    assert done == (at - 1) // (4 * GROUP) * GROUP  # four writes a source


def sweep(folder: Path, whole: list, tmp_path: Path, seed: int, seconds: float) -> None:
    rng = random.Random(seed)
    began = time.monotonic()
    kills = 0
    span = 0.4
    while time.monotonic() - began < seconds:
        kills += 1
        store = tmp_path / str(kills) / "sessions.db"
        child = start(store, folder, jobs=1 + kills % 2)
        time.sleep(rng.uniform(0, span))
        child.kill()
        said, _ = child.communicate(timeout=60)
        if child.returncode == 0:
            span /= 1.5  # it was done before it was killed: aim earlier
        check(store, folder, said, whole)
    assert kills >= 3


def test_killed_at_any_moment(folder: Path, whole: list, tmp_path: Path) -> None:
    sweep(folder, whole, tmp_path, seed=1, seconds=6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
def test_killed_at_many_moments(seed: int, folder: Path, whole: list, tmp_path: Path) -> None:
    sweep(folder, whole, tmp_path, seed=seed, seconds=30)
