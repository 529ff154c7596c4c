"""`python -m tests.bench.peers`: a Claude Code session imported by us and converted by another tool.

They take turns, after a first run that does not count; each command runs as its users run it, in a process
of its own, start included. Both must count the tokens that the generated session says it has.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from tests.support import claude_session

_SUMS: Final = ", ".join(
    f"sum(json_extract(payload_json, '$.{word}'))"
    for word in ("input_tokens", "cache_read_tokens", "cache_creation_tokens", "output_tokens")
)
Tokens = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Tool:
    """A command that reads SOURCE and writes OUT, and how to read (input, output) tokens out of OUT."""

    name: str
    command: Callable[[Path, Path], list[str]]
    tokens: Callable[[Path], Tokens]


@dataclass(frozen=True, slots=True)
class Cost:
    """Wall and CPU seconds, and the greatest resident size (bytes) of any one process."""

    wall: float
    cpu: float
    peak: int


def ours(*options: str) -> Tool:
    """Return our import, from nothing to a store on disk."""
    executable = str(Path(sys.executable).with_name("geode-traj"))

    def command(source: Path, out: Path) -> list[str]:
        return [executable, "migrate", str(source), "--store", str(out), "--quiet", *options]

    return Tool(" ".join([f"geode-traj {version('geode-traj')} migrate", *options]), command, _stored_tokens)


def atif_make(executable: Path) -> Tool:
    """Return atif-make's conversion to one ATIF file."""

    def command(source: Path, out: Path) -> list[str]:
        return [str(executable), "convert", str(source), "-f", "claude-code-transcript", "-o", str(out), "-q"]

    told = next(executable.parents[1].glob("lib/*/site-packages/atif_make-*.dist-info")).name
    return Tool(f"atif-make {told.split('-')[1].removesuffix('.dist')} convert", command, _atif_tokens)


def _stored_tokens(store: Path) -> Tokens:
    with closing(sqlite3.connect(store)) as db:
        query = f"SELECT {_SUMS} FROM session_events WHERE kind = 'usage.recorded'"
        given, read, written, out = db.execute(query).fetchone()
    return given + read + written, out


def _atif_tokens(path: Path) -> Tokens:
    metrics = json.loads(path.read_bytes())["final_metrics"]
    return metrics["total_prompt_tokens"], metrics["total_completion_tokens"]


def run(tool: Tool, source: Path, folder: Path) -> tuple[Cost, Tokens]:
    """Run a tool once and return what it cost, and the tokens that it counted."""
    out = folder / "out"
    command = tool.command(source, out)
    os.sync()
    began = time.perf_counter()
    quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    # A user's second run finds compiled modules; the measured one does, too.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    child = os.posix_spawn(command[0], command, environment, file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - began
    if status:
        raise RuntimeError(f"{tool.name} failed: {os.waitstatus_to_exitcode(status)}")
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Cost(wall, used.ru_utime + used.ru_stime, peak), tool.tokens(out)


def main() -> int:
    """Measure and print; 1 where a tool miscounts, or with `--check` where we take too long."""
    parser = argparse.ArgumentParser(prog="scripts/compare", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("atif_make", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--size", type=claude_session.parse_size, default=claude_session.SIZE, help="(21MB)")
    parser.add_argument("--runs", type=int, default=5, help="times each command runs (5)")
    parser.add_argument("--check", action="store_true", help="exit 1 beyond 1.5 times the other's wall time")
    given = parser.parse_args()
    tools = [atif_make(given.atif_make), ours(), ours("--jobs", "1")]
    costs: dict[str, list[Cost]] = {tool.name: [] for tool in tools}
    with TemporaryDirectory() as made:
        source = Path(made, "session.jsonl")
        facts = claude_session.write(source, given.size)
        true = (sum(n for name, n in facts.tokens.items() if "input" in name), facts.tokens["output_tokens"])
        for number in range(given.runs + 1):
            for tool in tools:
                with TemporaryDirectory(dir=made) as folder:
                    cost, tokens = run(tool, source, Path(folder))
                if tokens != true:
                    print(f"{tool.name} counts {tokens} tokens, not {true}", file=sys.stderr)
                    return 1
                if number:
                    costs[tool.name].append(cost)
    print(
        f"{facts.bytes:,} bytes, {sum(facts.lines.values()):,} lines; medians of {given.runs} runs in turns\n"
    )
    print("| command | wall s | CPU s | peak MiB | wall, of the first |\n|---|---:|---:|---:|---:|")
    first = median(cost.wall for cost in costs[tools[0].name])
    for name, measured in costs.items():
        wall, cpu = median(cost.wall for cost in measured), median(cost.cpu for cost in measured)
        peak = max(cost.peak for cost in measured) >> 20
        print(f"| `{name}` | {wall:.2f} | {cpu:.2f} | {peak} | {wall / first:.2f} |")
    return int(given.check and median(cost.wall for cost in costs[tools[1].name]) > 1.5 * first)


if __name__ == "__main__":
    sys.exit(main())
