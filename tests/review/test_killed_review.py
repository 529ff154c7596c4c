"""kill -9 while people decide: what was acknowledged is there, and the next call goes on."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from geode_traj.review import decide as decisions
from geode_traj.review.folder import open_review
from geode_traj.review.sign import sign
from geode_traj.review.state import State
from geode_traj.scan.engine import Scanner
from tests.support.reviews import AT, REVIEW, begun, policy
from tests.support.secrets import make

TEXTS = [f"call {make('phone_kr')}, and that is all of part {number}" for number in range(60)]

# Decides one finding after the other, takes every fifth decision back, and says what is done once it is.
REVIEWER = """
import sys
from pathlib import Path
from geode_traj.review import decide as decisions
from geode_traj.review.folder import open_review
from geode_traj.review.state import State
state = State(open_review(Path(sys.argv[1])))
reviewer, action, reason = sys.argv[2:5]
for found in state.review.findings:
    if not state.waits_for(found, reviewer):
        continue
    done = decisions.decide(state, [found], action, reviewer=reviewer, at=sys.argv[5], reason=reason)
    print(done.entry.seq, flush=True)
    if found.id % 5 == 0:
        entry = decisions.undo(state, reviewer=reviewer, at=sys.argv[5])
        print(state.review.journal.entries[-1].seq, flush=True)
        decisions.decide(state, [found], action, reviewer=reviewer, at=sys.argv[5], reason=reason)
        print(state.review.journal.entries[-1].seq, flush=True)
"""


@pytest.fixture
def folder(build):
    doc = build.doc([build.event({"content": text}) for text in TEXTS])
    out = build.folder.parent / "review"
    begun([build.write(doc)], out)
    return out


def run(folder, reviewer, action, reason=""):
    words = [sys.executable, "-c", REVIEWER, str(folder), reviewer, action, reason, AT]
    return subprocess.Popen(words, stdout=subprocess.PIPE)


def killed(folder, moments, **said):
    """Kill a reviewer some decisions and some seconds after it began; return how often it had more to do."""
    interrupted = 0
    for decided, moment in moments:
        process = run(folder, **said)
        acknowledged = [line for line in (process.stdout.readline() for _ in range(decided)) if line]
        time.sleep(moment)
        os.kill(process.pid, signal.SIGKILL)
        acknowledged += process.communicate()[0].split(b"\n")[:-1]
        interrupted += process.returncode != 0
        entries = open_review(folder).journal.entries
        assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
        assert all(int(seq) <= len(entries) for seq in acknowledged)
    return interrupted


def finished(folder, **said):
    process = run(folder, **said)
    process.communicate()
    assert process.returncode == 0
    state = State(open_review(folder))
    assert not any(state.undecided())
    return state


def test_a_killed_reviewer_goes_on(folder):
    assert killed(folder, [(0, 0.2), (1, 0.0), (7, 0.003)], reviewer="Ann", action="redact") > 0
    state = finished(folder, reviewer="Ann", action="redact")
    assert state.counts() == {"redact": {"phone_number": len(TEXTS)}}


@pytest.mark.slow
def test_killed_at_any_moment(folder):
    draw = random.Random(7)
    moments = [(draw.randrange(3), draw.uniform(0, 0.004)) for _ in range(60)]
    assert killed(folder, moments, reviewer="Ann", action="approve", reason="synthetic") > 5
    state = finished(folder, reviewer="Ann", action="approve", reason="synthetic")
    assert state.counts() == {"approve": {"phone_number": len(TEXTS)}}


@pytest.mark.slow
def test_a_killed_sign_off_leaves_the_one_before_or_none(folder):
    state = finished(folder, reviewer="Ann", action="redact")
    words = [sys.executable, "-m", "geode_traj", "review", "sign", str(folder), "--reviewer", "Ann"]
    words += ["--method", "read", "--scope", "demo/small", "--attestation", "ok"]
    draw = random.Random(3)
    for _ in range(25):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(draw.uniform(0.1, 0.6))
        process.kill()
        process.wait()
        signoff = folder / "signoff.json"
        if signoff.exists():
            (file,) = json.loads(signoff.read_bytes())["files"]
            assert (folder / "redacted" / file["path"]).exists()
    sign(state.review, **REVIEW, scanner=Scanner("publish"))
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_two_reviewers_at_once_lose_nothing_of_each_other(build):
    doc = build.doc([build.event({"content": text}) for text in TEXTS])
    out = build.folder.parent / "review"
    begun([build.write(doc)], out, under=policy('[bands]\nreview = "two"\n'))
    running = [run(out, name, "approve", "synthetic") for name in ("Ann", "Ben")]
    acknowledged = [process.communicate()[0].split(b"\n")[:-1] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    state = State(open_review(out))
    said = [set(map(int, some)) for some in acknowledged]
    assert not said[0] & said[1]
    assert {entry.seq for entry in state.review.journal.entries[1:]} == said[0] | said[1]
    assert state.counts() == {"approve": {"phone_number": len(TEXTS)}}
    assert decisions.undo(state, reviewer="Ben", at=AT).body["reviewer"] == "Ben"
