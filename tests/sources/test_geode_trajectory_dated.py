"""Dated trajectories: every case imported, and the same files verified, never changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geode_traj.codec.framed import frame, join
from geode_traj.contract.dated import is_dated, normalise
from geode_traj.verify import verify_bytes, verify_path
from tests.migrate import pipeline
from tests.reference import geode
from tests.support import cases

FIXTURES = cases.FIXTURES.parent / "geode-trajectory-dated"


def published(case: str) -> Path:
    return FIXTURES / case / "input" / "published.json"


@pytest.mark.parametrize("case", ["whole", "least"])
def test_a_dated_file_is_verified_as_it_reads_normalised(case: str) -> None:
    before = published(case).read_bytes()
    verified = verify_path(published(case))
    assert (verified.verdict, verified.scope_complete, verified.replay_complete) == (
        ("valid", True, False) if case == "whole" else ("incomplete", False, False)
    )
    codes = {finding.code: finding.severity for finding in verified.findings}
    assert codes["GT205"] == "note"
    assert "GT103" not in codes
    assert is_dated(verified.schema_id)
    assert published(case).read_bytes() == before
    assert geode.check_trajectory(normalise(json.loads(before))) == []


def test_a_dated_file_that_is_line_framed_gives_the_same() -> None:
    given = json.loads(published("whole").read_bytes())
    events = [json.dumps(event).encode() for event in given["events"]]
    opening, closing = frame({key: value for key, value in given.items() if key != "events"})
    framed = verify_bytes(opening + b"".join(join(events)) + closing)
    whole = verify_path(published("whole"))
    assert framed.replay_reasons == whole.replay_reasons
    assert framed.quality == whole.quality
    assert {finding.code for finding in framed.findings} == {finding.code for finding in whole.findings}


def test_faults_of_a_dated_file_are_found() -> None:
    verified = verify_path(published("odd-events_fail"))
    assert verified.verdict == "invalid"
    assert {"GT102", "GT201", "GT205"} <= {finding.code for finding in verified.findings}


def test_a_schema_only_named_inside_a_payload_is_none() -> None:
    event = {"event_id": "e", "ordinal": 1, "payload": {"schema_id": "geode.trajectory@2026-03-01"}}
    verified = verify_bytes(json.dumps({"schema_id": "other@1", "events": [event]}).encode())
    assert {finding.code for finding in verified.findings} >= {"GT103"}
    assert "GT205" not in {finding.code for finding in verified.findings}


def test_what_was_imported_comes_back_as_it_was_read(tmp_path: Path) -> None:
    pipeline.migrate(tmp_path / "s.db", published("whole"))
    made = normalise(json.loads(published("whole").read_bytes()))
    exported = pipeline.document(tmp_path / "s.db", "pub")
    for key in ("source", "outcome", "evidence_refs", "runtime_event_refs"):
        assert exported[key] == made[key]
    identity = ("event_id", "ordinal", "occurred_at", "kind", "actor", "session_id", "turn_id", "call_id")
    assert [[event[key] for key in identity] for event in exported["events"]] == [
        [event[key] for key in identity] for event in made["events"]
    ]
