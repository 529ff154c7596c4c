"""Canonical bytes are `json.dumps`, whoever writes them: every digest of the contract hangs on it."""

import json
import math
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geode_traj.codec.canonical import dumps

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
EDGES = [
    0.0001,
    1e16,
    1e-5,
    9.999999999999999e15,
    -0.0,
    5e-324,
    sys.float_info.max,
    1e22,
    123456789012345680.0,
]
FLOATS = (
    st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(EDGES)
    | st.builds(lambda m, e: m * 10.0**e, st.integers(-999, 999), st.integers(-8, 20))
)
INTEGERS = st.integers() | st.integers(2**63 - 2, 2**64 + 2) | st.integers(-(2**64) - 2, -(2**63) + 2)
VALUES = st.recursive(
    st.none() | st.booleans() | INTEGERS | FLOATS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def slow(value: object) -> bytes:
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


@given(VALUES)
@example({"a": {"b": [10**16, 1e16, {"c": 2**64}]}})
@example({"é": 1, "e": 2, "\U0001f600": 3, "\uffff": 4})
@example('\x00\x1f\x7f\x80\u2028\ufeff"\\/')
def test_equals_the_standard_library(value: object) -> None:
    assert dumps(value) == slow(value)


@given(FLOATS, INTEGERS)
def test_numbers_read_back_exactly(number: float, integer: int) -> None:
    for value in ([number], {"a": integer}, number, integer):
        back = json.loads(dumps(value))
        assert back == value
        assert type(back) is type(value)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_no_json_is_refused_at_any_depth(bad: float) -> None:
    for value in (bad, [bad], {"a": {"b": [1, bad]}}):
        with pytest.raises(ValueError, match="not JSON compliant"):
            dumps(value)


def test_a_lone_surrogate_is_refused_not_replaced() -> None:
    with pytest.raises(UnicodeEncodeError):
        dumps({"a": "\ud800"})


def test_nesting_beyond_the_fast_writer() -> None:
    value: object = 1
    for _ in range(400):
        value = [value]
    assert dumps(value) == slow(value)
