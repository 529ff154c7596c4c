"""What counts are, what totals may be stated, whose input includes what is cached."""

from decimal import Decimal

import pytest
from conduct_files import event, trajectory, usage
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.contract.accounting import MAX_SESSIONS, Accounting
from geode_traj.contract.attempts import Attempts
from geode_traj.contract.usage import (
    FIELDS,
    INCLUDED,
    PROMPT,
    SEPARATE,
    UNKNOWN,
    Count,
    disagreement,
    hit_rate,
    number,
    style,
)
from geode_traj.verify import verify_bytes


@pytest.mark.parametrize(
    ("value", "whole", "read"),
    [
        (0, True, 0),
        (7, True, 7),
        (7.0, True, 7),
        (7.5, True, None),
        (7.5, False, Decimal("7.5")),
        (-1, True, None),
        (-0.1, False, None),
        (True, True, None),
        ("7", True, None),
        (None, True, None),
        ([7], False, None),
        (1 << 63, True, None),
        (float("nan"), False, None),
        (float("inf"), False, None),
    ],
)
def test_number(value, whole, read):
    assert number(value, whole=whole) == read


@pytest.mark.parametrize(
    ("payload", "named"),
    [
        ({"provider": "openai"}, INCLUDED),
        ({"provider": "OpenAI-Responses"}, INCLUDED),
        ({"provider": "azure", "model": "claude-x"}, INCLUDED),
        ({"provider": "anthropic"}, SEPARATE),
        ({"provider": "bedrock", "model": "us.anthropic.claude-demo"}, SEPARATE),
        ({"provider": "", "model": "claude-demo"}, SEPARATE),
        ({"model": "gpt-demo"}, INCLUDED),
        ({"model": "o3"}, INCLUDED),
        ({"model": "ollama-demo"}, UNKNOWN),
        ({"provider": "openrouter", "model": "claude-demo"}, UNKNOWN),
        ({"provider": "anthropic", "input_includes_cached": True}, INCLUDED),
        ({"provider": "openai", "input_includes_cached": False}, SEPARATE),
        ({"provider": 7, "model": None}, UNKNOWN),
        ({}, UNKNOWN),
    ],
)
def test_style(payload, named):
    assert style(payload) == named


CALL = {"input_tokens": 100, "cache_read_tokens": 30, "cache_creation_tokens": 10}


@pytest.mark.parametrize(
    ("payload", "whole"),
    [
        ({"provider": "openai", **CALL}, 100),
        ({"provider": "anthropic", **CALL}, 140),
        ({"provider": "anthropic", **CALL, "cache_read_tokens": None}, None),
        ({"provider": "else", **CALL}, None),
    ],
)
def test_what_the_whole_prompt_took(payload, whole):
    made = Accounting()
    made.feed("s1", payload)
    assert made.all.counts[PROMPT].total == whole


@pytest.mark.parametrize(
    ("read", "created", "rate"),
    [(30, 10, 0.75), (0, 10, 0.0), (0, 0, None), (None, 10, None), (30, None, None), (1, 2, 0.333333)],
)
def test_hit_rate_is_of_what_passed_the_cache(read, created, rate):
    assert hit_rate(read, created) == rate


def counts(*values, partial=False):
    made = Count()
    for value in values:
        made.add(value, partial=partial)
    return made


@given(st.lists(st.one_of(st.none(), st.integers(0, 10**12))))
def test_a_total_needs_every_call_and_zero_is_a_value(values):
    told = counts(*values).to_json()
    seen = [value for value in values if value is not None]
    assert told["seen"] + told["missing"] == len(values)
    assert told["observed_sum"] == (sum(seen) if seen else None)
    assert told["total"] == (sum(seen) if seen and len(seen) == len(values) else None)


def test_a_sum_that_may_be_partial_is_no_total():
    assert counts(5, partial=True).to_json()["total"] is None
    assert counts(5, partial=True).to_json()["observed_sum"] == 5


@pytest.mark.parametrize(
    ("stated", "made", "wider", "why"),
    [
        (30, [counts(10, 20)], [], ""),
        (31, [counts(10, 20)], [], "differs"),
        (29, [counts(10, 20)], [], "below"),
        (0, [counts(10, 20)], [], "below"),
        (10, [counts(10), counts(10, 20)], [], ""),
        (15, [counts(10), counts(10, 20)], [], "differs"),
        (30, [counts(10, None)], [], "unreported"),
        (9, [counts(10, None)], [], "below"),
        (0, [counts(None)], [], "unreported"),
        (45, [counts(10, 20)], [counts(25, 20)], ""),
        (45, [counts(10, 20)], [counts(25, None)], ""),
        (25, [counts(10, 20)], [counts(25, None)], "below"),
        (Decimal("0.1234"), [counts(Decimal("0.12344"))], [], ""),
        (Decimal("0.12"), [counts(Decimal("0.1234"))], [], "below"),
        (Decimal("0.1235"), [counts(Decimal("0.1234"))], [], "differs"),
        (0, [counts(Decimal("0.4"))], [], "below"),
        (0, [counts(Decimal("0.00004"))], [], ""),
    ],
)
def test_stated_totals(stated, made, wider, why):
    assert disagreement(stated, made, wider) == why


def test_attempts_are_joined_by_session_and_attempt():
    made = Attempts()
    fed = [
        made.feed(*row, place)
        for place, row in enumerate(
            [
                ("s1", "a", "started"),
                ("s2", "a", "started"),
                ("s1", "a", "finished"),
                ("s1", "a", "finished"),
                ("s2", "a", "started"),
                ("s3", "a", "finished"),
                ("s1", "a", "started"),
                ("s", "1a", "finished"),
            ]
        )
    ]
    assert fed == ["", "", "", "repeated", "repeated", "unstarted", "repeated", "unstarted"]
    assert list(made.open.values()) == [1]
    assert made.to_json() == {
        "started": 2, "finished": 3, "unfinished": 1, "unstarted": 2, "repeated": 3,
    }  # fmt: skip


def accounting(*events, **more):
    return verify_bytes(trajectory(list(events), **more)).accounting


def test_the_block_keeps_unreported_apart_from_zero():
    told = accounting(usage(1, input_tokens=0, output_tokens=None), usage(2, input_tokens=5, output_tokens=7))
    assert told["scope"] == "recorded-runtime-llm-attempts-only"
    assert told["whole_runtime_complete"] is False
    assert told["calls"] == 2
    totals = told["totals"]
    assert totals["input_tokens"] == {
        "total": 5, "observed_sum": 5, "seen": 2, "missing": 0, "damaged": 0,
    }  # fmt: skip
    assert totals["output_tokens"]["total"] is None and totals["output_tokens"]["observed_sum"] == 7
    assert totals["cost_usd"] == {
        "total": None, "observed_sum": None, "seen": 0, "missing": 2, "damaged": 0,
    }  # fmt: skip


def test_default_zeros_prove_nothing_and_other_values_stay():
    told = accounting(usage(1, cache_read_tokens=0, input_tokens=3, reported_default=["cache_read_tokens"]))
    assert told["totals"]["cache_read_tokens"]["observed_sum"] is None
    assert told["totals"]["input_tokens"]["total"] == 3


def test_copied_context_is_not_paid_for_again():
    told = accounting(usage(1, input_tokens=3), usage(2, input_tokens=3, copied_context=True))
    assert told["calls"] == 1 and told["totals"]["input_tokens"]["total"] == 3


def test_costs_are_exact_and_estimates_are_told_from_bills():
    told = accounting(
        usage(1, cost_usd=0.1, cost_basis="billed"),
        usage(2, cost_usd=0.2, cost_basis="list_price"),
        usage(3, cost_usd=0.7),
    )
    assert told["totals"]["cost_usd"]["total"] == 1
    assert {basis: row["observed_sum"] for basis, row in told["cost_basis"].items()} == {
        "billed": 0.1, "list_price": 0.2, "unstated": 0.7,
    }  # fmt: skip


def test_providers_that_are_no_plain_words_stay_out_of_the_report():
    told = accounting(usage(1, provider="demo/one"), usage(2, provider="<b>\u202ehello there"), usage(3))
    assert [row["provider"] for row in told["cache"]] == ["demo/one", "other", "unstated"]


def test_totals_speak_of_a_generation_or_of_all():
    again = event("session.ended", 3, {"status": "completed", "prompt_tokens": 12, "session_generation": 2})
    second = usage(2, input_tokens=5, session_generation=2)
    found = verify_bytes(trajectory([usage(1, input_tokens=7), second, again], end={"prompt_tokens": 7}))
    assert [one.code for one in found.findings] == []


def test_a_session_without_calls_has_nothing_to_compare():
    assert verify_bytes(trajectory([], end={"prompt_tokens": 7})).findings == ()


def test_many_sessions_take_bounded_memory():
    made = Accounting()
    for number_ in range(MAX_SESSIONS + 10):
        made.feed(f"s{number_}", {"input_tokens": 1})
    assert made.sessions_left_out == 10
    assert made.all.counts["input_tokens"].total == MAX_SESSIONS + 10
    assert len(made._sessions) == len(made._generations) == MAX_SESSIONS


@given(st.dictionaries(st.sampled_from([*FIELDS, "observed_sum", "reported_default", "provider", "model",
                                        "cost_basis", "purpose", "session_generation", "cache_hit_rate"]),
                       st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
                                    st.lists, max_leaves=3)))  # fmt: skip
def test_any_payload_is_counted(payload):
    made = Accounting()
    made.feed("s1", payload)
    assert made.to_json()["calls"] == 1
    for key in FIELDS:
        row = made.all.counts[key]
        assert row.seen + row.missing == 1 and row.damaged <= row.missing
