"""What other projects' CI runs: the action's steps as they stand in action.yml, and the hooks' entries."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
import yaml
from sarif_kit import validate

from tests.support import ci
from tests.support.transcripts import call

INSTALLED = frozenset({"install"})


@pytest.fixture
def runner(tmp_path: Path) -> ci.Runner:
    ci.make_trajectories(tmp_path / "runs")
    (tmp_path / "temp").mkdir()
    return ci.Runner(tmp_path, tmp_path / "temp", [str(Path(sys.executable).parent)])


@pytest.mark.parametrize(
    ("inputs", "code", "told"),
    [
        ({"paths": "runs/geode-session-good.json"}, 0, "title=geode-traj::valid, "),
        ({"paths": "runs"}, 1, "::error file=runs/geode-session-bad one.json,title=GT701::"),
        ({"paths": "runs/geode-session-bad one.json\nruns/geode-session-good.json"}, 1, "1 invalid"),
        ({"paths": "runs", "select": "GT4", "format": "text"}, 0, "not selected: "),
        ({"paths": "runs", "require": "replay", "format": "junit"}, 1, "<testsuites tests="),
        ({"paths": "runs", "baseline": "none.json"}, 2, "TE101"),
        ({"paths": "$(touch hacked)`touch hacked`"}, 3, "::error"),
        ({"paths": "--version"}, 3, "::error"),
        ({"paths": "temp"}, 5, "TE104"),
    ],
)
def test_the_action_verifies(runner: ci.Runner, inputs: dict[str, str], code: int, told: str) -> None:
    assert runner.run(inputs, leave_out=INSTALLED) == code, runner.log
    assert runner.values["steps.verify.outputs.exit-code"] == str(code)
    assert told in runner.log
    assert not (runner.work / "hacked").exists()


def test_the_action_writes_sarif_whatever_is_found(runner: ci.Runner) -> None:
    for _ in range(2):
        assert runner.run({"paths": "runs", "upload-sarif": "true"}, leave_out=INSTALLED) == 1
    log = json.loads(Path(runner.values["steps.verify.outputs.sarif"]).read_text("utf-8"))
    assert validate.validation_errors(log) == []
    assert [artifact["location"]["uri"] for artifact in log["runs"][0]["artifacts"]] == [
        "runs/geode-session-bad%20one.json",
        "runs/geode-session-good.json",
    ]


def test_the_hooks_call_verbs_that_there_are(tmp_path: Path) -> None:
    good, bad = ci.make_trajectories(tmp_path)
    hooks = {
        row["id"]: row for row in yaml.safe_load((ci.ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    }
    ends = []
    for name in ("geode-traj-verify", "geode-traj-scan"):
        program, *words = [*shlex.split(hooks[name]["entry"]), *hooks[name].get("args", [])]
        assert (program, hooks[name]["language"]) == ("geode-traj", "python")
        ends += [call([*words, str(path)])[2] for path in (good, bad)]
    assert ends == [0, 1, 0, 0]
