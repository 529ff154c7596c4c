"""From a row to its event and back: GEODE's overlay, and nothing lost under it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.contract.derive import Derived
from geode_traj.contract.exported import digest_payload, event, stored_payload
from geode_traj.contract.kinds import KINDS, OUR_MARKERS, OVERLAID
from geode_traj.model.event import Row
from tests.reference import export as reference

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
NAMES = st.sampled_from([*OVERLAID, "tool", "references", "duration_s", "content", "error_type"])
MARKERS = st.sampled_from([*sorted(OUR_MARKERS)])
LEAVES = (
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(allow_nan=False, allow_infinity=False) | TEXT
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES | MARKERS | TEXT, inner, max_size=2),
)
PLAIN = st.dictionaries(NAMES | TEXT.filter(lambda text: text not in OUR_MARKERS), VALUES, max_size=6)
ANY = st.dictionaries(NAMES | MARKERS | TEXT, VALUES, max_size=6)
ROWS = st.builds(
    lambda kind, role, status, model, parent, generation: Row(
        1, "e", 5.25, "s", generation, "", "c", parent, kind, role, status, model, "p", "", "", "runtime"
    ),
    st.sampled_from([*sorted(KINDS), "tool_call"]),
    st.sampled_from(["", "user"]),
    st.sampled_from(["", "ok"]),
    TEXT,
    st.none() | TEXT,
    st.integers(1, 2),
)
BLANK = Row(1, "e", 0.0, "s", 1, "", "", None, "k", "", "", "", "", "", "", "x")
MARKS = st.sampled_from([{}, {"turn_id": "user_message_span"}, {"call_id": "call_order", "ambiguous": True}])


def stored(row: Row, payload: dict[str, Any]) -> Row:
    data = dumps(payload)
    return row._replace(payload_json=data.decode(), payload_hash=sha256_bytes(data))


def as_read(row: Row) -> dict[str, Any]:
    return {**row._asdict(), "payload": json.loads(row.payload_json)}


@given(ROWS, PLAIN)
def test_without_anything_of_ours_it_is_geode_s_event(row: Row, payload: dict[str, Any]) -> None:
    row = stored(row, payload)
    ours = event(row, json.loads(row.payload_json), Derived("t", "c"), 3)
    displaced = ours["payload"].pop("_displaced", {})
    theirs = reference.event_of(as_read(row._replace(turn_id="t")), 3)
    assert ours == theirs
    lost = {key: value for key, value in payload.items() if dumps(theirs["payload"][key]) != dumps(value)}
    assert dumps(displaced) == dumps(lost)


@given(ROWS, PLAIN)
def test_digests_are_geode_s(row: Row, payload: dict[str, Any]) -> None:
    row = stored(row, payload)
    exported = event(row, json.loads(row.payload_json), Derived("t", "c"), 1)["payload"]
    theirs = reference.digest_payload(row.kind, reference.event_of(as_read(row), 1)["payload"])
    ours = digest_payload(row.kind, exported)
    if (
        "_displaced" in exported and "_content_omitted" not in theirs
    ):  # content that GEODE loses without a word
        assert ours["_content_omitted"] == []
        theirs = {**theirs, **{key: ours[key] for key in ours if key.startswith(("_content", "_omitted"))}}
    assert ours == theirs


@given(ROWS, ANY, MARKS, st.none() | TEXT, st.booleans())
@example(
    Row(1, "e", 0.0, "s", 1, "", "", None, "k", "", "", "", "", "", "", "x"),
    {"_derived": {}},
    {},
    None,
    False,
)
def test_an_overlay_is_undone(
    row: Row, payload: dict[str, Any], marks: dict[str, Any], native: str | None, restored: bool
) -> None:
    row = stored(row, payload)
    derived = Derived("t", "c", dict(marks), native)
    exported = event(row, json.loads(row.payload_json), derived, 1, restored=restored)["payload"]
    given_marks = exported.get("_derived", {})
    assert {key: given_marks[key] for key in marks} == marks
    assert not {"turn_id", "call_id", "ambiguous"} & (given_marks.keys() - marks.keys())
    assert exported.get("_native_turn_id") == native
    undone, proven = stored_payload(json.loads(dumps(exported)))
    assert dumps(undone) == dumps(payload)
    assert proven


@given(ROWS, ANY)
def test_a_changed_payload_is_not_proven(row: Row, payload: dict[str, Any]) -> None:
    row = stored(row, payload)
    exported = event(row, json.loads(row.payload_json), Derived("t", "c"), 1)["payload"]
    exported["content"] = {"changed": [True]} if payload.get("content") != {"changed": [True]} else 1
    undone, proven = stored_payload(exported)
    assert not proven
    assert undone["content"] == exported["content"]


@pytest.mark.parametrize("key", ["_derived", "_redactions"])
def test_a_digest_keeps_what_says_how_it_was_made(key: str) -> None:
    digested = digest_payload(
        "message.user", {"content": "x", key: [1], "_escaped": ["/content"], "_blobs": []}
    )
    assert digested[key] == [1]
    assert digested["_content_omitted"] == ["content"]
    assert digested["_omitted_payload_sha256"] == sha256_bytes(b'{"content":"x"}')
    assert digested["_omitted_payload_bytes"] == len(b'{"content":"x"}')
    assert digested.keys() == {key, "_content_omitted", "_omitted_payload_sha256", "_omitted_payload_bytes"}


def test_a_large_payload_costs_few_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    from geode_traj.contract import exported as module

    tried = 0

    def counting(payload: dict[str, Any]) -> bytes:
        nonlocal tried
        tried += 1
        return dumps(payload)

    monkeypatch.setattr(module, "stored", counting)
    stored_payload({**dict.fromkeys(OVERLAID, ""), "source_payload_hash": "0" * 64})
    assert tried == 2 ** len(OVERLAID)
    tried = 0
    stored_payload({**dict.fromkeys(OVERLAID, ""), "content": "x" * 100_000})
    assert tried == 1 + len(OVERLAID)
