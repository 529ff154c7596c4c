"""GEODE's verbs beside a second GEODE: what one wrote the other reads, and neither counts anything else."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path

import pytest

from tests.reference import geode
from tests.support.cases import FIXTURES, legacy_cases, render
from tests.support.transcripts import call

# Lines that we read and GEODE passes over, or the other way round (record contract §1, Ours).
DIFFERENT = {"bom-crlf", "nul-block_fail", "lone-cr_fail"}
CASES = [case for case in legacy_cases() if case.name not in DIFFERENT]


def run(*arguments: object) -> tuple[str, int]:
    stdout, _, code = call([str(argument) for argument in arguments])
    return stdout.decode(), code


def recognized(text: str) -> tuple[int, int]:
    found = re.match(r"Recognized (\d+) event\(s\) from (\d+) file\(s\) in ", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_as_many_events_are_recognized_as_geode_recognizes(case: Path, tmp_path: Path) -> None:
    source = render(case, tmp_path) / "input"
    theirs = geode.create_store(tmp_path / "theirs.db", demo=False)
    events = refused = 0
    files = sorted(path for path in source.rglob("*.jsonl") if path.is_file())
    for path in files:
        try:
            events += geode.import_into(theirs, path.resolve())
        except geode.Refused:
            refused += 1
    migrate = ("session", "migrate-records", "--source", source, "--sessions-dir", tmp_path)
    text, code = run(*migrate)
    assert code == (2 if refused else 0)
    assert recognized(text) == (events, len(files) - refused)
    assert run(*migrate) == (text, code)
    assert len(geode.read_store(tmp_path / "sessions.db")) == len(geode.read_store(theirs)) if files else True


def test_what_geode_imported_is_known(tmp_path: Path) -> None:
    source = (render(FIXTURES / "calls-with-ids", tmp_path) / "input").resolve()
    store = geode.create_store(tmp_path / "sessions.db")
    rows = sum(geode.import_into(store, path) for path in source.rglob("*.jsonl"))
    before = geode.read_store(store)
    text, code = run("session", "migrate-records", "--source", source, "--sessions-dir", tmp_path)
    assert (recognized(text), code) == ((rows, 1), 0)
    assert geode.read_store(store) == before


@pytest.mark.parametrize("verb", [
    ("list",), ("export-trajectory", "demo-finished", "--out", "x.json"), ("export-trajectory", "nobody"),
    ("migrate-records", "--source", ".", "--dry-run"), ("prune-records", "--retention-days", "1000000"),
], ids=" ".join)  # fmt: skip
def test_what_only_reads_writes_nothing(
    verb: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("session", *verb, "--sessions-dir", "nowhere")
    assert not Path("nowhere").exists()
    geode.create_store(tmp_path / "sessions.db")
    before = hashlib.sha256(Path("sessions.db").read_bytes()).digest(), geode.read_store("sessions.db")
    run("session", *verb, "--sessions-dir", ".")
    after = hashlib.sha256(Path("sessions.db").read_bytes()).digest(), geode.read_store("sessions.db")
    assert after[1] == before[1]
    assert verb[0] == "prune-records" or after[0] == before[0]


def test_geode_reads_the_file_and_the_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1760000000")
    geode.create_store(tmp_path / "sessions.db")
    trajectory = tmp_path / "demo.json"
    export = (
        "session",
        "export-trajectory",
        "demo-finished",
        "--sessions-dir",
        tmp_path,
        "--out",
        trajectory,
    )
    assert run(*export)[1] == 0
    geode.check_trajectory(json.loads(trajectory.read_text("utf-8")))
    text = trajectory.read_text("utf-8").replace('"review_state":"local"', '"review_state":"reviewed"')
    trajectory.write_text(text, "utf-8")
    review = tmp_path / "review.json"
    review.write_text(json.dumps({
        "reviewer": "Demo Reviewer", "reviewed_at": "2025-10-09T10:00:00+09:00", "method": "read in full",
        "scope": "demo", "attestation": "Nothing private is left.",
    }), "utf-8")  # fmt: skip
    printed, code = run(
        "session", "stage-trajectory-release", trajectory, "--destination", tmp_path / "out",
        "--source", "demo", "--scope", "demo", "--privacy-review", review,
    )  # fmt: skip
    release = Path(printed.rstrip("\n"))
    assert (code, release.parent) == (0, (tmp_path / "out").resolve())
    digest = hashlib.sha256((release / "manifest.json").read_bytes()).hexdigest()
    manifest = geode.read_release(release, digest)["manifest"]
    assert (release / "demo.json").read_bytes() == trajectory.read_bytes()
    verify = ("session", "verify-trajectory-release", release, "--expected-manifest-sha256")
    line, code = run(*verify, digest)
    assert code == 0
    assert line == json.dumps(json.loads(line), sort_keys=True, ensure_ascii=False) + "\n"
    assert json.loads(line) == {"quality": manifest["quality"], "release": str(release), "verified": True}
    assert run(*verify, digest[::-1]) == ("", 2)
    moved = tmp_path / "elsewhere"
    shutil.move(release, moved)
    assert run("session", "verify-trajectory-release", moved, "--expected-manifest-sha256", digest) == ("", 2)


def test_the_projects_folder_is_geodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "my project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    newer = tmp_path / "home/.geode/projects" / str(project.resolve()).replace("/", "-") / "sessions"
    assert run("session", "list") == (f"No sessions found in {newer}.\n", 0)
    older = project / ".geode/session"
    for folder, text in ((older, "older"), (newer, "newer")):
        (folder / text).mkdir(parents=True)
        (folder / text / "state.json").write_text("{}", "utf-8")
        assert run("session", "list")[0].endswith(f"\n1 session(s) in {folder}.\n")


def test_configured_sensitive_fields_count_here_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("geode-traj.toml").write_text('sensitive_fields = ["pin"]\n', "utf-8")
    row = {"event": "tool_call", "tool": "login", "input": {"pin": "4711-0815"}, "ts": 1750000000}
    Path("keys.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    assert run("session", "migrate-records", "--source", "keys.jsonl", "--sessions-dir", ".")[1] == 0
    (stored,) = geode.read_store("sessions.db")
    assert stored["payload"]["arguments"] == {"pin": "<REDACTED>"}
    assert b"4711-0815" not in Path("sessions.db").read_bytes()
