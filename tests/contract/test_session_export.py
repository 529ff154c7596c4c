"""What an export says of its sessions, and what of a file's own words a later one repeats."""

import pytest

from geode_traj.contract import session_export
from geode_traj.contract.quality import DECLARED_REPLAY, DECLARED_SCOPE, Quality, completeness

STRANGE = "s\n(1) [x]* \\d"


def test_the_head_is_geode_s() -> None:
    head = session_export.head([STRANGE], None)
    assert head == {
        "trajectory_id": f"geode-session-{STRANGE}",
        "trajectory_class": ["dialogue", "tool", "lifecycle"],
        "source": {"harness": "geode", "run": STRANGE, "session": STRANGE, "parents": None},
        "outcome": {"scored": False},
        "provenance": {"store": "sessions.db:session_events"},
        "privacy": {"review_state": "local"},
    }
    several = session_export.head(["a", "b"], "both")
    assert several["trajectory_id"] == several["source"]["run"] == several["source"]["session"] == "both"


@pytest.mark.parametrize(
    ("last", "failing", "reasons"),
    [
        (None, False, ["session s has no canonical events"]),
        ("message.user", False, ["session s has no terminal event"]),
        ("session.ended", False, []),
        ("session.ended", True, ["session s reports canonical write failures"]),
        (
            "tool.called",
            True,
            ["session s has no terminal event", "session s reports canonical write failures"],
        ),
    ],
)
def test_reasons_of_a_session(last: str | None, failing: bool, reasons: list[str]) -> None:
    found = session_export.session_reasons("s", last, failing=failing)
    assert found == reasons


@pytest.mark.parametrize(
    ("failures", "reported"),
    [(1, True), (0.5, True), (0, False), (-1, False), (None, False), ("3", False), ([], False)],
)
def test_failures(failures: object, reported: bool) -> None:
    assert session_export.reports_failures({"record_failures": failures}) is reported
    assert session_export.reports_failures({}) is False


def computed() -> list[str]:
    """Return every reason that an export computes, in its own words."""
    quality = Quality()
    found = [*quality.scope_reasons()]
    quality.feed("tool.called", "s", "", "", issue=True)
    quality.feed("tool.called", "s", "t", "c", issue=False)
    quality.feed("tool.completed", "s", "t", "d", issue=False)
    privacy = {"redactions": [{"type": "content_reduction"}]}
    whole = completeness(quality, privacy=privacy, fidelity="reduced\nto little")
    found += [*whole.scope_reasons, *whole.replay_reasons]
    for last, failing in ((None, False), ("x", True)):
        found += session_export.session_reasons(STRANGE, last, failing=failing)
    return [*found, session_export.NO_SESSIONS, session_export.DAMAGED.format(count=12)]


@pytest.mark.parametrize("reason", computed())
def test_what_is_computed_anew_is_not_repeated(reason: str) -> None:
    assert session_export.own_reasons([reason]) == []
    assert session_export.own_reasons([f"x {reason}", f"{reason}!"])[:1] == [f"x {reason}"]


def test_what_is_the_producer_s_own_is_repeated_in_order() -> None:
    stated = ["tape lost", DECLARED_SCOPE, "", 5, None, "1 tool call(s) lack a result", "ünique"]
    assert session_export.own_reasons(stated) == ["tape lost", DECLARED_SCOPE, "ünique"]
    assert session_export.own_reasons("tape lost") == session_export.own_reasons(None) == []


def test_a_declared_replay_is_the_producer_s_own_only_where_nothing_else_explains_it() -> None:
    assert session_export.own_reasons([DECLARED_REPLAY]) == []
    assert session_export.own_reasons([DECLARED_REPLAY], follows=False) == [DECLARED_REPLAY]
