"""The measurements as a text table and as JSON."""

from __future__ import annotations

import os
import platform
import sqlite3
from typing import Any

from tests.bench.measure import MB, Cost, redaction

_HEAD = ("size", "task", "events", "wall s", "CPU s", "wall us/event", "CPU us/event", "MB/s",
         "speed/floor wall", "speed/floor CPU", "peak MiB")  # fmt: skip


def machine() -> str:
    """Return the kind of machine, as far as the numbers depend on it."""
    return (
        f"{os.cpu_count()} cores {platform.machine()}, {platform.system()},"
        f" Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    )


def text(measured: list[list[Cost]], many: tuple[Cost, Cost] | None, runs: int) -> str:
    """Return the aligned table; the ratios are the floor's time through the task's, so more is better."""
    rows: list[tuple[str, ...]] = [_HEAD]
    for costs in measured:
        rows += [_row(cost, costs[0]) for cost in costs]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    lines = [f"{machine()}; medians of {runs} run(s), each in a fresh process", "", *lines]
    lines += ["", *map(redacting, measured)]
    if many:
        one, all_ = many
        lines += [
            "",
            f"import of {one.size / MB:.0f} MB, {one.events} events: {one.task} {one.wall:.2f} s wall,"
            f" {one.cpu:.2f} s CPU; {all_.task} {all_.wall:.2f} s wall, {all_.cpu:.2f} s CPU:"
            f" {all_.wall / one.wall:.2f} (wall), {all_.cpu / one.cpu:.2f} (CPU) times one file",
        ]
    return "\n".join(lines)


def redacting(costs: list[Cost]) -> str:
    """Return what redaction costs an import, as a sentence."""
    wall, cpu = redaction(costs)
    size = f"{costs[0].size / MB:.0f} MB"
    return f"import of {size}: with redaction {wall:.2f} (wall), {cpu:.2f} (CPU) times the one without"


def document(measured: list[list[Cost]], many: tuple[Cost, Cost] | None, runs: int) -> dict[str, Any]:
    """Return the same as one JSON object; the names of its keys end in their units."""
    return {
        "machine": machine(),
        "runs": runs,
        "tasks": [_object(cost, costs[0]) for costs in measured for cost in costs],
        "files": [_object(cost, many[0]) for cost in many] if many else [],
    }


def _row(cost: Cost, floor: Cost) -> tuple[str, ...]:
    return (
        f"{cost.size / MB:.0f} MB",
        cost.task,
        str(cost.events),
        f"{cost.wall:.2f}",
        f"{cost.cpu:.2f}",
        f"{cost.wall / cost.events * 1e6:.1f}",
        f"{cost.cpu / cost.events * 1e6:.1f}",
        f"{cost.size / cost.wall / MB:.1f}",
        f"{floor.wall / cost.wall:.2f}",
        f"{floor.cpu / cost.cpu:.2f}",
        f"{cost.peak / (1 << 20):.0f}",
    )


def _object(cost: Cost, base: Cost) -> dict[str, Any]:
    return {
        "task": cost.task,
        "size_bytes": cost.size,
        "events": cost.events,
        "wall_s": cost.wall,
        "cpu_s": cost.cpu,
        "peak_bytes": cost.peak,
        f"speed_ratio_to_{base.task.replace(' ', '_')}_wall": base.wall / cost.wall,
        f"speed_ratio_to_{base.task.replace(' ', '_')}_cpu": base.cpu / cost.cpu,
    }
