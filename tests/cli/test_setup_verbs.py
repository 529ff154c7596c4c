"""`config`, `env`, `completion` and `doctor`: what a person asks before anything else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.migrate import pipeline
from tests.support.transcripts import call


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))


def said(*words: str, code: int = 0) -> list[list[str]]:
    stdout, stderr, got = call(list(words))
    assert (stderr, got) == (b"", code)
    return [line.split() for line in stdout.decode().splitlines()]


def test_config_says_what_holds_and_which_file_says_it(tmp_path: Path) -> None:
    ((key, _, origin),) = said("config", "show", "--origin")
    assert (key, origin) == ("store", "default")
    user = tmp_path / "xdg_config_home" / "geode-traj" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text('store = "mine.db"\nsensitive_fields = ["pin"]\n')
    project = tmp_path / "geode-traj.toml"
    project.write_text('store = "ours.db"\nsensitive_fields = ["room"]\n')
    assert said("config", "show", "--origin") == [
        ["store", str(tmp_path / "ours.db"), str(project)],
        ["sensitive_fields", "pin", str(user)],
        ["sensitive_fields", "room", str(project)],
    ]
    assert said("config", "show")[1:] == [["sensitive_fields", "pin"], ["sensitive_fields", "room"]]


def test_env_lists_variables_that_really_stand_for_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = {row[0]: row[1:] for row in said("env")}
    assert listed["GEODE_TRAJ_MIGRATE_STORE"] == ["-", "--store"]
    assert listed["GEODE_TRAJ_RELEASE_SIGN_ROLE"] == ["-", "--role"]
    monkeypatch.setenv("GEODE_TRAJ_MIGRATE_STORE", str(tmp_path / "env.db"))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    assert {row[0] for row in said("env", "--set")} == {"GEODE_TRAJ_MIGRATE_STORE", "SOURCE_DATE_EPOCH"}
    source = pipeline.write_lines(tmp_path / "s1.jsonl", pipeline.dialogue("s1", "a"))
    assert call(["migrate", str(source)])[2] == 0
    assert len(pipeline.rows(tmp_path / "env.db")) == 3


def test_a_shell_completes_verbs(tmp_path: Path) -> None:
    script = b"\n".join(b" ".join(map(str.encode, words)) for words in said("completion", "bash"))
    checked = subprocess.run(["bash", "-n"], input=script, capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, b"")
    asked = {"_GEODE_TRAJ_COMPLETE": "bash_complete", "COMP_WORDS": "geode-traj mig", "COMP_CWORD": "1"}
    done = subprocess.run(
        [Path(sys.executable).with_name("geode-traj")],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["plain,migrate"]


def test_doctor_tells_a_whole_store_from_a_damaged_one(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    states = {row[1]: row[0] for row in said("doctor", "--store", str(store))}
    assert states["Python"] == states["SQLite"] == states["store"] == "ok"
    assert not store.exists()
    lines = pipeline.dialogue("s1", *["text " * 100] * 50)
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "s1.jsonl", lines))
    assert ["ok", "store", "52", "event(s)"] in said("doctor", "--store", str(store))
    size = store.stat().st_size
    with store.open("r+b") as stream:
        stream.seek(4096)
        stream.write(b"\xff" * (size - 4096))
    assert said("doctor", "--store", str(store), code=1)[-1][:2] == ["bad", "store"]


def test_doctor_says_which_tool_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    missing = {row[1] for row in said("doctor", "--store", str(tmp_path / "s.db")) if row[0] == "missing"}
    assert missing == {"ssh-keygen", "sha256sum", "ssh-agent"}
