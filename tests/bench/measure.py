"""Runs the tasks in fresh processes, in turns, and condenses what they cost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

from tests.bench.generate import write_file, write_folder

ROOT: Final = Path(__file__).parents[2]
MB: Final = 1_000_000
TASKS: Final = ("floor", "import", "unredacted", "export", "verify")
LEAST: Final = 0.5
"""Of the floor's speed, what import and export must reach."""
DEAREST: Final = 2.0
"""Of the CPU time of an import that looks for no secrets, what one that redacts them may take."""
EVENT_MEMORY: Final = 200
"""Bytes a task may keep for each event (ids to be compared, calls that wait): beyond, memory is not flat."""
NOISE: Final = 8 << 20


@dataclass(frozen=True, slots=True)
class Cost:
    """What one task cost: seconds are medians over the runs, peak memory (bytes) the greatest of them."""

    task: str
    size: int
    events: int
    wall: float
    cpu: float
    peak: int


def costs(size: int, runs: int, folder: Path) -> list[Cost]:
    """Measure all tasks on one transcript of `size` bytes, `runs` times in turns."""
    source, small = folder / "bench-0000.jsonl", _small(folder)
    write_file(source, size)
    found: dict[str, list[dict[str, Any]]] = {task: [] for task in TASKS}
    for _ in range(runs):
        with TemporaryDirectory(dir=folder) as made:
            store, out = Path(made, "store.db"), Path(made, "out.json")
            # The floor takes its rows from the store, so the import goes first.
            for task, target in (
                ("import", out), ("unredacted", Path(made, "plain.db")), ("floor", Path(made, "floor.db")),
                ("export", out), ("verify", out),
            ):  # fmt: skip
                found[task].append(_run(task, source, store, target, small))
    actual = source.stat().st_size
    return [_condensed(task, actual, found[task]) for task in TASKS]


def many(files: int, size: int, runs: int, folder: Path) -> tuple[Cost, Cost]:
    """Measure the import of the same sessions from one file, and from `files` files in one plan."""
    source, parts, small = folder / "bench-0000.jsonl", folder / "parts", _small(folder)
    write_file(source, size, sessions=files)
    write_folder(parts, size, files=files)
    one: list[dict[str, Any]] = []
    all_: list[dict[str, Any]] = []
    for _ in range(runs):
        for given, into in ((source, one), (parts, all_)):
            with TemporaryDirectory(dir=folder) as made:
                into.append(_run("import", given, Path(made, "store.db"), Path(made, "out.json"), small))
    actual = source.stat().st_size
    return _condensed("one file", actual, one), _condensed(f"{files} files", actual, all_)


def failures(measured: list[list[Cost]]) -> Iterator[str]:
    """Say what breaks the promises: too slow at the largest size, or memory that grows from size to size."""
    floor = measured[-1][0]
    for cost in measured[-1]:
        if cost.task in ("import", "export") and floor.wall / cost.wall < LEAST:
            yield f"{cost.task} reaches {floor.wall / cost.wall:.2f} of the floor's speed, not {LEAST}"
    wall, cpu = redaction(measured[-1])
    if max(wall, cpu) > DEAREST:
        yield f"redaction makes an import take {wall:.2f} (wall), {cpu:.2f} (CPU) times, not {DEAREST}"
    for small, large in zip(measured[0], measured[-1], strict=True):
        allowed = NOISE + EVENT_MEMORY * (large.events - small.events)
        if large.peak - small.peak > allowed:
            yield f"{large.task} takes {(large.peak - small.peak) >> 20} MiB more for the larger transcript"


def redaction(costs: list[Cost]) -> tuple[float, float]:
    """Return how many times the wall and CPU time of an import without redaction one with it takes."""
    by_name = {cost.task: cost for cost in costs}
    redacted, plain = by_name["import"], by_name["unredacted"]
    return redacted.wall / plain.wall, redacted.cpu / plain.cpu


def _small(folder: Path) -> Path:
    """Make the few events on which each process runs its task before the clock starts."""
    small = folder / "small"
    small.mkdir()
    source, store, out = (small / name for name in ("source.jsonl", "store.db", "out.json"))
    write_file(source, 1)
    for task in ("import", "export"):
        _run(task, source, store, out)
    return small


def _run(task: str, *paths: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.bench.task", task, *map(str, paths)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _condensed(task: str, size: int, runs: list[dict[str, Any]]) -> Cost:
    if len({run["events"] for run in runs}) != 1:
        raise RuntimeError(f"{task} saw other events in another run")
    wall, cpu = median(run["wall"] for run in runs), median(run["cpu"] for run in runs)
    return Cost(task, size, runs[0]["events"], wall, cpu, max(run["peak"] for run in runs))
