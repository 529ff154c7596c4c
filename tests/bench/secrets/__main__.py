"""`scripts/bench secrets`: plant, scan, compare, print."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.bench.secrets import measure, table
from tests.bench.secrets.peers import PEERS, ROOT
from tests.bench.secrets.score import MB

PAGE: Final = ROOT / "docs" / "secrets.md"
_BEGIN: Final = "<!-- measured -->"
_END: Final = "<!-- /measured -->"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench secrets", description="What scanners find and miss.")
    parser.add_argument("--size", type=float, default=10, help="MB of the transcript (10)")
    parser.add_argument("--each", type=int, default=8, help="plants of each kind and of each form (8)")
    parser.add_argument("--seed", type=int, default=1, help="of everything that is drawn (1)")
    parser.add_argument("--ours", action="store_true", help="our scanner alone, with all that it misses")
    small = ",".join(peer.name for peer in PEERS if not peer.large)
    parser.add_argument("--tools", default=small, help="the others, by name (%(default)s)")
    parser.add_argument("--keep", type=Path, help="folder for the transcripts, to look at them")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/secrets.md")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the tables")
    parser.add_argument("--check", action="store_true", help="exit 1 where a target is missed")
    return parser.parse_args()


def _write(text: str, broken: list[str]) -> None:
    text += "\n\nTargets missed in this run: " + ("; ".join(broken) or "none") + "."
    head, rest = PAGE.read_text("utf-8").split(_BEGIN, 1)
    tail = rest.split(_END, 1)[1]
    command = "scripts/bench secrets " + " ".join(sys.argv[1:])
    PAGE.write_text(f"{head}{_BEGIN}\nMade by `{command}`.\n\n{text}\n{_END}{tail}", "utf-8")


def main() -> int:
    """Run the benchmark; 1 with `--check` where a target is missed."""
    given = _options()
    names = [] if given.ours else given.tools.split(",")
    chosen = [peer for peer in PEERS if peer.name in names]
    grounds = measure.grounds(int(given.size * MB), given.each, given.seed, alone=given.ours)
    with TemporaryDirectory() as made:
        folder = given.keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        rows, found = measure.rows(grounds, chosen, folder, measure.progress)
    own = measure.own(grounds)
    if given.json:
        print(json.dumps(table.document(grounds, rows, own), indent=1))
    else:
        print(table.text(grounds, rows, own))
    result = rows[0].result
    if given.ours and result is not None and not given.json:
        print("\n" + table.misses(result, found))
    slow = [row.speed for row in rows if row.tool == "detect-secrets" and row.result]
    broken = list(measure.failures(rows[0], grounds.sets, own, slow[0] if slow else None))
    if given.write:
        _write(table.text(grounds, rows, own), broken)
    for line in broken:
        print(line, file=sys.stderr)
    return 1 if given.check and broken else 0


if __name__ == "__main__":
    sys.exit(main())
