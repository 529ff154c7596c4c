from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geode_traj.codec import schema
from geode_traj.errors import WorldError
from geode_traj.jobs import baseline, selection
from geode_traj.jobs.verify_files import exit_code, report
from geode_traj.model.finding import Finding, Place
from geode_traj.model.report import Report
from geode_traj.verify import Verified


def result(name: str, *findings: Finding, sha256: str = "ab" * 32, unreadable: bool = False) -> Verified:
    placed = tuple(replace(found, place=replace(found.place, file=name)) for found in findings)
    verdict: Any = "unreadable" if unreadable else "invalid" if findings else "valid"
    return Verified(name, sha256, 1, None, verdict, placed)


def error(code: str = "GT201", ordinal: int | None = None, message: str = "so", **place: Any) -> Finding:
    return Finding(code, "error", message, Place(ordinal=ordinal, **place))


def written(path: Path, *results: Verified) -> baseline.Baseline:
    return baseline.write(path, report(results)[0])


def judged(known: baseline.Baseline, *results: Verified) -> tuple[Report, int, int]:
    found, gone = known.apply(report(results)[0])
    return found, exit_code(found), gone


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_same_findings_are_the_same_bytes_in_any_order() -> None:
    results = [result(f"runs/{n}.json", error(ordinal=2), error(ordinal=1), error("GT701")) for n in range(5)]
    written(Path("a.json"), *results)
    random.Random(7).shuffle(results)
    written(Path("b.json"), *(replace(one, findings=one.findings[::-1]) for one in results))
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()
    assert schema.problems("geode-traj.baseline@1", json.loads(Path("a.json").read_bytes())) == []


def test_known_findings_do_not_fail_wherever_the_file_stands_in_the_order(here: Path) -> None:
    one, two = result("runs/1.json", error(ordinal=1)), result("runs/2.json", error(ordinal=1))
    known = written(Path("known.json"), one, two)
    for given in ((one, two), (two, one), (two,)):
        assert judged(known, *given)[1:] == (0, 0)
    absolute = result(str(here / "runs" / "1.json"), error(ordinal=1, message="other words", line=9))
    assert judged(known, absolute)[1] == 0


@pytest.mark.parametrize(
    "new",
    [
        result("runs/1.json", error(ordinal=1), error(ordinal=2)),
        result("runs/1.json", error(ordinal=1), error(ordinal=1)),
        result("runs/1.json", error("GT202", ordinal=1)),
        result("runs/1.json", error(pointer="/events/0/kind")),
        result("runs/3.json", error(ordinal=1)),
    ],
    ids=["place", "count", "code", "pointer", "file"],
)
def test_new_findings_fail(new: Verified) -> None:
    known = written(Path("known.json"), result("runs/1.json", error(ordinal=1)))
    assert judged(known, new)[1] == 1


def many(count: int, first: int = 0) -> list[Finding]:
    """What is left of `count` findings where a hundred are listed."""
    listed = [error(ordinal=first + n) for n in range(1, 101)]
    more = Finding("GT201", "note", f"{count - 100} more finding(s) of GT201 are not listed", Place())
    return [*listed, more]


def test_past_the_limit_the_number_decides() -> None:
    known = written(Path("known.json"), result("a.json", *many(150)))
    assert judged(known, result("a.json", *many(150)))[1:] == (0, 0)
    assert judged(known, result("a.json", *many(151)))[1] == 1
    assert judged(known, result("a.json", *many(140)))[1:] == (0, 10)
    assert judged(known, result("a.json", *many(149, first=1)))[1:] == (0, 1)  # the first one is mended
    assert judged(known, result("a.json", error(ordinal=0), *many(150)[:99], many(151)[-1]))[1] == 1


def test_what_cannot_be_read_is_known_by_its_bytes() -> None:
    broken = result("a.json", error("GT101"), unreadable=True)
    known = written(Path("known.json"), broken)
    assert judged(known, broken)[1] == 0
    assert judged(known, replace(broken, sha256="cd" * 32))[1] == 3
    missing = result("gone.json", error("GT101"), sha256="", unreadable=True)
    assert judged(written(Path("known.json"), missing), missing)[1] == 3


def test_sessions_of_a_file_are_known_apart() -> None:
    place = Place("a.jsonl", ordinal=1)
    one, two = (
        Verified(f"a.jsonl#{name}", "ab" * 32, 1, None, "invalid", (Finding("GT201", "error", "so", place),))
        for name in ("one", "two")
    )
    known = written(Path("known.json"), one)
    assert judged(known, one)[1] == 0
    assert judged(known, two)[1] == 1


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not JSON"),
        (b"{}", "lacks the required key"),
        (b'{"a": 1, "a": 2}', "repeated"),
        (b"[" * 5000, "nested"),
        (
            b'{"schema_id": "geode-traj.baseline@2", "tool_version": "1", "ruleset": "1", "findings": []}',
            "is not geode-traj.baseline@1",
        ),
    ],
)
def test_a_file_that_is_no_baseline_is_usage_and_is_kept(content: bytes, why: str) -> None:
    path = Path("other.json")
    path.write_bytes(content)
    with pytest.raises(WorldError) as caught:
        baseline.read(path)
    assert caught.value.exit_code == 2
    assert why in caught.value.message
    with pytest.raises(WorldError) as refused:
        written(path, result("a.json", error()))
    assert refused.value.code == "TE601"
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("text", "has", "lacks"),
    [
        ("GT401", {"GT401"}, {"GT402", "GT701"}),
        ("gt4", {"GT401", "GT404"}, {"GT301"}),
        ("GT4xx, GT701", {"GT402", "GT701"}, {"GT702"}),
        ("GT1", {"GT101", "GT102"}, {"GT1101"}),
        ("GT11", {"GT1101"}, {"GT101"}),
    ],
)
def test_codes_and_families(text: str, has: set[str], lacks: set[str]) -> None:
    codes = selection.parse(text).codes
    assert has <= codes
    assert not lacks & codes
    assert {"GT001", "GT002"} <= codes


@pytest.mark.parametrize("text", ["", ",", "GT999", "401", "GT", "GT4,nonsense", "GT4\u0664"])
def test_what_names_no_check_is_refused(text: str) -> None:
    with pytest.raises(WorldError) as caught:
        selection.parse(text)
    assert caught.value.code == "TE101"
