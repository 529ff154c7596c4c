"""The vocabulary agrees with the packaged schemas and with the second GEODE."""

from geode_traj.codec import schema
from geode_traj.contract import kinds
from tests.reference import legacy, payload, quality
from tests.reference.export import LAID_OVER


def test_kinds_are_the_schema_s_and_the_one_that_only_the_runtime_writes() -> None:
    listed = schema.load("geode.session-event@1")["properties"]["kind"]["enum"]
    assert set(listed) | {"verification.decided"} == kinds.KINDS
    assert set(legacy.KINDS.values()) < kinds.KINDS


def test_scopes_and_pairs() -> None:
    assert kinds.TURN_SCOPED == quality.TURN_SCOPED
    assert (kinds.CALLS, kinds.RESULTS) == (quality.CALLS, quality.RESULTS)
    assert kinds.SESSION_SCOPED.isdisjoint(kinds.TURN_SCOPED)
    assert kinds.USER_MESSAGES < kinds.TURN_SCOPED


def test_markers() -> None:
    assert kinds.ISSUE_KEYS == quality.ISSUE_KEYS
    assert kinds.OUR_MARKERS.isdisjoint(kinds.ISSUE_KEYS)
    assert kinds.SENSITIVE_KEYS == payload.SENSITIVE
    assert (*LAID_OVER, "source_payload_hash") == kinds.OVERLAID
