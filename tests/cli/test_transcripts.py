from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from geode_traj.store import opening
from tests.support.transcripts import run, transcripts

REWRITE = "REWRITE_TRANSCRIPTS"  # set it to write what comes out into the files, then read the difference


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to run in, and a machine that is the same everywhere."""
    for name in [name for name in os.environ if name.startswith(("XDG_", "GEODE_TRAJ_"))]:
        monkeypatch.delenv(name)
    for name, value in {
        "HOME": str(tmp_path / "work" / "home"),
        "TZ": "Asia/Seoul",
        "SOURCE_DATE_EPOCH": "1760000000",
        "COLUMNS": "100",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0.05)
    monkeypatch.setitem(opening.open_writer.__wrapped__.__kwdefaults__, "busy_seconds", 0.05)
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    time.tzset()
    yield folder
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("path", transcripts(), ids=lambda path: path.stem)
def test_what_is_printed_is_what_the_transcript_says(path: Path, here: Path) -> None:
    wanted = path.read_text("utf-8")
    came = run(wanted, here)
    assert "Traceback" not in came
    assert "internal error" not in came
    if os.environ.get(REWRITE):
        path.write_text(came, "utf-8")
    assert came == wanted
