"""`python -m tests.bench`: generate, measure, print."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.bench import table
from tests.bench.measure import MB, ROOT, Cost, costs, failures, many

PAGE: Final = ROOT / "docs" / "performance.md"
_BEGIN: Final = "<!-- redaction -->"
_END: Final = "<!-- /redaction -->"


def _write(measured: list[list[Cost]], runs: int) -> None:
    """Put what redaction costs into the page."""
    head, rest = PAGE.read_text("utf-8").split(_BEGIN, 1)
    lines = [f"- {table.redacting(found)}" for found in measured]
    told = "\n".join([f"From one run on {table.machine()}; medians of {runs}:", "", *lines])
    PAGE.write_text(f"{head}{_BEGIN}\n{told}\n{_END}{rest.split(_END, 1)[1]}", "utf-8")


def main() -> int:
    """Run the benchmark; 1 with `--check` where a promise is broken."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measure against the floor.")
    parser.add_argument("--sizes", default="10,100", help="MB of the transcripts, ascending (10,100)")
    parser.add_argument("--large", action="store_true", help="add one of 1000 MB, run once")
    parser.add_argument("--runs", type=int, default=5, help="times each task runs (5)")
    parser.add_argument("--files", type=int, default=1000, help="small files in one plan, 0 for none (1000)")
    parser.add_argument("--folder", type=Path, help="where to work; needs six times the largest size")
    parser.add_argument("--write", action="store_true", help="put redaction's cost into docs/performance.md")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--check", action="store_true", help="exit 1 when too slow or memory is not flat")
    given = parser.parse_args()
    sizes = [(int(size), given.runs) for size in given.sizes.split(",")]
    if given.large:
        sizes.append((1000, 1))
    measured = []
    for size, runs in sizes:
        with TemporaryDirectory(dir=given.folder) as made:
            measured.append(costs(size * MB, runs, Path(made)))
    small = None
    if given.files:
        with TemporaryDirectory(dir=given.folder) as made:
            small = many(given.files, 10 * MB, given.runs, Path(made))
    if given.json:
        print(json.dumps(table.document(measured, small, given.runs), indent=1))
    else:
        print(table.text(measured, small, given.runs))
    if given.write:
        _write(measured, given.runs)
    broken = list(failures(measured))
    for line in broken:
        print(line, file=sys.stderr)
    return 1 if given.check and broken else 0


if __name__ == "__main__":
    sys.exit(main())
