"""A text that cannot be scanned costs itself: it is named, the rest is searched, and nothing is clean."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sarif_kit import validate

from geode_traj.jobs import scan_files, scan_report, scan_workers
from geode_traj.jobs.scan_report import exit_code
from geode_traj.report import names, render
from geode_traj.scan.engine import Scanner
from geode_traj.scan.matching import Span
from tests.support.secrets import make

TOKEN = make("github_token")


class Hostile(Scanner):
    """A scanner that some texts get the better of."""

    def find(self, text: str, key: str = "", *, damaged: bool = False) -> list[Span]:
        if "SPIN" in text:
            while True:
                pass
        if "SLEEP" in text:
            time.sleep(60)
        if "DIE" in text:
            os.kill(os.getpid(), signal.SIGKILL)
        if "RAISE" in text:
            raise RuntimeError(text)
        return super().find(text, key, damaged=damaged)


def scanned(path: Path, data: str, jobs: int = 1) -> scan_report.Report:
    path.write_text(data)
    return scan_files.scan_with(Hostile("import"), [path], jobs=jobs, seconds=0.1)


WHY = {
    "SPIN": scan_workers.SLOW,
    "SLEEP": scan_workers.SLOW,
    "DIE": scan_workers.DIED,
    "RAISE": "scanning it failed (RuntimeError)",
}


@pytest.mark.parametrize("word", WHY)
@pytest.mark.parametrize("form", ["lines", "whole", "text", "key"])
def test_only_what_cannot_be_scanned_is_quarantined(
    word: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_workers, "_CLOCK", 2)
    before, after = {"a": TOKEN, "b": [word, TOKEN]}, {"c": TOKEN}
    given, place = f"{json.dumps(before)}\n{json.dumps(after)}\n", {"line": 1, "pointer": "/b/0"}
    if form == "whole":
        given, place = json.dumps([before, after], indent=1), {"pointer": "/0/b/0"}
    elif form == "text":
        given, place = f"{TOKEN}\n{word}\n{TOKEN}\n{TOKEN}\n", {"line": 2, "pointer": ""}
    elif form == "key":
        given = given.replace(f'"{word}"', f'{{"{word}": 1}}')
        place = {"line": 1, "pointer": "/b/0/[REDACTED:quarantined]"}
    report = scanned(tmp_path / "x", given)
    (entry,) = report.entries
    assert entry.data["unscanned"] == [{"place": place, "why": WHY[word]}]
    assert [found["class"] for found in entry.data["findings"]] == ["github_token"] * 3
    assert exit_code(report) == 3 and "QUARANTINED: " in entry.headline


def test_the_report_is_the_same_for_any_number_of_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_files, "_UNIT", 200)
    rows = [{"n": n, "a": [TOKEN, make("npm_token")][n % 2] if n % 3 else "x"} for n in range(60)]
    rows[20]["a"], rows[40]["a"] = "SPIN", "DIE"
    paths = []
    for name in ("one.jsonl", "two.jsonl"):
        paths.append(tmp_path / name)
        paths[-1].write_text("".join(json.dumps(row) + "\n" for row in rows))
    paths.insert(1, tmp_path / "missing")
    reports = [scan_files.scan_with(Hostile("import"), paths, jobs=jobs, seconds=0.1) for jobs in (1, 2, 5)]
    for form in names():
        told = [list(render(report, form)) for report in reports]
        assert told[0] == told[1] == told[2]
        assert TOKEN not in "".join(told[0]) and "SPIN" not in "".join(told[0])
    assert validate.validation_errors(json.loads("".join(render(reports[0], "sarif")))) == []
    assert [entry.data["quarantined"] for entry in reports[0].entries] == [True, False, True]
    assert len(reports[0].entries[0].findings) == 38


def test_an_attack_on_the_scan_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_workers, "MAX_QUARANTINED", 3)
    monkeypatch.setattr(scan_report, "MAX_QUARANTINED", 3)
    monkeypatch.setattr(scan_files, "_UNIT", 30)
    report = scanned(tmp_path / "x", f"RAISE\n{TOKEN}\n" * 20, jobs=2)
    (entry,) = report.entries
    assert [reason.get("place", {}).get("line") for reason in entry.data["unscanned"]] == [1, 3, 5, None]
    assert entry.data["unscanned"][-1]["why"] == "so much of it cannot be scanned that the rest was not"
    assert exit_code(report) == 3


def test_what_is_past_the_listed_findings_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_report, "MAX_FINDINGS", 3)
    (entry,) = scanned(tmp_path / "x", f"{TOKEN}\n" * 5).entries
    assert len(entry.findings) == 3 and entry.problem == "2 more finding(s) are not listed"


def test_a_file_name_is_scanned_and_not_told(tmp_path: Path) -> None:
    report = scanned(tmp_path / f"x-{TOKEN}.txt", "clean\n")
    assert exit_code(report) == 1 and report.entries[0].findings[0].message == "github_token v1 inside path"
    (tmp_path / f"x-{TOKEN}.txt").unlink()
    gone = scan_files.scan_with(Scanner("import"), [tmp_path / f"x-{TOKEN}.txt"])
    for form in names():
        assert TOKEN not in "".join([*render(report, form), *render(gone, form)])


def test_no_process_outlives_a_scan(tmp_path: Path) -> None:
    pids: list[int] = []
    fork: Callable[[], int] = os.fork

    def noted() -> int:
        pids.append(fork())
        return pids[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fork", noted)
        scanned(tmp_path / "x", "a\n" * 20, jobs=2)
    assert pids
    for pid in pids:
        with pytest.raises(ChildProcessError):
            os.waitpid(pid, 0)
