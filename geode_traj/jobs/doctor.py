"""What this machine has of what the pipeline needs, looked at without changing anything."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from geode_traj import __version__
from geode_traj.errors import TrajError
from geode_traj.store import opening

State = Literal["ok", "missing", "bad"]
_TOOLS: Final = {
    "ssh-keygen": "strangers verify signatures with it",
    "sha256sum": "strangers verify files with it",
    "ssh-agent": "signs without a key file (`release sign --agent`)",
}


@dataclass(frozen=True, slots=True)
class Look:
    """One thing looked at: `missing` limits what can be done, `bad` must be mended."""

    state: State
    what: str
    detail: str


def examine(store: Path) -> Iterator[Look]:
    """Yield a look at everything: the interpreter, SQLite, the tools, the store."""
    yield Look("ok", "geode-traj", __version__)
    yield Look("ok", "Python", sys.version.split()[0])
    yield Look("ok", "SQLite", sqlite3.sqlite_version)
    for tool, use in _TOOLS.items():
        path = shutil.which(tool)
        yield Look("ok", tool, path) if path else Look("missing", tool, f"not found; {use}")
    yield _store(store)


def _store(store: Path) -> Look:
    if not store.exists():
        folder = next((parent for parent in store.absolute().parents if parent.exists()), None)
        writable = folder is not None and os.access(folder, os.W_OK)
        return Look("ok", "store", "none yet") if writable else Look("bad", "store", "cannot be made there")
    try:
        with opening.open_reader(store) as connection:
            problems = [row[0] for row in connection.execute("PRAGMA quick_check(1)")]
            count = connection.execute("SELECT count(*) FROM session_events").fetchone()[0]
    except TrajError as error:
        return Look("bad", "store", str(error))
    if problems != ["ok"]:
        return Look("bad", "store", "damaged: restore a backup, or `sqlite3 .recover` it")
    return Look("ok", "store", f"{count} event(s)")
