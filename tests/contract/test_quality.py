"""Counts and reasons equal those of the second GEODE, whatever the events and the declarations."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.contract import quality as product
from geode_traj.contract.issues import has_issue
from geode_traj.contract.kinds import TURN_SCOPED
from tests.reference import geode

KINDS = st.sampled_from(
    [*sorted(TURN_SCOPED), "session.started", "session.ended", "legacy.imported", "usage.recorded"]
)
PAYLOADS = st.sampled_from([{}, {"a": "<REDACTED>"}, {"_truncated": True}, {"a": 1}])
SESSIONS, TURNS, CALLS = (st.sampled_from(["", *names]) for names in ("st", "12", "cd"))
EVENTS = st.lists(st.tuples(KINDS, SESSIONS, TURNS, CALLS, PAYLOADS), max_size=14)
DECLARED = {product.DECLARED_SCOPE, product.DECLARED_REPLAY}
REASONS = st.lists(st.sampled_from(["tape lost", "1 tool call(s) lack a result", "x"]), max_size=3)
INTEGRITIES = st.fixed_dictionaries(
    {},
    optional={
        "scope_complete": st.booleans(),
        "replay_complete": st.booleans(),
        "scope_incompleteness": REASONS,
        "replay_incompleteness": REASONS,
        "fidelity": st.sampled_from(["full", "Bodies EXCLUDED", "reduced " * 40, 7, None, ""]),
    },
)
PRIVACY = st.sampled_from(
    [
        {},
        {"redactions": [{"type": "content_reduction"}]},
        {"redactions": [{"type": "value_redaction"}, "content_reduction"]},
        {"redactions": {"type": "content_reduction"}},
        {"redactions": "content_reduction"},
    ]
)


def documents(events: list[tuple], integrity: dict, privacy: dict) -> dict[str, Any]:
    keys = ("kind", "session_id", "turn_id", "call_id", "payload")
    made = [
        {"event_id": str(n), "ordinal": n, **dict(zip(keys, event, strict=True))}
        for n, event in enumerate(events, start=1)
    ]
    return {"events": made, "integrity": integrity, "privacy": privacy}


def counted(doc: dict[str, Any]) -> product.Quality:
    quality = product.Quality()
    for event in doc["events"]:
        quality.feed(
            event["kind"],
            event["session_id"],
            event["turn_id"],
            event["call_id"],
            issue=has_issue(event["payload"]),
        )
    return quality


def explained(integrity: dict[str, Any]) -> dict[str, Any]:
    """Return a block without a bare declaration beside other reasons: the product says it only alone."""
    return {
        key: [reason for reason in value if reason not in DECLARED or len(value) == 1]
        if key in ("scope_incompleteness", "replay_incompleteness")
        else value
        for key, value in integrity.items()
        if key != "incompleteness"
    }


@given(EVENTS, INTEGRITIES, PRIVACY)
def test_quality_and_completeness(events: list[tuple], integrity: dict, privacy: dict) -> None:
    doc = documents(events, integrity, privacy)
    quality = counted(doc)
    assert quality.to_json() == geode.quality(doc["events"])
    computed = product.completeness(
        quality,
        declared_scope=integrity.get("scope_incompleteness", []),
        declared_replay=integrity.get("replay_incompleteness", []),
        scope_declared_complete=integrity.get("scope_complete", True),
        replay_declared_complete=integrity.get("replay_complete", True),
        privacy=privacy,
        fidelity=integrity.get("fidelity"),
    )
    assert explained(computed.to_json()) == explained(geode.completeness(doc))
    for reasons in (computed.scope_reasons, computed.replay_reasons):
        assert not (DECLARED & set(reasons) and len(reasons) > 1)


CALL, RESULT = ("tool.called", "s", "t", "c", {}), ("tool.completed", "s", "t", "c", {})
LACKS_RESULT, LACKS_CALL = "1 tool call(s) lack a result", "1 tool result(s) lack a call"
LACKS_ID, LACKS_TURN = "1 tool event(s) lack call_id", "1 turn-scoped event(s) lack turn_id"


@pytest.mark.parametrize(
    ("events", "reasons"),
    [
        ([], ["trajectory contains no events"]),
        ([("tool.called", "s", "t", "", {})], [LACKS_ID]),
        ([("message.user", "s", "", "", {})], [LACKS_TURN]),
        ([("tool.called", "s", "", "", {})], [LACKS_ID, LACKS_TURN]),
        ([CALL], [LACKS_RESULT]),
        ([RESULT], [LACKS_CALL]),
        ([CALL, RESULT], []),
        ([RESULT, CALL], [LACKS_RESULT, LACKS_CALL]),
        ([("tool_call", *CALL[1:]), RESULT], []),
        ([CALL, ("tool.completed", "s", "u", "c", {})], [LACKS_RESULT, LACKS_CALL]),
        ([CALL, CALL, RESULT], [LACKS_RESULT]),
    ],
)
def test_exact_words_in_order(events: list[tuple], reasons: list[str]) -> None:
    assert counted(documents(events, {}, {})).scope_reasons() == reasons


def test_a_repeated_id_and_a_gap_are_told_by_the_one_who_sees_them() -> None:
    quality = product.Quality()
    assert quality.to_json()["event_id_unique"] is quality.to_json()["ordinal_contiguous"] is True
    quality.ids_unique = quality.ordinals_contiguous = False
    assert quality.to_json()["event_id_unique"] is quality.to_json()["ordinal_contiguous"] is False
