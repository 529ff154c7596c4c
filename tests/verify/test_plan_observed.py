"""What ran against what was declared: every pair, in linear time."""

import pytest
from conduct_files import event, operation, trajectory
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.contract.observed import FEW_RUNS, MAX_RUNS, TOLERANCE, Observed, Run
from geode_traj.contract.plan import SCHEMA_ID, read
from geode_traj.verify import verify_bytes
from geode_traj.verify.conduct import Conduct

PLAN = {
    "schema_id": SCHEMA_ID,
    "operations": [
        {"name": "reply", "needs": ["input"]},
        {"name": "translate", "needs": ["reply"]},
        {"name": "suggest", "needs": ["reply"], "conditional": True},
        {"name": "reflect", "needs": ["reply"], "background": True, "conditional": True},
    ],
}


def verified(*events, plan=PLAN, named=True, **head):
    return verify_bytes(trajectory(list(events), **head), plan=read(plan, named=named))


def told(result, family="GT11"):
    return [(one.code, one.message) for one in result.findings if one.code.startswith(family)]


def codes(*events, **more):
    return [code for code, _ in told(verified(*events, **more))]


REPLY = operation("reply", 1, 1)
GOOD = [REPLY, operation("translate", 2.1)]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        (GOOD, []),
        ([*GOOD, operation("story", 9)], ["GT1101"]),
        ([*GOOD, operation("story", 9), operation("story", 10), operation("hear", 11)], ["GT1101"] * 2),
        ([REPLY], ["GT1102"]),
        ([], ["GT1102"] * 2),
        ([REPLY, operation("translate", 1.951)], []),  # 49 ms are within the tolerance
        ([REPLY, operation("translate", 1.949)], ["GT1103"]),
        ([*GOOD, operation("suggest", 1.5)], ["GT1103"]),  # conditional says whether, not when
        ([*GOOD, operation("reflect", 1.5, 9)], []),  # in the background it may overlap
        ([*GOOD, operation("translate", 1.5)], ["GT1103"]),  # the second run, not the first
        ([*GOOD, operation("reply", 2.05, 3)], ["GT1103"]),  # a retry that was still running
        ([operation("translate", 1), operation("reply", 5)], ["GT1103"]),  # before it even began
        ([*GOOD, operation("reply", 8)], ["GT1104"]),  # the first reply was there in time
        ([*GOOD, operation("reply", 8, turn_id="t2"), operation("translate", 9, turn_id="t2")], []),
        ([*GOOD, operation("reply", 8, turn_id="t2"), operation("translate", 8, turn_id="t2")], ["GT1103"]),
        ([REPLY, operation("translate", 1.5, payload={"standalone": True})], []),
        ([REPLY, operation("translate", 1.5, payload={"_derived": {"occurred_at": "x"}})], []),
        ([operation("reply", 1, None), operation("translate", 1.5)], []),  # no end: not judged
        ([*GOOD, event("error.recorded", 1, {"operation": "translate"})], []),  # tells of a run, is none
        ([*GOOD, event("error.recorded", 1, {"operation": "translate", "duration_ms": 9})], ["GT1103"]),
        ([*GOOD, operation("story", 9, payload={"copied_context": True})], []),
        ([*GOOD, operation("plan", 9, payload={"plan": [{"step": "look"}]})], []),
        ([*GOOD, event("tool.called", 9, {"tool": "ls"}, call_id="c"),
          event("tool.completed", 9, {"tool": "ls"}, call_id="c")], []),  # the plan says nothing of tools
    ],
)  # fmt: skip
def test_drift(events, expected):
    assert codes(*events) == expected


def test_a_contradiction_tells_its_times_and_both_places():
    result = verified(REPLY, operation("translate", 1.5))
    [(code, message)] = told(result)
    assert code == "GT1103"
    assert message == (
        "translate starts at 2026-09-01T10:00:01.500000Z, 500 ms before reply ends at 2026-09-01T10:00:02Z"
    )
    [found] = result.findings
    assert (found.place.ordinal, found.place.line, found.place.pointer) == (3, 4, "/events/2")
    assert [place.ordinal for place in found.related] == [2]


def test_a_plan_out_of_the_file_lends_no_words_to_messages():
    source = {"harness": "geode", "run": "s1", "session": "s1", "parents": None, "plan": PLAN}
    result = verify_bytes(trajectory([REPLY, operation("suggest", 1.5)], source=source))
    assert [code for code, _ in told(result)] == ["GT1102", "GT1103"]
    assert not any(name in message for _, message in told(result) for name in ("reply", "suggest"))
    assert result.findings[0].place.pointer == "/source/plan/operations/1"


def test_drift_makes_no_file_invalid():
    result = verified(*GOOD, operation("story", 9))
    assert result.verdict == "valid"
    assert [found.severity for found in result.findings] == ["error"]
    assert result.reconciliation["consistent"] is False


def test_the_block_says_what_it_cannot_see():
    block = verified(REPLY, operation("translate", 2), operation("translate", 1.5)).reconciliation
    assert block["pairs"] == {"judged": 2, "contradicted": 1, "rerun": 0, "unjudged": 0}
    assert block["runs"] == 3 and block["plans"] == 1 and len(block["not_covered"]) == 4
    assert verify_bytes(trajectory(GOOD)).reconciliation is None


def test_a_plan_among_the_events_is_its_sessions():
    declares = operation("reply", 1, 1, payload={"plan": [{"op": "reply", "needs": []}]})
    other = operation("story", 5, session_id="s2")
    result = verify_bytes(trajectory([declares, operation("translate", 3), other]))
    assert [code for code, _ in told(result)] == ["GT1101"]


def test_tools_and_sub_agents_have_their_own_ends():
    plan = {
        "schema_id": SCHEMA_ID,
        "operations": [
            {"name": "fetch", "kind": "tool"},
            {"name": "review", "kind": "subagent", "needs": ["fetch"]},
        ],
    }

    def events(starts):
        return [
            event("tool.called", 1, {"tool": "fetch"}, call_id="c1"),
            event("tool.completed", 4, {"tool": "fetch"}, call_id="c1"),
            event("subagent.started", starts, {"task_type": "review"}, call_id="r1"),
            event("subagent.stopped", 9, {"status": "ok"}, call_id="r1"),
        ]

    assert codes(*events(4.5), plan=plan) == []
    assert codes(*events(3), plan=plan) == ["GT1103"]


def test_actors():
    plan = {"schema_id": SCHEMA_ID, "operations": [{"name": "reply", "actor": "chat"}]}
    chat, runner = {"actor": {"type": "agent", "id": "chat"}}, {"actor": {"type": "runner"}}
    assert codes(operation("reply", 1, payload=chat), plan=plan) == []
    assert codes(operation("reply", 1), plan=plan) == []  # nobody says who
    assert codes(operation("reply", 1, payload=runner), plan=plan) == ["GT1105"]
    hidden = {"_legacy": {"event": "run", "fields": runner}}
    assert codes(operation("reply", 1, payload=hidden), plan=plan) == ["GT1105"]


MOMENTS = st.integers(0, 12).map(lambda n: n / 10)
RUNS = st.lists(st.tuples(MOMENTS, MOMENTS), max_size=6)


@given(needs=RUNS, starts=st.lists(MOMENTS, max_size=6))
def test_sorting_judges_as_every_pair_would(needs, starts):
    observed = Observed()
    for start, took in needs:
        observed.ran("s", "t", ("operation", "reply"), Run(start, start + took, 1, 1), frozenset())
    for start in starts:
        observed.ran("s", "t", ("operation", "translate"), Run(start, start, 1, 1), frozenset())
    drift = observed.drift(read(PLAN), ["s"])
    contradicted = rerun = 0
    for start in starts:
        late = [(begun, begun + took) for begun, took in needs if begun + took > start + TOLERANCE]
        later = [pair for pair in late if pair[0] > start + TOLERANCE]
        had = len(late) < len(needs)
        rerun += len(later) if had else 0
        contradicted += len(late) - (len(later) if had else 0)
    pairs = len(needs) * len(starts)
    assert (drift.pairs["contradicted"], drift.pairs["rerun"]) == (contradicted, rerun)
    assert drift.pairs["judged"] == pairs and drift.pairs["unjudged"] == 0


def test_many_runs_take_bounded_time_and_memory():
    observed = Observed()
    for n in range(MAX_RUNS // 2):
        observed.ran("s", "t", ("operation", "reply"), Run(n, n + 5, n, n), frozenset())
        observed.ran("s", "t", ("operation", "translate"), Run(n, n, n, n), frozenset())
    observed.ran("s", "t", ("operation", "late"), Run(1, 1, 1, 1), frozenset())
    drift = observed.drift(read(PLAN), ["s"])
    assert drift.pairs["judged"] == (MAX_RUNS // 2) ** 2  # in less than a second
    assert observed.left_out == 1 and len(drift.contradicted) <= 1_000


def test_without_a_known_plan_few_runs_are_kept_and_none_is_called_missing():
    conduct = Conduct()
    for n in range(FEW_RUNS + 3):
        conduct.observed.ran("s", "t", ("tool", "ls"), Run(n, n, n, n), frozenset())
    [(_, drift)] = conduct.drifts({"source": {"plan": PLAN}})
    assert (conduct.observed.runs, conduct.observed.left_out, drift.unobserved) == (FEW_RUNS, 3, [])
