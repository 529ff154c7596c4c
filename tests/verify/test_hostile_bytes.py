"""No bytes crash the verifier, and what can be judged is."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geode_traj.verify import Verified, verify_bytes
from geode_traj.verify.tracking import MAX_LINKS, MAX_WAITING
from tests.verify.trajectories import conversation, document, event, numbered, trajectory, written

GOOD = trajectory(conversation())
LINES = GOOD.split(b"\n")
OPENING = b'{"events":[\n'


def judged(data: bytes) -> Verified:
    found = verify_bytes(data)
    assert found.verdict in ("valid", "incomplete", "invalid", "unreadable")
    assert found.findings or found.verdict != "unreadable"
    json.dumps(found.to_json())
    return found


@given(st.binary(max_size=300))
@settings(max_examples=300, deadline=None)
def test_any_bytes(data: bytes) -> None:
    judged(data)
    judged(OPENING + data)


@given(st.integers(0, len(GOOD)), st.integers(0, 40), st.binary(max_size=12))
@settings(max_examples=300, deadline=None)
def test_any_bytes_in_place_of_some(start: int, count: int, put: bytes) -> None:
    found = judged(GOOD[:start] + put + GOOD[start + count :])
    if put != GOOD[start : start + count]:
        strict = found.verdict in ("valid", "incomplete")
        # What is still JSON and fits may say something else; it is never taken for another shape.
        assert not strict or found.events == len(LINES) - 3


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text() | st.floats(), lambda inner: (
    st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
), max_leaves=12))  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_any_value_in_any_place(value: object) -> None:
    doc = document(conversation())
    text = json.dumps(value)
    for at in ("events", "integrity", "privacy", "source", "artifact_digests", "evidence_refs"):
        judged(json.dumps({**doc, at: "@"}).replace('"@"', text).encode())
    for key in doc["events"][2]:
        one = {**doc["events"][2], key: "@"}
        whole = {**doc, "events": [*doc["events"][:2], one, *doc["events"][3:]]}
        judged(json.dumps(whole).replace('"@"', text).encode())


def lined(*lines: bytes) -> bytes:
    return b"\n".join([LINES[0], *lines, *LINES[-2:]])


HOSTILE = {
    "nothing": (b"", "unreadable", {"GT101"}),
    "a NUL": (b"\0", "unreadable", {"GT101", "GT110"}),
    "nested without end": (b"[" * 100_000, "unreadable", {"GT111"}),
    "nested in a line": (lined(b'{"a":' * 100_000), "invalid", {"GT111"}),
    "a long number": (lined(b"1" * 5_000), "invalid", {"GT113"}),
    "only a mark": (b"\xef\xbb\xbf", "unreadable", {"GT101", "GT109"}),
    "UTF-16": (GOOD.decode().encode("utf-16"), "unreadable", {"GT110"}),
    "an event of another type": (lined(b"7"), "invalid", {"GT102"}),
    "no head": (OPENING + LINES[1] + b"\n", "unreadable", {"GT101"}),
    "keys without end": (b"{" + b'"a":1,' * 50_000 + b'"events":[]}', "invalid", {"GT103", "GT104"}),
}


@pytest.mark.parametrize("case", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_ends_in_findings(case: tuple[bytes, str, set[str]]) -> None:
    data, verdict, codes = case
    found = judged(data)
    assert found.verdict == verdict
    assert {one.code for one in found.findings if not one.code.startswith("GT7")} == codes  # but for counts


def test_one_bad_line_hides_nothing_else() -> None:
    doc = document(conversation(event("gui.step", {"action": "click"})))
    doc["events"][1]["call_id"] = "x" * 300
    lines = written(doc).split(b"\n")
    lines[3] = lines[3].replace(b'"command":"cat demo.txt"', b'"command":NaN,"command":"\\ud800"')
    lines[6] = b'{"torn,'
    found = judged(b"\n".join(lines))
    assert {"GT104", "GT107", "GT113", "GT203"} <= {one.code for one in found.findings}
    assert [one.place.line for one in found.findings if one.code == "GT113"] == [7]
    assert found.events == 7


@pytest.mark.parametrize(
    "text",
    ["1" * 200_000 + " lines truncated", "(" * 100_000 + "truncated", "data:" + ";a" * 50_000 + ";base64,A",
     "… " * 100_000 + "[truncated", "[" * 100_000 + "... Observation truncated due to length ...",
     " " * 200_000 + "truncated)", "A" * 200_001 + "base64"],
    ids=["digits", "brackets", "uri", "dots", "marks", "spaces", "base64"],
)  # fmt: skip
def test_no_text_takes_long_to_look_at(text: str) -> None:
    data = trajectory(conversation(event("tool.completed", {"result": text, "data": text, "type": "base64"})))
    begun = time.process_time()
    judged(data)
    assert time.process_time() - begun < 2


def chained(parents: list[str]) -> bytes:
    events = numbered([event("gui.step", {"parent_event_id": parent}) for parent in parents])
    return trajectory(events)


def test_parents_are_followed_within_bounds() -> None:
    count = MAX_LINKS + 5_000
    ring = chained([f"e{n % count + 1}" for n in range(1, count + 1)])
    assert {"GT313"} <= {one.code for one in judged(ring).findings}
    dangling = chained([f"x{n}" for n in range(MAX_WAITING + 3)])
    found = judged(dangling)
    assert [one.message for one in found.findings if one.code == "GT313"] == [
        "3 time(s) a session, parent or sub-agent was not followed"
    ]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=9))
@settings(max_examples=200, deadline=None)
def test_rings_are_those_of_the_graph(parents: list[int]) -> None:
    """An event is on a ring exactly where its parents lead back to it."""
    found = judged(chained([f"e{parent}" for parent in parents]))
    on_ring = set()
    for start in range(1, len(parents) + 1):
        here = start
        for _ in parents:
            here = parents[here - 1] if here <= len(parents) else 0
            if here == start:
                on_ring.add(start)
            if here == 0:
                break
    told = {
        place.ordinal for one in found.findings if one.code == "GT310" for place in (one.place, *one.related)
    }
    assert told == on_ring
    missing = {parent for parent in parents if parent > len(parents)}
    assert sum(one.code == "GT309" for one in found.findings) == len(missing)
