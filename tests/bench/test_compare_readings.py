from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bench import compare_readings
from tests.bench.page import written
from tests.bench.reasons import REASONS
from tests.support import cases

CURSOR = cases.FIXTURES.parent / "cursor" / "results" / "input"
USER = {"role": "user", "message": {"content": [{"type": "text", "text": "Do it."}]}}
CALL = {"type": "tool_use", "id": "c1", "name": "sh", "input": {"command": "ls"}}
CALLS = {"role": "assistant", "message": {"content": [{"type": "text", "text": "Now."}, CALL]}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "a.txt", "is_error": False}
ROWS = [USER, CALLS, {"role": "user", "message": {"content": [RESULT]}}]
RECORDS: list[dict[str, Any]] = [
    {"role": "meta", "source": "cursor"},
    {"role": "user", "content": "Do it.", "timestamp": "1970-01-01T00:00:00Z"},
    {"role": "assistant", "content": "Now.", "timestamp": "1970-01-01T00:00:00Z"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "name": "sh", "args": '{"command":"ls"}'}],
        "timestamp": "1970-01-01T00:00:00Z",
    },
    {
        "role": "tool",
        "tool_call_id": "c1",
        "content": "a.txt",
        "ok": True,
        "timestamp": "1970-01-01T00:00:00Z",
    },
]
MADE_UP = [{"code": "timestamps_synthesized", "count": 4}]


def folder(tmp_path: Path, records: list[dict[str, Any]], rows: list[Any] = ROWS) -> Path:
    case = tmp_path / "cursor" / "case"
    case.mkdir(parents=True)
    (case / "input.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (case / "expected.json").write_text(json.dumps({"records": records, "diagnostics": MADE_UP}))
    return tmp_path


def changed(number: int, **members: Any) -> list[dict[str, Any]]:
    records = json.loads(json.dumps(RECORDS))
    records[number] |= members
    return list(records)


@pytest.mark.parametrize(
    ("records", "kinds"),
    [
        (RECORDS, []),
        (changed(1, content="Do it.\n[image]"), ["text"]),
        (changed(1, content="Something else."), ["message-left-out", "missing"]),
        (RECORDS[:2] + RECORDS[3:], ["message-left-out"]),
        (changed(2, role="reasoning"), ["thought-or-text"]),
        (changed(3, tool_calls=[{"id": "c1", "name": "sh", "args": "{}"}]), ["arguments"]),
        (changed(3, tool_calls=[{"id": "c1", "name": "bash", "args": '{"command":"ls"}'}]), ["tool-name"]),
        (
            [
                *changed(4, tool_call_id="x")[:3],
                *changed(3, tool_calls=[{**CALL, "args": '{"command":"ls"}', "id": "x"}])[3:4],
                *changed(4, tool_call_id="x")[4:],
            ],
            ["call-id"],
        ),
        (changed(4, tool_call_id="nobody"), ["pairing"]),
        (changed(4, ok=False), ["failure"]),
        (changed(4, ok=None), ["failure"]),
        (changed(4, content="Error: a.txt"), ["text"]),
        (changed(4, content=""), ["text"]),
        (changed(2, timestamp="1970-01-01T00:00:15Z"), ["time-made-up"]),
        (
            [*RECORDS, {"role": "observation", "content": "x", "timestamp": "1970-01-01T00:00:00Z"}],
            ["observation-beside"],
        ),
        (changed(0, cwd="/x", git_branch="main", model="m"), ["directory", "git-branch", "model"]),
        ([RECORDS[0], RECORDS[2], RECORDS[1], *RECORDS[3:]], ["order"]),
    ],
)
def test_each_kind_of_difference_is_told(
    records: list[dict[str, Any]], kinds: list[str], tmp_path: Path
) -> None:
    (case,) = compare_readings.cases(folder(tmp_path, records))
    assert [one.kind for one in case.differences] == kinds


def test_what_agrees_is_counted(tmp_path: Path) -> None:
    (case,) = compare_readings.cases(folder(tmp_path, RECORDS))
    assert (case.same, case.ours.source, list(compare_readings.problems([case]))[:1]) == (
        4,
        "cursor",
        [f"no case shows {min(REASONS)} any more"],
    )


def test_a_difference_without_a_reason_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_readings, "REASONS", {"time-made-up": ("Times", "None are told.")})
    given = folder(tmp_path, changed(4, ok=False, timestamp="1970-01-01T00:00:15Z"))
    monkeypatch.setattr("sys.argv", ["compare-readings", str(given)])
    assert compare_readings.main() == 1
    told = capsys.readouterr()
    assert told.err == "cursor/case: no reason for failure: ours 'ok: True', theirs 'ok: False'\n"
    assert "### time-made-up" in told.out
    monkeypatch.setattr(
        compare_readings, "REASONS", {**compare_readings.REASONS, "failure": ("Flags", "So.")}
    )
    assert compare_readings.main() == 0
    monkeypatch.setattr(compare_readings, "REASONS", {**compare_readings.REASONS, "order": ("Order", "So.")})
    assert compare_readings.main() == 1


def test_a_case_that_nobody_reads_is_listed(tmp_path: Path) -> None:
    given = folder(tmp_path, RECORDS)
    other = given / "other" / "case"
    other.mkdir(parents=True)
    (other / "input.json").write_text('{"nothing": "known"}')
    (other / "expected.json").write_text(json.dumps({"records": RECORDS, "diagnostics": []}))
    one, two = compare_readings.cases(given)
    assert (one.ours.source, two.ours.source) == ("cursor", "")
    assert "Not read here: other/case." in written([one], [two.name], REASONS)


def test_the_page_holds_every_reason() -> None:
    page = compare_readings.PAGE.read_text("utf-8")
    assert [
        kind for kind, (title, why) in REASONS.items() if f"### {kind}\n\n**{title}.** {why}\n" not in page
    ] == []
