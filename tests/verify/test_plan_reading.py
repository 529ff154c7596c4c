"""Which values are plans, and why others are refused."""

import pytest

from geode_traj.contract.plan import INPUT, SCHEMA_ID, SUBAGENT, TOOL, is_plan, read
from geode_traj.errors import DataError


def plan(*operations, **more):
    return {"schema_id": SCHEMA_ID, "operations": list(operations), **more}


STEPS = [
    {"op": "reply", "needs": ["learner message"]},
    {"op": "reflect", "needs": ["reply"], "background": True, "condition": "every third turn"},
]


@pytest.mark.parametrize(
    ("value", "declared"),
    [
        (plan({"name": "reply"}), True),
        ({"schema_id": SCHEMA_ID}, True),
        (STEPS, True),
        ({"steps": STEPS}, True),
        ([{"step": "look", "status": "pending"}], False),
        ([{"op": "reply"}], False),
        ({"todos": []}, False),
        ([], False),
        ("reply, then translate", False),
        (None, False),
    ],
)
def test_a_list_of_things_to_do_is_no_plan(value, declared):
    assert is_plan(value) is declared


def test_steps_may_need_any_input():
    made = read(STEPS)
    reply, reflect = made.operations.values()
    assert (reply.needs, reply.conditional, reply.background) == ((), False, False)
    assert (reflect.needs, reflect.conditional, reflect.background) == (("reply",), True, True)


def test_kinds_and_needs():
    made = read(
        plan(
            {"name": "look_up", "kind": TOOL, "needs": [INPUT, "topic"]},
            {"name": "review", "kind": SUBAGENT, "needs": ["look_up"], "actor": "critic"},
            inputs=["topic"],
        )
    )
    assert made.kinds == {TOOL, SUBAGENT}
    review = made.operations[SUBAGENT, "review"]
    assert [need.name for need in made.needs(review)] == ["look_up"]
    assert review.number == 2 and review.actor == "critic"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (plan(), "has fewer than 1 item(s) at /operations"),
        (plan({"name": "a", "needs": ["secret-word"]}), "operation 1 needs what is neither"),
        (plan({"name": "a"}, {"name": "a"}), "operation 2 is declared twice"),
        (plan({"name": "a", "needs": ["b"]}, {"name": "b", "needs": ["a"]}), "waits for itself"),
        (plan({"name": "a", "needs": ["a"]}), "waits for itself"),
        (plan({"name": "a", "kind": "secret-word"}), "at /operations/0/kind"),
        (plan({"name": ""}), "at /operations/0/name"),
        (["secret-word"], "is not of type object"),
        ({"secret-word": 1}, "lacks the required key 'operations'"),
        (None, "is not of type object"),
    ],
)
def test_what_would_leave_an_edge_unjudged_is_refused(value, why):
    with pytest.raises(DataError) as caught:
        read(value)
    assert caught.value.code == "TE208"
    assert why in caught.value.message and "secret-word" not in caught.value.message


def test_a_long_chain_and_a_wide_plan_are_read():
    chain = [{"name": f"n{n}", "needs": [f"n{n - 1}"] if n else []} for n in range(10_000)]
    assert len(read(plan(*chain)).operations) == 10_000
