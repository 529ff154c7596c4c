"""Every case of every format through plan, apply, export and verify, against what `expect.json` claims."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geode_traj.codec.schema import is_valid
from geode_traj.verify import verify_bytes
from tests.migrate import pipeline
from tests.reference import geode
from tests.support import cases, secrets

CASES = cases.all_cases()
RESULTS = ("tool.completed",)


class Outcome:
    """A case made real, imported once, every session exported."""

    def __init__(self, folder: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.case = cases.render(folder, out)
        self.expect = cases.load_expect(self.case)
        self.store = out / "store" / "sessions.db"
        self.options = self.expect.get("migrate", {})
        monkeypatch.chdir(self.case)
        self.receipts = self.migrate()
        sessions = {row.session_id for row in pipeline.rows(self.store)} if self.store.exists() else set()
        self.exports = {session: pipeline.export(self.store, session) for session in sorted(sessions)}

    def migrate(self) -> list[dict[str, Any]]:
        paths = [Path(path) for path in self.options.get("paths", ["input"])]
        receipts = pipeline.migrate(self.store, *paths, session_id=self.options.get("session_id"))
        assert all(receipt.balanced for receipt in receipts)
        return [receipt.to_json() for receipt in receipts]


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_case(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = Outcome(folder, tmp_path, monkeypatch)
    check_receipts(outcome)
    check_stored_events_and_their_order(outcome)
    check_exports(outcome)
    check_both_verifiers_pass_every_export(outcome)
    check_no_secret_is_in_any_byte(outcome)
    if outcome.expect.get("again", True):
        check_a_second_run_changes_nothing(outcome)


def by_session(receipt: dict[str, Any]) -> dict[str, Any]:
    if "sessions" not in receipt:
        return receipt
    return {**receipt, "sessions": sorted(receipt["sessions"], key=lambda one: one["session_id"])}


def legacy(payload: dict[str, Any]) -> tuple[str | None, int | None]:
    told = payload.get("_legacy", {})
    return told.get("source_path"), told.get("line_number")


def check_receipts(outcome: Outcome) -> None:
    made = {receipt["source"]: by_session(receipt) for receipt in outcome.receipts}
    assert len(made) == len(outcome.receipts)
    for wanted in outcome.expect["receipts"]:
        assert cases.mismatches(by_session(wanted), made[wanted["source"]]) == []
    for receipt in outcome.receipts:
        assert is_valid("geode-traj.migrate-receipt@1", receipt), receipt
    failed = any(receipt["status"] == "failed" for receipt in outcome.receipts)
    damaged = any(receipt["records"]["damaged"] for receipt in outcome.receipts)
    if "exit_code" in outcome.expect:
        assert outcome.expect["exit_code"] == (3 if failed else 1 if damaged else 0)


def check_stored_events_and_their_order(outcome: Outcome) -> None:
    if not outcome.store.exists():
        assert "events" not in outcome.expect
        return
    stored = [
        {**row._asdict(), "payload": json.loads(row.payload_json)} for row in pipeline.rows(outcome.store)
    ]
    for wanted in outcome.expect.get("events", []):
        claims = {key: value for key, value in wanted.items() if key not in ("file", "line", "ordinal")}
        if "ordinal" in wanted:
            own = [row for row in stored if row["session_id"] == wanted["session_id"]]
            found = [own[wanted["ordinal"] - 1]]
        else:
            found = [row for row in stored if legacy(row["payload"])[1] == wanted["line"]]
            found = [
                row
                for row in found
                if legacy(row["payload"])[0] == wanted.get("file", legacy(row["payload"])[0])
            ]
        assert len(found) == 1, wanted
        assert cases.mismatches(claims, found[0]) == [], wanted
    for session, order in outcome.expect.get("order", {}).items():
        own = [legacy(row["payload"]) for row in stored if row["session_id"] == session]
        assert own == [tuple(place) for place in order]


def check_exports(outcome: Outcome) -> None:
    for session, wanted in outcome.expect.get("exports", {}).items():
        text = outcome.exports[session].decode()
        doc = json.loads(text)
        integrity = doc["integrity"]
        claims = {
            "scope_complete": integrity["scope_complete"],
            "replay_complete": integrity["replay_complete"],
            "scope_reasons": sorted(integrity["scope_incompleteness"]),
            "replay_reasons": sorted(integrity["replay_incompleteness"]),
        }
        for key in claims.keys() & wanted.keys():
            assert claims[key] == (sorted(wanted[key]) if key.endswith("reasons") else wanted[key]), key
        assert not [word for word in wanted.get("lacks", []) if word in text]
        check_correlation(wanted, {legacy(event["payload"])[1]: event for event in doc["events"]})


def check_correlation(wanted: dict[str, Any], at: dict[int | None, dict[str, Any]]) -> None:
    ids = [(at[call]["turn_id"], at[call]["call_id"]) for call, _ in wanted.get("pairs", [])]
    assert all(all(pair) for pair in ids)
    assert len(set(ids)) == len(ids)
    assert ids == [(at[result]["turn_id"], at[result]["call_id"]) for _, result in wanted.get("pairs", [])]
    marks = {line: event["payload"].get("_derived", {}) for line, event in at.items()}
    if "derived" in wanted:
        assert sorted(line for line in at if "call_id" in marks[line]) == wanted["derived"]
    assert all(marks[line].get("ambiguous") is True for line in wanted.get("ambiguous", []))
    turns = [{at[line]["turn_id"] for line in lines} for lines in wanted.get("turns", [])]
    assert all(len(turn) == 1 for turn in turns)
    assert len(set.union(*turns, set())) == len(turns)
    for event in wanted.get("events", []):
        claims = {key: value for key, value in event.items() if key not in ("file", "line", "content_chars")}
        assert cases.mismatches(claims, at[event["line"]]) == []
        if "content_chars" in event:
            assert len(at[event["line"]]["payload"]["content"]) == event["content_chars"]


def check_both_verifiers_pass_every_export(outcome: Outcome) -> None:
    for session, data in outcome.exports.items():
        doc = json.loads(data)
        assert geode.check_trajectory(doc) == []
        verified = verify_bytes(data)
        assert verified.verdict == ("valid" if doc["integrity"]["scope_complete"] else "incomplete")
        assert not [finding for finding in verified.findings if finding.severity == "error"]
        digest = pipeline.export(outcome.store, session, content="digest")
        assert geode.check_trajectory(json.loads(digest)) == []
        assert verify_bytes(digest).verdict == verified.verdict


def check_a_second_run_changes_nothing(outcome: Outcome) -> None:
    before = pipeline.dump(outcome.store) if outcome.store.exists() else None
    again = outcome.migrate()
    assert {receipt["status"] for receipt in again} <= {"unchanged", "skipped", "failed"}
    read = [receipt for receipt in outcome.receipts if receipt["status"] not in ("skipped", "failed")]
    done = {receipt["source"] for receipt in read}
    assert {receipt["source"] for receipt in again if receipt["status"] == "unchanged"} == done
    assert before == (pipeline.dump(outcome.store) if outcome.store.exists() else None)


def check_no_secret_is_in_any_byte(outcome: Outcome) -> None:
    if not outcome.store.exists():
        assert outcome.exports == {}
        return
    held = [pipeline.file_bytes(outcome.store), *outcome.exports.values()]
    texts = [*map(secrets.core, secrets.CREDENTIALS), *outcome.expect.get("never", [])]
    for text in texts:
        for line in text.splitlines():
            forms = {line.encode(), json.dumps(line)[1:-1].encode()}
            assert not any(form in data for form in forms for data in held), line[:8]
