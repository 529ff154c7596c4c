"""Which payloads count as issues: the second GEODE walks all of them, the product only where a sign is."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geode_traj.codec.canonical import dumps
from geode_traj.contract.encoding import encode
from geode_traj.contract.issues import has_issue
from geode_traj.contract.kinds import ISSUE_KEYS, OUR_MARKERS
from tests.reference import quality

TEXTS = st.sampled_from(
    ["<REDACTED>", "[REDACTED]", "x [REDACTED]", "[REDACTED:email:1]", "…[truncated:5]", "[truncated:5]", "…"]
) | st.text(max_size=4)
KEYS = st.sampled_from(
    [*sorted(ISSUE_KEYS), *sorted(OUR_MARKERS), "<REDACTED>", "a…[truncated:1]", "_Truncated"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | TEXTS, inner, max_size=3),
    max_leaves=8,
).filter(lambda value: "\\ud" not in ascii(value))


@given(VALUES)
@example({"_truncated": False})
@example({"a": [[{"b": "text…[truncated:"}]]})
def test_both_find_the_same(value: Any) -> None:
    expected = quality.has_issue(value)
    assert has_issue(value) == expected
    assert has_issue(value, dumps(value)) == expected
    assert has_issue(value, encode(value)) == expected


@pytest.mark.parametrize("key", sorted(ISSUE_KEYS))
def test_a_key_counts_whatever_its_value(key: str) -> None:
    for value in (None, False, 0, "", [], {}):
        assert has_issue({"a": [{key: value}]}, dumps({"a": [{key: value}]}))


@pytest.mark.parametrize("key", sorted(OUR_MARKERS))
def test_markers_of_ours_do_not_count(key: str) -> None:
    assert not has_issue({key: True}, dumps({key: True}))
    assert not has_issue({"<REDACTED>": 1, "[REDACTED]": 1, "…[truncated:1]": 1})
