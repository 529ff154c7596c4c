"""One task in a process of its own: `python -m tests.bench.task NAME SOURCE STORE OUT [SMALL]` prints JSON.

SOURCE is a transcript or a folder of them; STORE the store that an import makes and the others read; OUT what
the export writes and verify reads, or the store of the floor or of the unredacted import. SMALL is a folder
with a few events' `source.jsonl`, `store.db` and `out.json`: the task runs on them first, so that loading
code is not measured.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from unittest.mock import patch

from geode_traj.codec.files import write_new
from geode_traj.export.trajectory import Export
from geode_traj.migrate import scrub
from geode_traj.migrate.apply import apply
from geode_traj.migrate.beside import cores
from geode_traj.migrate.plan import plan
from geode_traj.scan.engine import Scanner
from geode_traj.scan.matching import Span
from geode_traj.store import events, opening
from geode_traj.verify import verify_path
from tests.bench.clock import Clock, peak_bytes
from tests.bench.floor import floor

Task = Callable[[Path, Path, Path, Clock], int]


def _import(source: Path, store: Path, _: Path, clock: Clock) -> int:
    with clock:
        receipts = list(apply(plan([source], store), store, jobs=cores()))
    if any(receipt.status != "imported" or receipt.damaged_count for receipt in receipts):
        raise RuntimeError("a generated transcript was not imported whole")
    return sum(receipt.new for receipt in receipts)


class _Blind(Scanner):
    """A scanner that looks at nothing."""

    def may_match(self, encoded: bytes) -> bool:
        return False

    def find(self, text: str, key: str = "", *, damaged: bool = False) -> list[Span]:
        return []


def _unredacted(source: Path, _: Path, out: Path, clock: Clock) -> int:
    with patch.object(scrub, "Scanner", _Blind):
        return _import(source, out, out, clock)


def _floor(source: Path, store: Path, out: Path, clock: Clock) -> int:
    return floor(source, store, out, clock)


def _export(_: Path, store: Path, out: Path, clock: Clock) -> int:
    with opening.open_reader(store) as connection:
        sessions = [summary.session_id for summary in events.summaries(connection)]
    with clock, opening.open_reader(store) as connection:
        export = Export(connection, sessions, trajectory_id="bench")
        write_new(out, export.chunks())
    return export.result.records


def _verify(_: Path, __: Path, out: Path, clock: Clock) -> int:
    with clock:
        verified = verify_path(out)
    if verified.verdict != "valid":
        raise RuntimeError(f"the export is {verified.verdict}: {verified.findings[:3]}")
    return verified.events


TASKS: Final[dict[str, Task]] = {
    "import": _import, "unredacted": _unredacted, "floor": _floor, "export": _export, "verify": _verify,
}  # fmt: skip


def _warm(name: str, small: Path) -> None:
    with TemporaryDirectory() as made:
        new = Path(made, "new")
        store = new if name == "import" else small / "store.db"
        out = small / "out.json" if name == "verify" else new
        TASKS[name](small / "source.jsonl", store, out, Clock())


def main(name: str, source: str, store: str, out: str, small: str = "") -> None:
    """Run one task and print {events, wall, cpu (seconds), peak (bytes)}."""
    if small:
        _warm(name, Path(small))
    os.sync()  # what earlier tasks wrote is not written back at this one's cost
    clock = Clock()
    count = TASKS[name](Path(source), Path(store), Path(out), clock)
    print(json.dumps({"events": count, "wall": clock.wall, "cpu": clock.cpu, "peak": peak_bytes()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
