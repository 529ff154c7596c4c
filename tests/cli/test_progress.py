"""A bar of bytes on a terminal, told by what a scan has looked through; elsewhere nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from geode_traj.cli import progress
from geode_traj.jobs.scan_files import scan_with
from geode_traj.scan.engine import Scanner
from tests.support.transcripts import call


@pytest.mark.parametrize("learn", [False, True])
def test_a_scan_tells_all_bytes(learn: bool, tmp_path: Path) -> None:
    rows = [{"type": "text_delta", "delta": f"word {number}"} for number in range(9_000)]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    (tmp_path / "a").write_bytes(data)
    told: list[int] = []
    scan_with(Scanner("publish"), [tmp_path / "a"], learn=learn, observer=told.append)
    assert sum(told) == (len(data) - len(rows)) * (2 if learn else 1)  # line ends are not looked at
    assert len(told) > 5


def test_a_bar_is_drawn_on_a_terminal_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    totals: list[int | None] = []

    @contextmanager
    def seen(total: int | None) -> Iterator[object]:
        totals.append(total)
        with original(total) as observer:
            yield observer

    original = progress.data
    monkeypatch.setattr(progress, "data", seen)
    (tmp_path / "a").write_text("clean\n" * 9)
    stdout, stderr, code = call(["scan", str(tmp_path), str(tmp_path / "none"), "--profile", "import"])
    assert (code, totals) == (3, [54]) and b"\x1b" not in stdout + stderr
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with original(10) as observer:
        observer(4)
    assert "4/10 bytes" in capsys.readouterr().err
