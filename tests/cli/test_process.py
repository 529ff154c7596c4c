"""What only a process of its own shows: what a cold start loads, and how a pipe that closes early ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reference import geode

ROOMS = {"errors", "model", "codec", "contract", "verify", "report", "jobs", "cli"}
JOBS = {f"jobs.{name}" for name in "baseline event_lines selection verify_files verify_inputs".split()}
CLI = {f"cli.{name}" for name in "config known main options output verbs verbs.verify".split()}
LIBRARIES = {"click", "orjson", "jiter", "jsonschema_rs", "re2", "geode_traj"}
HEAVY = set("sqlite3 asyncio multiprocessing http ssl unittest concurrent zipfile tempfile secrets".split())
HEAVY |= set("importlib.metadata importlib.resources jsonschema statistics tomllib platformdirs".split())
_LISTING = "import sys, json; from geode_traj.cli.main import main; code = main(sys.argv[1:]);"
_LISTING += " print(json.dumps([code, sorted(sys.modules)]))"


@pytest.fixture
def trajectory(tmp_path: Path) -> Path:
    store = geode.create_store(tmp_path / "sessions.db")
    path = tmp_path / "demo.json"
    path.write_text(json.dumps(geode.export_session(geode.read_store(store), "demo-finished")), "utf-8")
    return path


def started(*arguments: str, cwd: Path) -> tuple[int, set[str]]:
    done = subprocess.run(
        [sys.executable, "-c", _LISTING, *arguments], capture_output=True, check=True, text=True, cwd=cwd
    )
    code, modules = json.loads(done.stdout.splitlines()[-1])
    return code, set(modules)


def test_verify_loads_the_verifier_and_no_more(trajectory: Path) -> None:
    code, modules = started("verify", str(trajectory), cwd=trajectory.parent)
    ours = {name.partition(".")[2] for name in modules if name.startswith("geode_traj.")}
    others = {name.partition(".")[0] for name in modules} - sys.stdlib_module_names
    plain = started("--version", cwd=trajectory.parent)[1]
    assert code == 0
    assert {name.partition(".")[0] for name in ours} <= ROOMS
    assert {name for name in ours if name.startswith("jobs.")} <= JOBS
    assert {name for name in ours if name.startswith("cli.")} <= CLI
    loaded = {name for name in others if not name.startswith(("_", "sitecustomize")) and name not in plain}
    assert loaded <= LIBRARIES
    assert not modules & HEAVY


def test_help_loads_no_room(tmp_path: Path) -> None:
    _, modules = started("--version", cwd=tmp_path)
    rooms = {name.split(".")[1] for name in modules if name.startswith("geode_traj.")}
    assert rooms <= {"cli", "codec", "errors", "model", "report"}


def test_a_reader_that_goes_away_ends_the_run_without_a_trace(tmp_path: Path) -> None:
    command = f'"{sys.executable}" -m geode_traj schema geode.trajectory@1 | head -n 1'
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True, text=True, cwd=tmp_path)
    assert done.stdout == "{\n"
    assert done.stderr == ""


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8"])
def test_output_is_utf8_in_every_locale(tmp_path: Path, locale: str) -> None:
    (tmp_path / "dialogue.jsonl").write_text(
        '{"event": "session_start", "session_id": "김치", "ts": 1750000000}\n', "utf-8"
    )
    env = {**os.environ, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    run = [sys.executable, "-m", "geode_traj"]
    migrate = [*run, "migrate", "dialogue.jsonl", "--store", "s.db", "-q"]
    subprocess.run(migrate, check=True, env=env, cwd=tmp_path, capture_output=True)
    listed = subprocess.run(
        [*run, "list", "--store", "s.db", "-q"], env=env, cwd=tmp_path, capture_output=True
    )
    assert listed.stdout.decode() == "김치\n"
