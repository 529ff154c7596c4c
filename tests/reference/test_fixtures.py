"""The legacy cases claim what can be true: figures balance, places fit, the second GEODE agrees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.reference import geode
from tests.support import cases, secrets

CASES = cases.legacy_cases()
REASONS = {"not_json", "not_object", "torn_tail", "nul_block", "too_deep", "line_too_long"}
KEYS = {
    "description",
    "outcome",
    "migrate",
    "exit_code",
    "receipts",
    "events",
    "order",
    "exports",
    "never",
}
EXPORT_KEYS = {
    "scope_complete",
    "replay_complete",
    "scope_reasons",
    "replay_reasons",
    "pairs",
    "derived",
    "ambiguous",
    "turns",
    "events",
    "lacks",
}
COLUMNS = ("kind", "role", "turn_id", "call_id", "status", "model", "provider", "source")
# Where a lone CR or a byte order mark stands, GEODE sees other lines.
OTHER_LINES = {"lone-cr_fail", "bom-crlf"}


@pytest.fixture(params=CASES, ids=[path.name for path in CASES])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return cases.render(request.param, tmp_path)


def physical_lines(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    return lines if lines[-1] else lines[:-1]


def test_keys_are_documented(case: Path) -> None:
    expect = cases.load_expect(case)
    assert expect.keys() <= KEYS
    assert all(export.keys() <= EXPORT_KEYS for export in expect.get("exports", {}).values())
    assert "{{" not in json.dumps(expect)


def test_figures_balance(case: Path) -> None:
    for receipt in cases.load_expect(case)["receipts"]:
        records = receipt.get("records")
        if records is None:
            continue
        assert records["total"] == len(physical_lines((case / receipt["source"]).read_bytes()))
        if "converted" in records:
            assert records["total"] == sum(records.values()) - records["total"]
            assert records["damaged"] == len(receipt["damaged"])
            stored = sum(session["events"] for session in receipt["sessions"])
            assert stored == records["converted"] + records["kept_raw"]


def test_damaged_places_fit_the_bytes(case: Path) -> None:
    for receipt in cases.load_expect(case)["receipts"]:
        for damaged in receipt.get("damaged", []):
            data = (case / receipt["source"]).read_bytes()
            line = physical_lines(data)[damaged["line"] - 1].removesuffix(b"\r")
            assert data[damaged["offset"] :][: damaged["length"]] == line
            assert damaged["offset"] == 0 or data[damaged["offset"] - 1] == ord("\n")
            assert damaged.get("reason") in REASONS | {None}


def test_exit_code_goes_with_the_outcome(case: Path) -> None:
    expect = cases.load_expect(case)
    damaged = any(receipt.get("damaged") for receipt in expect["receipts"])
    if "exit_code" in expect:
        assert expect["exit_code"] == {"ok": 0, "incomplete": 1, "unreadable": 3}[expect["outcome"]]
        assert damaged == (expect["outcome"] == "incomplete")
    assert case.name.endswith("_fail") == bool(expect.get("exit_code"))


def test_the_second_geode_reads_the_same_columns(case: Path) -> None:
    expect = cases.load_expect(case)
    if case.name in OTHER_LINES:
        pytest.skip("GEODE sees other lines")
    for receipt in expect["receipts"]:
        rows = geode.import_legacy(case / receipt["source"])
        if "converted" in receipt.get("records", {}):
            assert len(rows) == receipt["records"]["converted"] + receipt["records"]["kept_raw"]
        by_line = {json.loads(row["payload_json"]).get("_legacy", {}).get("line_number"): row for row in rows}
        for event in expect.get("events", []):
            if "line" not in event or event.get("file", receipt["source"]) != receipt["source"]:
                continue
            row = by_line[event["line"]]
            wanted = {key: event[key] for key in COLUMNS if key in event}
            assert cases.mismatches(wanted, row) == []
            own_time = "_derived" not in event.get("payload", {}) or "$absent" in str(event["payload"])
            if "occurred_at" in event and own_time and case.name != "bad-times":
                assert row["occurred_at"] in (
                    event["occurred_at"],
                    (case / receipt["source"]).stat().st_mtime,
                )


def test_no_secret_is_stored_in_the_fixtures() -> None:
    for folder in CASES:
        for path in sorted(item for item in folder.rglob("*") if item.is_file()):
            hits = geode.gate_hits(path.read_text("utf-8"))
            assert not any(hits.values()), (path, hits)


@pytest.mark.parametrize("kind", secrets.CREDENTIALS + secrets.PERSONAL)
def test_secrets_are_the_same_each_time(kind: str) -> None:
    assert secrets.make(kind) == secrets.make(kind)
    assert secrets.core(kind) in secrets.make(kind)


def test_github_tokens_carry_their_checksum() -> None:
    import zlib

    token = secrets.make("github_token")
    alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    checksum = 0
    for digit in token[-6:]:
        checksum = checksum * 62 + alphabet.index(digit)
    assert checksum == zlib.crc32(token[4:-6].encode())


def test_build_writes_bytes_that_text_cannot_hold(tmp_path: Path) -> None:
    source = tmp_path / "case"
    source.mkdir()
    build = {
        "input/a.jsonl": [
            {"hex": "efbbbf"},
            {"of": ["ä{{secret:email}}", {"hex": "00", "times": 2}], "times": 2},
        ]
    }
    (source / "build.json").write_text(json.dumps(build), "utf-8")
    made = cases.render(source, tmp_path / "out")
    part = "ä".encode() + secrets.make("email").encode() + b"\0\0"
    assert (made / "input/a.jsonl").read_bytes() == b"\xef\xbb\xbf" + part * 2
    assert not (made / "build.json").exists()


@pytest.mark.parametrize(
    ("expected", "actual", "count"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, 0),
        ({"a": 1}, {"a": True}, 1),
        ({"a": {"$absent": True}}, {"a": 1}, 1),
        ({"a": {"$absent": True}}, {}, 0),
        ({"a": {"$any": True}}, {}, 1),
        ([1, {"$in": [2, 3]}], [1, 3], 0),
        ([1], [1, 2], 1),
        ({"$set": [1, 2]}, [2, 1], 0),
        ({"$contains": "x"}, {"x": 1}, 0),
        ({"$lacks": "x"}, "axb", 1),
        ({"$length": 2}, [1], 1),
        ({"$regex": "^a+$"}, "aaa", 0),
    ],
)
def test_mismatches(expected: object, actual: object, count: int) -> None:
    assert len(cases.mismatches(expected, actual)) == count
