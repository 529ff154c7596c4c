"""The conformance vectors (docs/conformance.md): what fails, where, and that its twin does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from geode_traj.verify import Verified, verify_bytes
from geode_traj.verify.registry import all_checks
from tests.support.cases import mismatches
from tests.verify import vectors

CASES = vectors.cases()
IDS = [case.name for case in CASES]
# What follows from the fault itself: a quality that must claim true of what is false.
FOLLOWS = {"GT201": {"GT702"}, "GT202": {"GT702"}}
# No trajectory file alone can show these: they are told of other inputs, of a run's folder, or of more
# than fits a vector. Their tests stand with what reads those.
ELSEWHERE = (range(150, 200), range(550, 600), range(720, 730), range(1200, 1300))
BOUNDS = {"GT718", "GT1108"}


def judged(case: Path, which: str) -> Verified:
    return verify_bytes(vectors.data(case, which), given=vectors.expect(case)["given"])


def codes(found: Verified) -> list[str]:
    return sorted({finding.code for finding in found.findings})


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_vector_fails_as_it_says(case: Path) -> None:
    expect = vectors.expect(case)
    found = judged(case, "fail")
    assert (found.verdict, codes(found)) == (expect["verdict"], sorted(expect["codes"]))
    places = [one.place.to_json() for one in found.findings if one.code == vectors.code_of(case)]
    assert not expect["places"] or mismatches(expect["places"], places) == []
    severity = all_checks()[vectors.code_of(case)].severity
    assert {one.severity for one in found.findings if one.code == vectors.code_of(case)} == {severity}


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_its_twin_passes(case: Path) -> None:
    expect = vectors.expect(case)
    found = judged(case, "pass")
    assert (found.verdict, codes(found)) == (expect["pass"]["verdict"], sorted(expect["pass"]["codes"]))
    code = vectors.code_of(case)
    more = set(expect["codes"]) - set(expect["pass"]["codes"])
    assert code in more
    assert more - {code} == FOLLOWS.get(code, set())


def is_elsewhere(code: str) -> bool:
    return code in BOUNDS or any(int(code[2:]) in numbers for numbers in ELSEWHERE)


def test_every_check_has_a_vector() -> None:
    shown = {vectors.code_of(case) for case in CASES}
    assert shown <= all_checks().keys()
    assert [code for code in all_checks() if code not in shown and not is_elsewhere(code)] == []


def test_no_message_repeats_the_payload() -> None:
    told = [finding for case in CASES for finding in judged(case, "fail").findings]
    words = ("demo.txt", "demo_user", "three lines", "Three lines", "click", "gh" + "p_")
    assert [one for one in told if any(word in one.message + one.hint for word in words)] == []
