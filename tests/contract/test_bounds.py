"""What passes a bound is cut and marked as the contract says, and nothing that was cut is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.contract import bounds
from tests.reference import payload as reference

NAMES = st.text("ab/~é", max_size=6)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    LEAVES | st.text("xyz é", max_size=9),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=14,
)
PAYLOADS = st.dictionaries(NAMES, VALUES, max_size=5)
SMALL = {"MAX_BYTES": 120, "MAX_TEXT": 6, "MAX_ITEMS": 3, "MAX_DEPTH": 4, "MAX_KEY": 4}


@pytest.fixture(scope="module", autouse=True)
def small_bounds() -> Iterator[None]:
    """Make the bounds small, so that drawn payloads pass them; both sides read them as they are called."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SMALL.items():
            patch.setattr(bounds, name, value)
            patch.setattr(reference, name, value)
        yield


def ordered(value: Any) -> Any:
    """Return a value with its keys sorted, since of too many the first are kept."""
    return json.loads(dumps(value))


def put_back(bounded: dict[str, Any], cuts: list[tuple[str, Any]]) -> Any:
    """Return the payload with each body put where its pointer leads."""
    whole: Any = [json.loads(dumps(bounded))]
    for pointer, body in cuts:
        at, *steps = [0, *(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])]
        place = whole
        for step in steps:
            place = place[at]
            at = int(step) if isinstance(place, list) else step
        place[at] = body
    return whole[0]


@given(PAYLOADS)
@example({"a": {"b": {"c": {}}}})
@example({"a": [[[1]]]})
@example({"aaaaab": 1, "aaaaac": 2})
@example({"abcdé": "xyzxyzx", "b": [1, 2, 3, 4]})
def test_a_payload_is_cut_as_geode_cuts_it(payload: dict[str, Any]) -> None:
    bounded, cuts = bounds.bound(payload)
    assert bounded == reference.bounded(ordered(payload))
    assert put_back(bounded, [(cut.pointer, cut.body) for cut in cuts]) == payload
    within, _ = bounds.examine(payload)
    fits = within and len(dumps(payload)) <= bounds.MAX_BYTES
    assert fits == (cuts == []) == (bounded == payload and not cuts)


@given(PAYLOADS)
def test_plain_floats_are_told_truly(payload: dict[str, Any]) -> None:
    _, plain = bounds.examine(payload)
    assert dumps(payload, plain=plain) == dumps(payload)


@given(PAYLOADS)
@example({"_blobs": "its own", "text": "xyzxyzxyz"})
def test_stored_bodies_are_listed_and_put_the_payload_back(payload: dict[str, Any]) -> None:
    encoded = bounds.stored(payload)
    if not bounds.bound(payload)[1]:
        assert encoded == dumps(payload)
        return
    again, bodies = bounds.cut(payload)
    assert again == encoded
    stored = json.loads(encoded)
    assert stored.pop("_blobs") == [
        {
            "pointer": pointer,
            "sha256": sha256_bytes(data),
            "bytes": len(data),
            "media_type": "application/json",
        }
        for pointer, data in bodies
    ]
    assert put_back(stored, [(pointer, json.loads(data)) for pointer, data in bodies]) == payload


def test_a_list_of_cuts_that_is_too_large_itself_is_one_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_BYTES", 400)
    few = {"a": "xyzxyzxyz"}
    assert [pointer for pointer, _ in bounds.cut(few)[1]] == ["/a"]
    many = dict.fromkeys("abc", "xyzxyzxyz")
    encoded, bodies = bounds.cut(many)
    assert bodies == [("", dumps(many))]
    assert (
        json.loads(encoded).items()
        >= {
            "_truncated": True,
            "original_bytes": len(dumps(many)),
            "keys": ["a", "b", "c"],
            "payload_hash": sha256_bytes(dumps(many)),
        }.items()
    )


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [("abc", 3, "abc"), ("abcd", 3, "abc…[truncated:1]"), ("", 0, ""), ("😀😀", 1, "😀…[truncated:1]")],
)
def test_cut_text(text: str, limit: int, cut: str) -> None:
    assert bounds.cut_text(text, limit) == cut
