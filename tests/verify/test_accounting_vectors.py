"""The vectors of what a run did: each fails with exactly its code, and has a passing twin."""

import json
from pathlib import Path

import pytest

from geode_traj.verify import verify_path
from geode_traj.verify.checks import accounting, inference, plan
from geode_traj.verify.registry import all_checks

FIXTURES = Path(__file__).parents[2] / "fixtures" / "verify"
FAMILIES = {f"{module.__name__}" for module in (accounting, inference, plan)}
# Bounds on memory: their vectors would be files of many megabytes; their rules have tests of their own.
BOUNDS = {"GT718", "GT1108"}
CODES = {
    code
    for code, check in all_checks().items()
    if any(getattr(run, "__module__", "") in FAMILIES for run in (check.on_event, check.on_file))
}
CASES = sorted(path for path in FIXTURES.glob("GT*-*") if path.name.split("-")[0] in CODES)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_vector(case):
    expect = json.loads((case / "expect.json").read_text())
    failed, passed = verify_path(case / "fail.json"), verify_path(case / "pass.json")
    assert {found.code for found in failed.findings} == set(expect["codes"])
    assert case.name.split("-")[0] in expect["codes"]
    assert failed.verdict == expect["verdict"]
    assert (passed.verdict, passed.findings) == ("valid", ())


def test_every_code_has_a_vector():
    assert {case.name.split("-")[0] for case in CASES} == CODES - BOUNDS
