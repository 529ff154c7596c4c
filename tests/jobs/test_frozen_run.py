"""Frozen runs against what they left behind: nothing is written, each fault is told by its own code."""

import copy
import hashlib
import json
from pathlib import Path

import pytest

from geode_traj.codec import schema
from geode_traj.jobs.frozen_run import is_broken, verify_run
from geode_traj.jobs.verify_files import exit_code, report
from geode_traj.verify.checks import run as run_checks
from geode_traj.verify.registry import all_checks

FIXTURES = Path(__file__).parents[2] / "fixtures" / "frozen-run"

START = "2026-09-01T10:00:00Z"


def event(ordinal, kind, session="s1", **payload):
    return {
        "event_id": f"{session}-{ordinal}", "ordinal": ordinal, "occurred_at": START, "kind": kind,
        "actor": "agent", "session_id": session, "turn_id": "", "call_id": "",
        "payload": {"status": "", **payload},
    }  # fmt: skip


def trajectory(*, ended="completed", calls=2, session="s1", source=None):
    events = [event(1, "session.started", session)]
    events += [event(2 + n, "usage.recorded", session, **USAGE) for n in range(calls)]
    if ended:
        events.append(event(2 + calls, "session.ended", session, status=ended))
    scope = [] if ended else ["session s1 has no terminal event"]
    count = len(events)
    return {
        "schema_id": "geode.trajectory@1", "schema_version": 1, "trajectory_id": "demo",
        "captured_at": START, "events": events, "outcome": {}, "privacy": {}, "provenance": {},
        "source": {"harness": "geode", "run": session, "session": session, **(source or {})},
        "integrity": {
            "record_count": count, "scope_complete": not scope, "replay_complete": not scope,
            "complete": not scope, "scope_incompleteness": scope, "replay_incompleteness": [],
            "incompleteness": scope,
            "quality": {
                "event_id_unique": True, "ordinal_contiguous": True, "payload_issue_events": 0,
                "replay_fidelity": "full",
                "correlation": {
                    "session_id_present": count, "turn_id_present": 0, "turn_id_required": 0,
                    "turn_id_missing": 0, "tool_call_id_present": 0, "event_count": count,
                },
                "tool_pairing": {
                    "calls": 0, "results": 0, "paired": 0, "orphan_calls": 0, "orphan_results": 0,
                    "missing_call_ids": 0,
                },
            },
        },
    }  # fmt: skip


USAGE = {"input_tokens": 10, "output_tokens": 2, "cache_read_tokens": 0, "cost_usd": 0.5}


def attempt(name, word, call=None, **usage):
    row = {"session_id": "s1", "attempt_id": name, "event": word, "occurred_at": START, "call_id": call}
    return {**row, "usage": usage} if usage else row


# Two calls, one of which needed a second attempt.
ATTEMPTS = [
    attempt("a1", "started", "c1"), attempt("a1", "finished", "c1", **USAGE),
    attempt("a2", "started", "c1"), attempt("a2", "finished", "c1", **USAGE),
    attempt("a3", "started", "c2"), attempt("a3", "finished", "c2", **USAGE),
]  # fmt: skip
RUN = {
    "schema_id": "geode-traj.run@1", "run_id": "run-1", "task_id": "demo/1",
    "source": {"name": "demo-agent", "revision": "abc"},
    "sessions": [{"session_id": "s1", "terminal": True, "calls": 2, "attempts": 3}],
    "totals": {"calls": 2, "attempts": 3, "input_tokens": 30, "reasoning_tokens": None, "cost_usd": 1.5},
    "mandatory": ["cache_read_tokens"],
}  # fmt: skip


class Case:
    """A run's folder: what its files hold, and what the run states of them."""

    def __init__(self):
        self.run = copy.deepcopy(RUN)
        self.trajectory = trajectory()
        self.lines = [json.dumps(row) for row in copy.deepcopy(ATTEMPTS)]
        self.observed = True
        self.after = {}

    def write(self, folder):
        texts = {
            "t.json": ("trajectory", json.dumps(self.trajectory)),
            "atif.json": ("atif", "{}"),
            "replay.json": ("replay", "[]"),
        }
        if self.observed:
            texts["calls.jsonl"] = ("observation", "\n".join(self.lines) + "\n")
        artifacts = []
        for name, (kind, text) in texts.items():
            (folder / name).write_text(text)
            digest = hashlib.sha256(text.encode()).hexdigest()
            artifacts.append({"path": name, "sha256": digest, "kind": kind})
        self.run.setdefault("artifacts", artifacts)
        for name, text in self.after.items():
            (folder / name).unlink() if text is None else (folder / name).write_text(text)
        path = folder / "run.json"
        path.write_text(json.dumps(self.run))
        return path


def lines(change):
    def made(case):
        change(case.lines)

    return made


def changed(index, **usage):
    def made(case):
        row = json.loads(case.lines[index])
        row["usage"].update(usage)
        case.lines[index] = json.dumps(row)

    return made


def stated(**words):
    return lambda case: case.run.update(words)


def totals(**words):
    return lambda case: case.run["totals"].update(words)


def session(**words):
    return lambda case: case.run["sessions"][0].update(words)


def held(**words):
    def made(case):
        case.trajectory = trajectory(**words)

    return made


def disk(name, text):
    return lambda case: case.after.update({name: text})


def unobserved(case):
    case.observed = False


CASES = [
    ([], set(), False),
    ([session(terminal="completed")], set(), False),
    ([stated(task_id=None)], set(), False),
    ([held(source={"run": "run-1", "task": "demo/1", "name": "demo-agent", "revision": "abc"})],
     set(), False),
    ([held(calls=3)], set(), False),  # a trajectory may record attempts
    ([held(calls=0)], set(), False),  # or no calls at all
    ([held(source={"run": "run-2"})], {"GT1201"}, False),
    ([held(source={"task": "demo/2"})], {"GT1202"}, False),
    ([held(source={"name": "other"})], {"GT1203"}, False),
    ([held(source={"harness": "other"})], {"GT1203"}, False),
    ([held(source={"revision": "abd"})], {"GT1203"}, False),
    ([held(session="s2")], {"GT1204", "GT1205"}, False),
    ([session(terminal=False)], {"GT1206"}, False),
    ([session(terminal="error")], {"GT1206"}, False),
    ([held(ended=""), session(terminal=False)], {"GT1209"}, False),
    ([held(ended="")], {"GT1206", "GT1209"}, False),
    ([disk("atif.json", "{ }")], {"GT1208"}, True),
    ([disk("replay.json", "{}")], {"GT1208"}, True),
    ([disk("replay.json", None)], {"GT1207"}, True),
    ([stated(artifacts=[{"path": "../t.json", "sha256": "0" * 64, "kind": "atif"}])],
     {"GT1204", "GT1207", "GT724", "GT725"}, True),
    ([session(calls=3)], {"GT725"}, False),
    ([session(attempts=2)], {"GT725"}, False),
    ([held(calls=4)], {"GT725"}, False),
    ([totals(input_tokens=29)], {"GT724"}, False),
    ([totals(input_tokens=None)], {"GT724"}, False),
    ([totals(reasoning_tokens=0)], {"GT724"}, False),  # unreported is no zero
    ([totals(calls=3)], {"GT724"}, False),
    ([totals(input_tokens={"total": 30, "observed_sum": 30, "seen": 3, "missing": 0})], set(), False),
    ([changed(3, input_tokens=None), totals(input_tokens={"total": None, "observed_sum": 20})], set(), False),
    ([changed(3, input_tokens=None), totals(input_tokens={"total": 20, "observed_sum": 20})],
     {"GT724"}, False),
    ([changed(3, input_tokens=None)], {"GT724"}, False),
    ([changed(1, cache_read_tokens=None)], {"GT721"}, False),  # a reported zero is a value
    ([lines(lambda rows: rows.append('{"session_id": "s'))], {"GT720"}, False),
    ([lines(lambda rows: rows.append('{"session_id":"s1","attempt_id":"a9","event":"paused"}'))],
     {"GT720"}, False),
    ([lines(lambda rows: rows.append("")), lines(lambda rows: rows.append("  "))], set(), False),
    ([lines(lambda rows: rows.append("not json")), changed(1, cache_read_tokens=None)],
     {"GT720", "GT721"}, False),
    ([lines(lambda rows: rows.append(json.dumps(attempt("a4", "started"))))], {"GT722"}, False),
    ([lines(lambda rows: rows.append(rows[-1]))], {"GT723"}, False),
    ([lines(lambda rows: rows.pop(0))], {"GT723"}, False),
    ([unobserved, totals(input_tokens=20, cost_usd=1)], set(), False),
    ([unobserved, totals(input_tokens=30, cost_usd=1)], {"GT724"}, False),
    ([unobserved, totals(input_tokens=20, cost_usd=1), stated(mandatory=["reasoning_tokens"])],
     {"GT721"}, False),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "codes", "broken"), CASES)
def test_each_fault_has_its_own_code(tmp_path, changes, codes, broken):
    case = Case()
    for change in changes:
        change(case)
    path = case.write(tmp_path)
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    result, *trajectories = verify_run(path)
    assert {found.code for found in result.findings} == codes
    assert (result.verdict == "valid") == (not codes)
    assert is_broken(report([result])[0]) == broken
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before
    assert all(found.schema_id == "geode.trajectory@1" for found in trajectories)


def test_the_result_fits_the_report_and_approves_nothing(tmp_path):
    result, *_ = verify_run(Case().write(tmp_path))
    row = result.to_json()
    assert schema.problems("geode-traj.verify-report@1", row, part="result") == []
    assert row["run"]["approves_next_run"] is False and row["run"]["changes_reward"] is False
    assert row["accounting"]["attempts"]["finished"] == 3
    assert result.events == 3


def test_trajectories_may_be_given_beside(tmp_path):
    case = Case()
    path = case.write(tmp_path)
    case.run["artifacts"] = [item for item in case.run["artifacts"] if item["kind"] != "trajectory"]
    path.write_text(json.dumps(case.run))
    [result] = verify_run(path)
    assert {found.code for found in result.findings} == {"GT1204"}
    [result] = verify_run(path, [tmp_path / "t.json", tmp_path / "t.json"])
    assert result.findings == ()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"run_id": 1}'])
def test_a_run_that_cannot_be_read(tmp_path, text):
    path = tmp_path / "run.json"
    path.write_text(text)
    [result] = verify_run(path)
    assert result.verdict == "unreadable"
    [result] = verify_run(tmp_path / "none.json")
    assert result.verdict == "unreadable"


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "outside.json").write_text("{}")
    folder = tmp_path / "run"
    folder.mkdir()
    case = Case()
    path = case.write(folder)
    (folder / "atif.json").unlink()
    (folder / "atif.json").symlink_to(tmp_path / "outside.json")
    result, *_ = verify_run(path)
    assert [found.code for found in result.findings] == ["GT1207"]


def test_many_faults_are_counted_and_messages_hold_no_text_of_the_files(tmp_path):
    case = Case()
    case.lines += ["secret-word"] * 150
    result, *_ = verify_run(case.write(tmp_path))
    assert [found.code for found in result.findings] == ["GT720"] * 101
    assert result.findings[-1].message == "50 more finding(s) of GT720 are not listed"
    assert not any("secret-word" in found.message for found in result.findings)


VECTORS = sorted(path.parent for path in FIXTURES.glob("*/expect.json"))


@pytest.mark.parametrize("folder", VECTORS, ids=lambda path: path.name)
def test_vector(folder):
    expect = json.loads((folder / "expect.json").read_text())
    failed, passed = verify_run(folder / "fail" / "run.json"), verify_run(folder / "pass" / "run.json")
    assert {found.code for found in failed[0].findings} == set(expect["codes"])
    assert failed[0].verdict == expect["verdict"]
    assert is_broken(report(failed)[0]) == (expect["exit"] == 10)
    assert [found.code for found in passed[0].findings] == [] and exit_code(report(passed)[0]) == 0


def test_every_code_of_a_run_has_a_vector():
    codes = {code for code, check in all_checks().items() if check.page in pages()}
    assert {folder.name.split("-")[0] for folder in VECTORS} == codes


def pages():
    return {(getattr(run_checks, name).__doc__ or "").strip() for name in dir(run_checks)}
