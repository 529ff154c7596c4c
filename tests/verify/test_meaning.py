"""What changes a trajectory's meaning is found; what does not, is not."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geode_traj.verify import Verified, verify_bytes
from tests.reference import quality as reference
from tests.verify.trajectories import Event, conversation, document, event, trajectory, written

KINDS = [
    "message.user", "message.assistant", "tool.called", "tool.completed", "tool_call", "tool_result",
    "turn.completed", "usage.recorded", "user_message", "verification.decided", "legacy.imported",
]  # fmt: skip
VALUES = st.sampled_from(
    [
        1, 0.5, "", "text", "<REDACTED>", "[REDACTED] here", "cut…[truncated:9]", None, {"_truncated": True},
        [{"_truncated_items": 3}], {"_omitted_type": "x"}, {"deep": [{"_personal_data_omitted": []}]},
    ]
)  # fmt: skip
PAYLOADS = st.dictionaries(st.sampled_from(["content", "result", "_content_omitted", "value"]), VALUES)
EVENTS = st.lists(
    st.builds(
        lambda kind, session, turn, call, payload: {
            **event(kind, session_id=session, turn_id=turn, call_id=call),
            "payload": payload,
        },
        st.sampled_from(KINDS),
        st.sampled_from(["s1", "s2", ""]),
        st.sampled_from(["t1", "t2", ""]),
        st.sampled_from(["c1", "c2", ""]),
        PAYLOADS,
    ),
    max_size=12,
)


def equals_the_reference(events: list[Event], privacy: dict[str, Any]) -> None:
    doc = document(events, privacy=privacy)
    found = verify_bytes(written(doc))
    truth = reference.completeness(doc)
    assert found.quality == reference.quality(doc["events"])
    assert (found.scope_complete, found.replay_complete) == (
        truth["scope_complete"],
        truth["replay_complete"],
    )
    assert list(found.scope_reasons) == truth["scope_incompleteness"]
    assert list(found.replay_reasons) == truth["replay_incompleteness"]
    assert found.verdict == ("valid" if truth["scope_complete"] else "incomplete")


PRIVACY = st.sampled_from(
    [{"review_state": "local"}, {"review_state": "local", "redactions": [{"type": "content_reduction"}]}]
)


@given(EVENTS, PRIVACY)
@settings(max_examples=300, deadline=None)
def test_quality_equals_the_slow_rules(events: list[Event], privacy: dict[str, Any]) -> None:
    equals_the_reference(events, privacy)


@pytest.mark.slow
@given(EVENTS, PRIVACY)
@settings(max_examples=5_000, deadline=None)
def test_quality_equals_the_slow_rules_thousands_of_times(
    events: list[Event], privacy: dict[str, Any]
) -> None:
    equals_the_reference(events, privacy)


def told(found: Verified) -> list[tuple[str, str, int | None, str | None]]:
    """Return what was found apart from how the file is written."""
    return sorted(
        (one.code, one.message, one.place.ordinal, one.place.pointer or "")
        for one in found.findings
        if one.code != "GT115"
    )


def reversed_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(list(value))}
    return [reversed_keys(item) for item in value] if isinstance(value, list) else value


REWRITTEN = {
    "key order": lambda doc: json.dumps(reversed_keys(doc)),
    "white space": lambda doc: json.dumps(doc, indent=3, ensure_ascii=False),
    "escapes": lambda doc: json.dumps(doc, ensure_ascii=True, separators=(",", ":")),
    "one line": lambda doc: json.dumps(doc, separators=(" , ", " : "), ensure_ascii=False),
    "line ends": lambda doc: written(doc).decode().replace("\n", "\r\n"),
}


@pytest.mark.parametrize("how", REWRITTEN)
@given(EVENTS)
@settings(max_examples=40, deadline=None)
def test_how_it_is_written_changes_nothing(how: str, events: list[Event]) -> None:
    doc = document(events)
    framed, other = verify_bytes(written(doc)), verify_bytes(REWRITTEN[how](doc).encode())
    assert told(framed) == told(other)
    assert (framed.verdict, framed.quality) == (other.verdict, other.quality)
    assert "GT115" not in {one.code for one in framed.findings}
    assert "GT115" in {one.code for one in other.findings}


def unchanged(doc: dict[str, Any]) -> dict[str, Any]:
    doc["integrity"]["note"] = "allowed"
    doc["source"]["branch"] = "main"
    doc["provenance"]["tool"] = {"name": "demo"}
    doc["outcome"]["score"] = 0.5
    doc["events"][2]["payload"]["extra"] = [1, 2, 3]
    return doc


def test_members_that_the_contract_allows_change_nothing() -> None:
    plain = document(conversation())
    assert verify_bytes(written(unchanged(copy.deepcopy(plain)))).findings == ()


def _drop(index: int) -> Any:
    return lambda doc: doc["events"].pop(index)


def _set(value: Any, *path: Any) -> Any:
    def change(doc: dict[str, Any]) -> None:
        *way, last = path
        target: Any = doc
        for step in way:
            target = target[step]
        target[last] = value

    return change


def _swap(first: int, second: int) -> Any:
    def change(doc: dict[str, Any]) -> None:
        events = doc["events"]
        events[first], events[second] = events[second], events[first]

    return change


CHANGES = {
    **{f"event {n + 1} is gone": _drop(n) for n in range(6)},
    "events change places": _swap(1, 4),
    "an event stands twice": lambda doc: doc["events"].append(doc["events"][-1]),
    "another id of an event": _set("e1", "events", 3, "event_id"),
    "a call of another id": _set("c9", "events", 2, "call_id"),
    "a call of another turn": _set("t9", "events", 2, "turn_id"),
    "a result of another session": _set("s9", "events", 3, "session_id"),
    "no turn": _set("", "events", 1, "turn_id"),
    "no session": _set("", "events", 1, "session_id"),
    "a result is no result": _set("gui.step", "events", 3, "kind"),
    "another tool": _set("editor", "events", 3, "payload", "tool"),
    "a text is cut": _set("abc…[truncated:5]", "events", 1, "payload", "content"),
    "a text is redacted": _set("<REDACTED>", "events", 1, "payload", "content"),
    "a result is emptied": _set("", "events", 3, "payload", "result"),
    "another time": _set("2020-01-01T00:00:00Z", "events", 4, "occurred_at"),
    "captured earlier": _set("2026-09-01T10:00:01Z", "captured_at"),
    "another count": _set(5, "integrity", "record_count"),
    "not complete": _set(False, "integrity", "complete"),
    "a reason more in the union": _set(["demo"], "integrity", "incompleteness"),
    "another schema": _set("geode.trajectory@9", "schema_id"),
    "claims to be reviewed": lambda doc: (
        _set("reviewed", "privacy", "review_state")(doc),
        _set("in /home/demo_user/x", "events", 1, "payload", "content")(doc),
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_changes_the_meaning_is_found(change: Any) -> None:
    doc = document(conversation())
    assert verify_bytes(written(doc)).findings == ()
    change(doc)
    assert verify_bytes(written(doc)).findings != ()


def test_a_trajectory_of_nothing_but_the_contract_is_never_invalid() -> None:
    odd = [
        event("tool.called", {"arguments": {"_legacy_fragment": '{"a": "b'}}, call_id="c7"),
        event("tool.completed", {"result": "x… (truncated)", "duration_ms": 10**30}, call_id="c8"),
        event("subagent.started", {"child_session_key": "s9", "parent_event_id": "nobody"}),
        event(
            "message.user", {"content": "\ufffd", "n": -(10**30), "parent_event_id": "e8"}, session_id="s2"
        ),
    ]
    assert verify_bytes(trajectory(conversation(*odd))).verdict == "incomplete"
