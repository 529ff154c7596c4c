from __future__ import annotations

import copy
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.codec import schema
from geode_traj.contract.dated import (
    FIDELITY,
    REDACTIONS,
    UNDECLARED_REPLAY,
    is_dated,
    normalise,
)
from geode_traj.contract.kinds import TRAJECTORY

SCHEMA = "geode.trajectory@2026-03-01"
CAPTURED = "2026-03-01T10:00:00Z"


def made(*events: dict, **head: Any) -> dict[str, Any]:
    return normalise({"schema_id": SCHEMA, "captured_at": CAPTURED, "events": list(events), **head})


def reasons(**head: Any) -> list[str]:
    event = {"event_id": "e", "kind": "gui.step", "occurred_at": CAPTURED, "payload": {}}
    return made(event, **head)["integrity"]["replay_incompleteness"]


@pytest.mark.parametrize(
    ("schema_id", "dated"),
    [
        (SCHEMA, True),
        ("geode.trajectory@1", False),
        ("geode.trajectory@2026-3-1", False),
        ("geode.trajectory@2026-03-01\n", False),
        ("x-geode.trajectory@2026-03-01", False),
        (None, False),
    ],
)
def test_which_schema_ids_are_dated(schema_id: object, dated: bool) -> None:
    assert is_dated(schema_id) is dated


@pytest.mark.parametrize(
    ("fields", "time", "mark"),
    [
        ({"occurred_at": "2026-03-01T09:00:00Z"}, "2026-03-01T09:00:00Z", None),
        ({"timestamp": "2026-03-01T09:00:00.250000+01:00"}, "2026-03-01T08:00:00.250000Z", None),
        ({"ts": 1772355600}, "2026-03-01T09:00:00Z", None),
        ({"ts": "2026-03-01T09:00:00"}, "2026-03-01T09:00:00Z", None),
        ({"occurred_at": "2026-03-01T09:00:00Z", "ts": 1}, "2026-03-01T09:00:00Z", None),
        ({"occurred_at": None, "ts": 1772355600}, "2026-03-01T09:00:00Z", None),
        ({}, CAPTURED, "_timestamp_missing"),
        ({"occurred_at": None}, CAPTURED, "_timestamp_missing"),
        ({"ts": "soon"}, CAPTURED, "_timestamp_invalid"),
        ({"ts": 1e300}, CAPTURED, "_timestamp_invalid"),
        ({"ts": True}, CAPTURED, "_timestamp_invalid"),
    ],
)
def test_times(fields: dict, time: str, mark: str | None) -> None:
    (event,) = made({"kind": "gui.step", **fields})["events"]
    assert event["occurred_at"] == time
    assert {key for key in event["payload"] if key.startswith("_timestamp")} == ({mark} if mark else set())


@pytest.mark.parametrize(
    ("head", "session"),
    [
        ({"source": {"session": "s", "run": "r"}, "trajectory_id": "t"}, "s"),
        ({"source": {"run": "r"}, "trajectory_id": "t"}, "r"),
        ({"trajectory_id": "t"}, "t"),
        ({}, "legacy-publication"),
    ],
)
def test_the_session_of_events_that_name_none(head: dict, session: str) -> None:
    document = made({"kind": "gui.step"}, {"kind": "gui.step", "session_id": "own"}, **head)
    assert [event["session_id"] for event in document["events"]] == [session, "own"]
    assert document["source"]["session"] == session


def test_an_absent_event_id_is_the_digest_of_the_other_eight_fields() -> None:
    given_event = {
        "sequence": 9,
        "kind": "message.user",
        "actor": "user",
        "ts": 1772355600,
        "payload": {"a": 1},
    }
    (event,) = made(given_event, trajectory_id="t")["events"]
    eight = {
        "actor": "user", "call_id": "", "kind": "message.user", "occurred_at": "2026-03-01T09:00:00Z",
        "ordinal": 1, "payload": {"a": 1}, "session_id": "t", "turn_id": "",
    }  # fmt: skip
    text = json.dumps(eight, sort_keys=True, separators=(",", ":"))
    assert event["event_id"] == hashlib.sha256(text.encode()).hexdigest()[:32]
    assert event["payload"]["_legacy"]["fields"] == {"sequence": 9, "ts": 1772355600}


def test_turn_and_call_ids_come_from_the_payload_too() -> None:
    inner = {"turn_id": "t", "call_id": "c"}
    first, second = made(
        {"kind": "tool_call", "payload": inner}, {"kind": "tool_call", "turn_id": "own", "payload": inner}
    )["events"]
    assert (first["turn_id"], first["call_id"]) == ("t", "c")
    assert (second["turn_id"], second["call_id"]) == ("own", "c")


def test_the_order_of_declared_reasons() -> None:
    integrity = {"incompleteness": ["old"], "fidelity": "shape only"}
    assert reasons(integrity=integrity, privacy={"redactions": [{"type": "names"}]}) == [
        "old",
        UNDECLARED_REPLAY,
        FIDELITY.format(scope="shape only"),
        REDACTIONS,
    ]


def test_one_that_declares_itself_complete_is_not_believed() -> None:
    assert reasons(integrity={"complete": True}) == ["producer declared trajectory replay incomplete"]


def test_defaults_and_provenance() -> None:
    document = made(provenance={"by": "demo"}, integrity={"x": 1}, extra=[1])
    assert document["trajectory_id"] == f"migrated-{hashlib.sha256(SCHEMA.encode()).hexdigest()[:16]}"
    assert document["outcome"] == {"scored": False}
    assert document["privacy"] == {"review_state": "unknown"}
    assert document["provenance"] == {
        "by": "demo",
        "migrated_from_schema_id": SCHEMA,
        "legacy_fields": {"extra": [1]},
    }
    assert document["integrity"]["legacy_integrity"] == {"x": 1}


def test_references_without_type() -> None:
    note = {"note": "n"}
    digest = hashlib.sha256(b'{"note":"n"}').hexdigest()[:16]
    typed = {"kind": "sil_eval", "schema_id": "s", "authority": "a", "reference": "r", "more": 1}
    listed = [{"path": "p", "id": "i"}, {"id": "i"}, {"contract_id": "c"}, note, typed, {"id": "i"}]
    document = made(evidence_refs=listed, runtime_event_refs=[{"id": "i"}])
    names = [(one["kind"], one["reference"]) for one in document["evidence_refs"]]
    assert names[:5] == [
        ("legacy", "p"), ("legacy", "i"), ("legacy", "c"), ("legacy", f"legacy-4-{digest}"), ("sil_eval", "r")
    ]  # fmt: skip
    assert len(set(names)) == len(names)
    assert document["evidence_refs"][4] == typed
    assert {one["authority"] for one in document["evidence_refs"][:4]} == {"immutable legacy publication"}
    assert [one["kind"] for one in document["runtime_event_refs"]] == ["runtime_event"]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.just("2026-03-01T09:00:00"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
_EVENT = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        "event_id ordinal occurred_at ts kind actor session_id turn_id call_id payload x".split(), _JSON
    ),
)
_HEAD = st.fixed_dictionaries(
    {},
    optional={
        key: _JSON | st.lists(_JSON, max_size=2) | st.dictionaries(st.sampled_from(["session", "run"]), _JSON)
        for key in (
            "trajectory_id captured_at published_at observed_on source outcome integrity privacy provenance"
            " evidence_refs runtime_event_refs artifact_digests trajectory_class schema_version other"
        ).split()
    },
)


@given(st.lists(_EVENT, max_size=4), _HEAD)
def test_whatever_was_published_becomes_a_trajectory_and_stays_as_it_is(
    events: list[dict], head: dict
) -> None:
    document = {**head, "schema_id": SCHEMA, "events": events}
    before = copy.deepcopy(document)
    result = normalise(document)
    assert document == before
    unique = len({event["event_id"] for event in result["events"]}) == len(events)
    found = schema.problems(TRAJECTORY, result)
    assert [problem for problem in found if unique or "event_id_unique" not in problem[0]] == []
    assert [event["ordinal"] for event in result["events"]] == list(range(1, len(events) + 1))
