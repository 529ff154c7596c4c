"""The GitHub Action and the pre-commit hooks, run on this machine.

    python -m tests.support.ci FOLDER     with the tools of FOLDER: pre-commit, check-jsonschema

The action's shell steps run as a runner runs them (bash, its environment, files for paths and outputs);
a step that uses another action is left out. The hooks run by pre-commit in a repository made for it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.reference import geode

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / "action.yml"
_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")


@dataclass
class Runner:
    """As much of a workflow runner as composite actions with shell steps need."""

    work: Path
    temp: Path
    path: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    log: str = ""

    def run(self, inputs: Mapping[str, str], *, leave_out: frozenset[str] = frozenset()) -> int:
        """Run the action's steps and return the exit code of the first that failed, else 0."""
        action = yaml.safe_load(ACTION.read_text("utf-8"))
        unknown = set(inputs) - set(action["inputs"])
        assert not unknown, unknown
        self.values = {
            f"inputs.{name}": inputs.get(name, row["default"]) for name, row in action["inputs"].items()
        }
        self.values |= {"github.action_path": str(ROOT), "runner.temp": str(self.temp)}
        for step in action["runs"]["steps"]:
            if step.get("id") in leave_out or "run" not in step:
                continue
            code = self._step(step)
            if code:
                return code
        return 0

    def filled(self, text: str) -> str:
        """Return a text with its expressions replaced; only plain names are known."""
        return _EXPRESSION.sub(lambda found: self.values[found[1]], text)

    def _step(self, step: dict[str, Any]) -> int:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "an expression in a script is a way in"
        files = {name: self.temp / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_PATH")}
        for file in files.values():
            file.write_text("")
        script = self.temp / "step.sh"
        script.write_text(step["run"], "utf-8")
        env = {**os.environ, **{name: str(file) for name, file in files.items()}}
        env |= {name: self.filled(str(value)) for name, value in step.get("env", {}).items()}
        env["PATH"] = os.pathsep.join([*reversed(self.path), os.environ["PATH"]])
        bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        done = subprocess.run(bash, cwd=self.work, env=env, capture_output=True, text=True, check=False)
        self.log += done.stdout + done.stderr
        self.path += files["GITHUB_PATH"].read_text().splitlines()
        for line in files["GITHUB_OUTPUT"].read_text().splitlines():
            name, _, value = line.partition("=")
            self.values[f"steps.{step['id']}.outputs.{name}"] = value
        return done.returncode


def make_trajectories(folder: Path) -> tuple[Path, Path]:
    """Write a sound trajectory and one with a false claim; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as stored:
        rows = geode.read_store(geode.create_store(Path(stored, "sessions.db")))
    value = geode.export_session(rows, "demo-finished")
    good, bad = folder / "geode-session-good.json", folder / "geode-session-bad one.json"
    good.write_text(json.dumps(value), "utf-8")
    value["integrity"]["record_count"] += 1
    bad.write_text(json.dumps(value), "utf-8")
    return good, bad


def try_action(folder: Path) -> None:
    """Run the whole action, installation included, on a sound and on a false file."""
    work, temp = folder / "work", folder / "temp"
    temp.mkdir()
    good, bad = make_trajectories(work / "runs")
    runner = Runner(work, temp)
    assert runner.run({"paths": str(good.relative_to(work))}) == 0, runner.log
    runner.log = ""
    code = runner.run({"paths": f"{good}\n{bad}\n", "upload-sarif": "true"}, leave_out=frozenset({"install"}))
    assert (code, runner.values["steps.verify.outputs.exit-code"]) == (1, "1"), runner.log
    assert "::error file=" in runner.log
    log = json.loads(Path(runner.values["steps.verify.outputs.sarif"]).read_text("utf-8"))
    assert "GT701" in [result["ruleId"] for result in log["runs"][0]["results"]]
    print("action: installed, ran, told a false claim; the step that uploads was left out")


def try_hooks(folder: Path, tools: Path) -> None:
    """Run the hooks of the last commit with pre-commit on files that pass and on files that do not."""
    repository = folder / "repository"
    good, bad = make_trajectories(repository)
    held = bad.rename(folder / bad.name)
    revision = _out("git", "rev-parse", "HEAD", cwd=ROOT).strip()
    hooks = [{"id": "geode-traj-verify"}, {"id": "geode-traj-scan"}]
    config = {"repos": [{"repo": str(ROOT), "rev": revision, "hooks": hooks}]}
    (repository / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), "utf-8")
    _out("git", "init", "--quiet", cwd=repository)
    code, log = _hooks(tools, repository, folder)
    assert code == 0, log
    shutil.move(held, repository)
    (repository / "notes.txt").write_text(
        "key: " + "sk-" + "ant-" + "api03-" + "aB3dE5gH" * 11 + "-aB3dE5AA\n", "utf-8"
    )
    code, log = _hooks(tools, repository, folder)
    assert code == 1, log
    assert "GT701" in log, log
    assert "anthropic_key" in log, log
    print(f"pre-commit: both hooks of {revision[:12]} passed {good.name} and refused what is wrong")


def _hooks(tools: Path, repository: Path, folder: Path) -> tuple[int, str]:
    _out("git", "add", "--all", cwd=repository)
    env = {**os.environ, "PRE_COMMIT_HOME": str(folder / "pre-commit")}
    command = [str(tools / "pre-commit"), "run", "--all-files", "--color", "never"]
    done = subprocess.run(command, cwd=repository, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def _out(*command: str, cwd: Path) -> str:
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


def main(tools: Path) -> None:
    """Check both files by their schemas, then run what they say."""
    _out(str(tools / "check-jsonschema"), "--builtin-schema", "vendor.github-actions", str(ACTION), cwd=ROOT)
    _out(str(tools / "pre-commit"), "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml"), cwd=ROOT)
    print("action.yml and .pre-commit-hooks.yaml fit their schemas")
    with tempfile.TemporaryDirectory() as made:
        try_action(Path(made))
        try_hooks(Path(made), tools)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
