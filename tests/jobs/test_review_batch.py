"""A thousand trajectories reviewed by policy, killed on the way, gone on with, and told in one summary."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from geode_traj.review.folder import open_review
from geode_traj.review.state import State
from geode_traj.review.summary import summary
from tests.review.conftest import Build
from tests.support.reviews import policy
from tests.support.secrets import make

COUNT = 1000


@pytest.fixture
def batch(tmp_path):
    (tmp_path / "given").mkdir()
    build = Build(tmp_path / "given")
    for number in range(COUNT):
        texts = [f"run {number}: call {make('phone_kr')} or {make('email')}", make("github_token")]
        texts = texts if number % 3 else ["nothing", "to see"]
        events = [build.event({"content": text}, id=f"{number:030x}{n:02x}") for n, text in enumerate(texts)]
        build.write(build.doc(events, trajectory_id=f"run-{number}"), f"run-{number:04}.json")
    (tmp_path / "given" / "run-0500.json").write_text('{"events": 1}')
    (tmp_path / "policy.toml").write_bytes(policy().to_toml())
    return tmp_path


def call(folder, *words, **more):
    return subprocess.run(
        [sys.executable, "-m", "geode_traj", *words], cwd=folder, capture_output=True, **more
    )


@pytest.mark.slow
def test_a_thousand_by_policy(batch):
    files = sorted(path.name for path in (batch / "given").iterdir())
    start = [sys.executable, "-m", "geode_traj", "review", "start", *(f"given/{name}" for name in files)]
    start += ["--out", "review", "--policy", "policy.toml"]
    searched = batch / ".review.part" / "searched"
    for wanted in (0, 100, 400):
        process = subprocess.Popen(start, cwd=batch, stdout=subprocess.DEVNULL, start_new_session=True)
        while not searched.is_dir() or len(os.listdir(searched)) < wanted:  # noqa: PTH208 - often
            assert process.poll() is None
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    begun = time.monotonic()
    started = subprocess.run(start, cwd=batch, capture_output=True, check=False)
    assert started.returncode == 3 and b"run-0500.json: refused, unreadable" in started.stderr
    assert call(batch, "review", "status", "review").returncode == 4
    assert call(batch, "review", "decide", "review", "--auto").returncode == 0
    words = ["--reviewer", "Ann", "--method", "by policy", "--scope", "batch", "--attestation", "ok"]
    signed = call(batch, "review", "sign", "review", *words)
    assert signed.returncode == 0, signed.stderr
    seconds = time.monotonic() - begun
    print(f"{COUNT} trajectories begun (after three kills), decided and signed in {seconds:.0f} s")
    told = summary(State(open_review(batch / "review")))
    assert told["trajectories"] == COUNT - 1 and told["refused"] == {"unreadable": 1}
    found = sum(number % 3 != 0 for number in range(COUNT)) - 1
    assert told["outcomes"] == {"redact": {"email": found, "github_token": found, "phone_number": found}}
    assert told["ready"] and told["signed"]
    signoff = json.loads((batch / "review" / "signoff.json").read_bytes())
    assert len(signoff["files"]) == COUNT - 1 and len(signoff["withheld"]) == 1
    for path in (batch / "review" / "redacted").iterdir():
        assert make("email") not in path.read_text("utf-8")
