"""Event ids are UUIDs by name, columns fill their bounds exactly."""

import hashlib
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.codec import schema
from geode_traj.contract import ids
from tests.reference import payload

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXT)
def test_the_fast_uuid_is_the_standard_one(name: str) -> None:
    assert ids.uuid5_url(name) == str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def test_names_of_ids() -> None:
    digest = "0" * 64
    assert ids.legacy_event_id("s", 7, digest) == ids.uuid5_url(f"geode:legacy-transcript:s:7:{digest}")
    assert ids.foreign_event_id("f", "s", "k", 2, digest) == ids.uuid5_url(f"geode-traj:f:s:k:2:{digest}")
    assert ids.legacy_event_id("demo", 1, hashlib.sha256(b"{}").hexdigest()) == (
        "90970679-9f7b-52fb-8088-2dc607713f72"
    )


@given(TEXT, st.sampled_from([32, 64, 128, 256]))
def test_what_is_too_long_fills_its_bound(text: str, bound: int) -> None:
    text *= 20
    fitted = ids.fit(text, bound)
    assert len(fitted) == min(len(text), bound)
    if len(text) > bound:
        assert fitted[:-17] == text[: bound - 17]
        assert fitted[-17:] == ":" + hashlib.sha256(text.encode()).hexdigest()[:16]
    else:
        assert fitted == text


@pytest.mark.parametrize(("name", "bound"), [*ids.COLUMN_BOUNDS.items(), ("session_id", ids.MAX_SESSION_ID)])
def test_the_schema_and_the_second_geode_have_the_same_bounds(name: str, bound: int) -> None:
    properties = schema.load("geode.session-event@1")["properties"]
    assert properties[name]["maxLength"] == bound
    assert payload.COLUMNS.get(name, bound) == bound
    for text in ("x" * bound, "x" * (bound + 1)):
        if name in payload.COLUMNS:
            assert payload.column(name, text) == ids.fit(text, bound)


def test_other_bounds() -> None:
    properties = schema.load("geode.session-event@1")["properties"]
    assert properties["event_id"]["maxLength"] == ids.MAX_EVENT_ID
    assert properties["source"]["maxLength"] == ids.MAX_SOURCE
