"""A payload that lists redactions keeps them true when more is redacted in it."""

from __future__ import annotations

from collections import Counter

import pytest

from geode_traj.migrate.scrub import Scrubber
from geode_traj.scan.numbering import Numbering
from tests.support.secrets import make

MAIL = "[REDACTED:email:3]"


def listed(start: int, pointer: str = "/content") -> dict[str, object]:
    end = start + len(MAIL)
    return {"pointer": pointer, "start": start, "end": end, "rule": "gate_email", "class": "email", "n": 3}


def scrubbed(payload: dict) -> tuple[dict, Counter[str]]:
    counts: Counter[str] = Counter()
    return Scrubber(Numbering(b"k" * 32)).payload(payload, counts), counts


def test_positions_hold_after_more_is_redacted() -> None:
    content = f"{make('github_token')} of {MAIL}"
    payload = {"content": content, "_redactions": [listed(content.index(MAIL))]}
    made, counts = scrubbed(payload)
    assert counts == {"github_token": 1}
    assert [made["content"][one["start"] : one["end"]] for one in made["_redactions"]] == [
        "[REDACTED:github_token:1]",
        MAIL,
    ]
    again, counts = scrubbed(made)
    assert again == made and not counts


@pytest.mark.parametrize("given", ["a text", {"a": 1}, [], [1, {"class": "email"}], None])
def test_what_is_no_listing_is_kept_before_ours(given: object) -> None:
    assert scrubbed({"content": "x", "_redactions": given})[0] == {"content": "x", "_redactions": given}
    made, _ = scrubbed({"content": make("github_token"), "_redactions": given})
    assert made["_redactions"][:-1] == (given if isinstance(given, list) else [given])
    assert made["_redactions"][-1]["class"] == "github_token"


def test_what_a_listing_hides_is_redacted() -> None:
    made, counts = scrubbed({"content": "x", "_redactions": [{"note": make("github_token")}]})
    first, ours = made["_redactions"]
    assert first == {"note": "[REDACTED:github_token:1]"} and counts == {"github_token": 1}
    assert ours["pointer"] == "/_redactions/0/note"
