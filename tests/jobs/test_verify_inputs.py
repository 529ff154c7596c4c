"""Other inputs than trajectories: every case through `verify`, and what only running it can show.

A case is a folder `fixtures/verify-inputs/<case>/`, made real as the cases of transcripts are, its name
ending in `_fail` where `verify` does not exit 0. Keys of `expect.json`: `description`; `outcome`;
`exit_code`; `verify`, the paths to give; `results`, in order: `path`, and of the other keys what is claimed,
`findings` being some of a result's findings, in any order, `codes` the codes of all.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from geode_traj.cli.main import main
from geode_traj.jobs import verify_files, verify_inputs
from geode_traj.jobs.pages import all_pages
from geode_traj.verify import Verified
from tests.support import cases

FIXTURES = cases.FIXTURES.parent / "verify-inputs"
CASES = sorted(path.parent for path in FIXTURES.glob("*/expect.json"))
NAMES = [path.name for path in CASES]
OUTCOMES = {"valid": "ok", "incomplete": "incomplete", "invalid": "invalid", "unreadable": "unreadable"}
INVALID = {"schema", "integrity"}


@pytest.fixture
def case(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    rendered = cases.render(FIXTURES / request.param, tmp_path)
    monkeypatch.chdir(rendered)
    yield rendered


def results(given: list[str]) -> list[Verified]:
    return list(verify_files.verify_paths(map(Path, given)))


def unfound(expected: list[Any], findings: list[dict[str, object]]) -> list[Any]:
    """Return the expected findings that are not there; each one found stands for one expected."""
    left = list(findings)
    missing = []
    for one in expected:
        at = next((item for item in left if not cases.mismatches(one, item)), None)
        if at is None:
            missing.append(one)
        else:
            left.remove(at)
    return missing


@pytest.mark.parametrize("case", NAMES, indirect=True)
def test_case(case: Path) -> None:
    expect = cases.load_expect(case)
    found = results(expect["verify"])
    report, code = verify_files.report(found)
    assert [result.name for result in found] == [one["path"] for one in expect["results"]]
    for wanted, result in zip(expect["results"], found, strict=True):
        actual = {
            **result.to_json(),
            "events": result.events,
            "codes": [finding.code for finding in result.findings],
        }
        listed = wanted.pop("findings", [])
        assert cases.mismatches(wanted, actual) == [], result.name
        assert unfound(listed, actual["findings"]) == [], result.name
    assert code == expect["exit_code"]
    assert case.name.endswith("_fail") == (code != 0)
    worst = [
        verdict for verdict in ("unreadable", "invalid", "incomplete", "valid") if report.summary[verdict]
    ]
    outcome = OUTCOMES[worst[0]]
    assert expect["outcome"] == outcome or (outcome == "invalid" and expect["outcome"] in INVALID)


@pytest.mark.parametrize("case", NAMES, indirect=True)
def test_it_writes_nothing_and_says_the_same_again(case: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in case.rglob("*")}
    given = cases.load_expect(case)["verify"]
    first, again = results(given), results(given)
    assert first == again
    assert {path: path.stat().st_mtime_ns for path in case.rglob("*")} == before


@pytest.mark.parametrize("case", NAMES, indirect=True)
def test_every_code_has_a_page(case: Path) -> None:
    found = results(cases.load_expect(case)["verify"])
    codes = {finding.code for result in found for finding in result.findings}
    assert codes <= all_pages().keys()


@pytest.mark.parametrize("case", NAMES, indirect=True)
def test_standard_input_gives_what_the_file_gives(case: Path) -> None:
    for given in cases.load_expect(case)["verify"]:
        with Path(given).open("rb") as incoming:
            piped = list(verify_inputs.verify_incoming(incoming))
        named = results([given])
        assert [one.name for one in piped] == ["-" + one.name.removeprefix(given) for one in named]
        assert [one.verdict for one in piped] == [one.verdict for one in named]
        places = {finding.place.file for one in piped for finding in one.findings}
        assert places <= {"-"}


def test_a_folder_that_is_one_transcript_is_verified_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(FIXTURES.parent / "rind" / "whole" / "input", tmp_path / "input")
    monkeypatch.chdir(tmp_path)
    (folder,) = Path("input").iterdir()
    (found,) = results([str(folder)])
    assert found.events > 0
    assert found.findings[0].message == "read as rind, as if imported"


def test_a_folder_of_anything_else_is_taken_for_its_json_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = cases.render(FIXTURES / "other-formats_fail", tmp_path)
    monkeypatch.chdir(case)
    found = results(["input"])
    assert {Path(one.name).suffix for one in found} == {".json"}


def test_no_log_is_left_beside_a_store_that_is_in_use(tmp_path: Path) -> None:
    case = cases.render(FIXTURES / "store", tmp_path)
    store = case / "input" / "sessions.db"
    with closing(sqlite3.connect(store)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("UPDATE session_events SET status = 'completed' WHERE kind = 'session.ended'")
        db.commit()
        names = sorted(path.name for path in store.parent.iterdir())
        found = results([str(store)])
        assert sorted(path.name for path in store.parent.iterdir()) == names
    assert [one.verdict for one in found] == ["valid", "incomplete", "valid"]


def test_a_ledger_has_no_scope_to_require(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = cases.render(FIXTURES / "usage-ledger", tmp_path)
    monkeypatch.chdir(case)
    assert main(["verify", "--require", "scope", "input/2026-03.jsonl"]) == 0
    assert "valid, 3 record(s)" in capsys.readouterr().out


def test_show_takes_what_verify_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = cases.render(FIXTURES / "several-sessions", tmp_path)
    monkeypatch.chdir(case)
    assert main(["show", "input/merged.jsonl"]) == 0
    lines = capsys.readouterr().out.splitlines()
    heads = [line.split() for line in lines if line.startswith("session ")]
    expect = cases.load_expect(case)
    assert [one["path"].partition("#")[2] for one in expect["results"]] == [head[1] for head in heads]


def test_findings_of_one_code_are_counted_beyond_a_bound(tmp_path: Path) -> None:
    path = tmp_path / "2026-03.jsonl"
    row = json.dumps({"ts": 1, "model": 7, "in": 1, "out": 1, "cost": 0})
    path.write_text(f"{row}\n" * 130)
    (found,) = results([str(path)])
    assert [finding.severity for finding in found.findings] == ["error"] * 100 + ["note"]
    assert found.findings[-1].message.startswith("30 more")
