"""The switches of a policy over whole trajectories: what goes, what stays, what is said of it."""

import json
import re
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geode_traj.contract import policy
from geode_traj.jobs.redacting import redact_by_policy
from geode_traj.review.redact import ReleaseRedactor, public_name
from geode_traj.scan.engine import Scanner
from geode_traj.scan.numbering import Numbering
from tests.reference.quality import quality
from tests.reference.trajectory import check_trajectory
from tests.review.conftest import KEY, Build
from tests.review.test_guessing import CHANNELS, RULES, SECRET, confirmed, export
from tests.support.reviews import AT, signed_off
from tests.support.secrets import make

SWITCHES = {
    "timestamps": '[content]\ntimestamps = "shift"',
    "session_ids": '[content]\nsession_ids = "pseudonym"',
    "reasoning": '[content]\nreasoning = "drop"',
    "images": '[content]\nimages = "drop"',
    "bodies": '[content]\nbodies = "digest"',
    "digests": '[release]\ndigests = "plain"',
}
ALL = "[content]\n" + "".join(text.partition("\n")[2] + "\n" for text in list(SWITCHES.values())[:5])
PNG = "iVBORw0KGgo" + "AAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ" * 4
SESSION = "0190163d-8694-439b-aea5-966c26f8ad91"


def read(text):
    return policy.read(f'schema_id = "geode-traj.policy@1"\nname = "p"\n{text}'.encode(), place="p.toml")


def publish(build, doc, text="", *, key=KEY, ruleset=None):
    out = build.folder / "out.json"
    out.unlink(missing_ok=True)
    scanner = Scanner("publish", (), ruleset)
    release = ReleaseRedactor(key, Numbering(key), scanner, policy=read(text) if text else None)
    release.write(release.survey(build.write(doc)), out)
    value = json.loads(out.read_bytes())
    assert check_trajectory(value) == []
    return value, out.read_text("utf-8")


def declared(value, kind):
    listed = value["privacy"]["redactions"]
    return {item["class"]: item.get("count") for item in listed if item["type"] == kind}


def run(build):
    """A run with everything that a switch is about, and a private value beside each."""
    columns = {"session_id": SESSION, "turn_id": "t-1"}
    address = make("email")
    first = {
        "content": f"look at {address} in {SESSION}, data:image/png;base64,{PNG}= and {address}",
        "attachments": [{"media_type": "image/png", "bytes": 9, "data": PNG}],
        "begun_at": "2026-01-31T09:29:59.5Z",
        "begun_ms": 1_769_851_800_123,
    }
    said = {
        "content": "<think>the tag</think>done",
        "reasoning": {"status": "present", "text": f"because of {address}", "signature": "c2lnbmVk"},
    }
    events = [
        build.event({"model": "m"}, kind="session.started", session_id=SESSION),
        build.event(first, **columns),
        build.event(said, kind="message.assistant", **columns),
        build.event({"tool": "ls", "arguments": {"p": "a"}}, kind="tool.called", call_id="c", **columns),
        build.event({"tool": "ls", "summary": "b"}, kind="tool.completed", call_id="c", **columns),
        build.event({"duration_s": 4}, kind="session.ended", session_id=SESSION),
    ]
    for number, event in enumerate(events):
        event["occurred_at"] = f"2026-01-31T09:30:0{number}.00000{number + 1}Z"
    return build.doc(
        events,
        captured_at="2026-01-31T09:30:05.000006Z",
        trajectory_id=f"geode-session-{SESSION}",
        source={"harness": "geode", "run": SESSION, "session": SESSION, "parents": ["parent session"]},
    )


def shape(value):
    """What no switch may change: kinds in order, pairs, turns, and how many events there are."""
    found = quality(value["events"])
    kinds = [event["kind"] for event in value["events"]]
    turns = [bool(event["turn_id"]) for event in value["events"]]
    return kinds, turns, found["tool_pairing"], found["correlation"]


@pytest.mark.parametrize("text", [*SWITCHES.values(), ALL, ALL + SWITCHES["digests"]])
def test_every_switch_verifies_keeps_the_shape_and_is_deterministic(build, text):
    doc = run(build)
    value, first = publish(build, doc, text)
    assert shape(value) == shape(doc)
    assert publish(build, doc, text)[1] == first
    assert publish(build, doc)[1] != first
    assert make("email") not in first


def times(value):
    return [datetime.fromisoformat(event["occurred_at"]) for event in value["events"]]


def test_shifted_times_keep_order_and_differences(build):
    doc = run(build)
    value, text = publish(build, doc, SWITCHES["timestamps"])
    (by,) = {before - after for before, after in zip(times(doc), times(value), strict=True)}
    assert timedelta(days=30) <= by <= timedelta(days=400) and by.microseconds == 0
    payload = value["events"][1]["payload"]
    assert value["captured_at"] == value["events"][-1]["occurred_at"]
    begun = datetime.fromisoformat("2026-01-31T09:29:59.5+00:00") - by
    assert datetime.fromisoformat(payload["begun_at"]) == begun and payload["begun_at"].endswith(".5Z")
    assert payload["begun_ms"] == 1_769_851_800_123 - by.total_seconds() * 1000
    assert "2026-01-31" not in text
    assert declared(value, "content_transform") == {"timestamps_shifted": None}
    assert value["integrity"]["replay_complete"] is True
    other, _ = publish(build, doc, SWITCHES["timestamps"], key=KEY[::-1])
    assert times(other) != times(value)


def test_ids_that_hold_a_time_are_hidden_where_times_move(build):
    session, turn = "20260131_093000_ab12cd", "0190163d-8694-739b-aea5-966c26f8ad91"
    doc = build.doc([build.event(session_id=session, turn_id=turn)], trajectory_id=f"geode-session-{session}")
    _, text = publish(build, doc, SWITCHES["timestamps"])
    assert session not in text and turn not in text
    assert session in publish(build, doc)[1]


def test_pseudonyms_stand_wherever_a_session_is_named(build):
    value, text = publish(build, run(build), SWITCHES["session_ids"])
    (new,) = {event["session_id"] for event in value["events"]}
    assert SESSION not in text and "parent session" not in text
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", new)
    assert value["trajectory_id"] == f"geode-session-{new}"
    assert value["source"]["run"] == value["source"]["session"] == new
    assert f" in {new}, " in value["events"][1]["payload"]["content"]
    assert declared(value, "content_transform") == {"session_ids_pseudonymous": None}


@pytest.mark.parametrize("session", ["main", "privacy", "message.user", "events", "content", "t-1"])
def test_a_session_may_be_called_by_any_word(build, session):
    doc = build.doc([build.event(session_id=session)], trajectory_id=f"geode-session-{session}")
    doc["source"] = {"harness": "x", "run": session, "session": session, "parents": [session]}
    value, _ = publish(build, doc, SWITCHES["session_ids"])
    (event,) = value["events"]
    assert event["kind"] == "message.user" and event["payload"]["content"] == "hello"
    assert value["source"]["parents"] == [event["session_id"]] != [session]


def test_dropped_reasoning_is_marked_and_declared(build):
    value, text = publish(build, run(build), SWITCHES["reasoning"])
    payload = value["events"][2]["payload"]
    assert payload["reasoning"]["status"] == "present"
    assert payload["reasoning"]["_content_omitted"] == ["signature", "text"]
    assert payload["content"] == "[REDACTED:reasoning:1]done"
    assert "because of" not in text and "the tag" not in text and "c2lnbmVk" not in text
    assert declared(value, "content_reduction") == {"reasoning": 2}
    assert value["integrity"]["replay_incompleteness"] == [
        "1 event payload(s) are truncated, corrupt, or omitted",
        "privacy policy declares content reduction",
    ]


def test_dropped_images_leave_a_placeholder_and_everything_around_them(build):
    value, text = publish(build, run(build), SWITCHES["images"])
    payload = value["events"][1]["payload"]
    assert payload["content"] == (
        f"look at [REDACTED:email:1] in {SESSION}, [REDACTED:image:2] and [REDACTED:email:1]"
    )
    assert payload["attachments"][0] == {
        "media_type": "image/png",
        "bytes": 9,
        "data": "[REDACTED:image:1]",
    }
    assert PNG not in text and declared(value, "content_reduction") == {"image": 2}
    for entry in payload["_redactions"]:
        steps = entry["pointer"].split("/")[1:]
        place = payload
        for step in steps:
            place = place[int(step)] if isinstance(place, list) else place[step]
        assert place[entry["start"] : entry["end"]] == f"[REDACTED:{entry['class']}:{entry['n']}]"


def test_digested_bodies_have_keyed_digests(build):
    doc = run(build)
    value, text = publish(build, doc, SWITCHES["bodies"])
    called = value["events"][3]["payload"]
    assert called["tool"] == "ls" and called["_content_omitted"] == ["arguments"]
    assert called["_omitted_payload_sha256"] != build.sha256(b'{"arguments":{"p":"a"}}')
    assert "look at" not in text and "because of" not in text and "_omitted_payload_bytes" not in text
    assert value["events"][5]["payload"]["duration_s"] == 4
    assert declared(value, "content_reduction") == {"omitted_body": 4}
    plain, _ = publish(build, doc, SWITCHES["bodies"] + "\n" + SWITCHES["digests"])
    assert plain["events"][3]["payload"]["_omitted_payload_sha256"] == build.sha256(
        b'{"arguments":{"p":"a"}}'
    )


def test_bodies_that_were_gone_before_are_counted_too(build):
    gone = {"_content_omitted": ["content"], "_omitted_payload_sha256": "0" * 64}
    value, _ = publish(build, build.doc([build.event(gone), build.event()]), SWITCHES["bodies"])
    assert declared(value, "content_reduction") == {"omitted_body": 2}


def test_reviewing_a_published_form_again_takes_nothing_more(build):
    value, _ = publish(build, run(build), ALL)
    again, _ = publish(build, value, ALL)
    assert again["privacy"] == value["privacy"]
    assert again["integrity"] == value["integrity"]
    for before, after in zip(value["events"], again["events"], strict=True):
        assert before["payload"].keys() == after["payload"].keys()
    (by,) = {before - after for before, after in zip(times(value), times(again), strict=True)}
    assert by > timedelta(0)  # what is keyed is keyed anew, and says so once
    without, _ = publish(build, value)
    assert without["privacy"] == value["privacy"]


GUESSABLE = sorted(CHANNELS.keys() - {"payload hash", "source digest", "blob"})


@pytest.mark.parametrize("channel", sorted(CHANNELS))
@pytest.mark.parametrize("text", [*list(SWITCHES.values())[:5], ALL])
def test_no_keyed_setting_confirms_a_guess(build, channel, text):
    _, out = publish(build, export(build, channel, SECRET), text, ruleset=RULES)
    assert confirmed(out, channel) == []


@pytest.mark.parametrize("channel", sorted(CHANNELS))
def test_plain_digests_confirm_a_guess_and_say_so(build, channel):
    """What is gone and what is made of the published payload confirms nothing even so."""
    value, out = publish(build, export(build, channel, SECRET), SWITCHES["digests"], ruleset=RULES)
    assert confirmed(out, channel) == ([SECRET] if channel in GUESSABLE else [])
    assert value["privacy"]["digests"] == {"kind": "plain", "guessable": True}
    keyed, _ = publish(build, value, ruleset=RULES)
    assert "digests" not in keyed["privacy"]


def test_a_private_event_id_is_hidden_though_digests_are_plain(build):
    named = f"by {make('email')}"
    child = build.event({"content": "x"}, id="child", parent=named)
    value, text = publish(build, build.doc([build.event(id=named), child]), SWITCHES["digests"])
    parent, child = value["events"]
    assert make("email") not in text and child["event_id"] == "child"
    assert child["payload"]["parent_event_id"] == parent["event_id"]


@pytest.mark.parametrize(
    ("text", "name", "same"),
    [
        ("", "run-2026-01-31.json", True),
        (SWITCHES["timestamps"], "run-2026-01-31.json", False),
        (SWITCHES["timestamps"], "run.json", True),
        (SWITCHES["session_ids"], "run.json", False),
    ],
)
def test_a_file_is_not_named_by_what_a_policy_hides(text, name, same):
    made = public_name(name, Scanner("publish"), KEY, read(text))
    assert (made == name) is same and made.endswith(".json")


WORDS = st.sampled_from(
    ["plain", " ", "\n", "é", "2026-01-31T09:30:00Z", SESSION, PNG, "<think>", "data:a/b;base64,QUJD",
     "[REDACTED:email:1]", make("email"), make("github_token"), "s-1"]
)  # fmt: skip
TEXTS = st.lists(WORDS, max_size=4).map("".join)
KEYS = TEXTS | st.sampled_from(
    ["reasoning", "thinking", "type", "thought", "operation", "data", "media_type", "_content_omitted"]
)
LEAVES = st.one_of(
    TEXTS,
    st.integers(),
    st.none(),
    st.booleans(),
    st.sampled_from([1_769_851_800, 1_769_851_800.5, "reasoning", "image/png", "assistant.reasoning"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
EVENTS = st.tuples(
    st.sampled_from(
        ["message.user", "message.assistant", "tool.called", "tool.completed", "legacy.imported"]
    ),
    st.sampled_from(["", "c", "d"]),
    st.sampled_from(["s-1", SESSION, "content"]),
    st.integers(0, 10**6),
    st.dictionaries(KEYS, VALUES, max_size=3),
)


@pytest.fixture(scope="module")
def module_build(tmp_path_factory):
    return Build(tmp_path_factory.mktemp("given"))


@settings(max_examples=60)
@given(st.lists(EVENTS, min_size=1, max_size=4), st.sets(st.sampled_from(sorted(SWITCHES))))
def test_no_payload_makes_a_switch_change_order_counts_or_pairs(module_build, rows, switches):
    build = module_build
    events = []
    for kind, call, session, after, payload in rows:
        event = build.event(payload, kind=kind, call_id=call, session_id=session)
        moment = datetime.fromisoformat("2026-01-31T09:30:00+00:00") + timedelta(microseconds=after)
        event["occurred_at"] = moment.isoformat().replace("+00:00", "Z")
        events.append(event)
    doc = build.doc(events, captured_at="2026-01-31T09:31:00Z")
    content = [SWITCHES[name].partition("\n")[2] for name in sorted(switches - {"digests"})]
    text = "\n".join(["[content]", *content, *([SWITCHES["digests"]] if "digests" in switches else [])])
    value, out = publish(build, doc, text)
    assert shape(value) == shape(doc)
    moved = [a - b for a, b in zip(times(doc), times(value), strict=True)]
    assert len(set(moved)) == 1 and bool(moved[0]) is ("timestamps" in switches)
    if "images" in switches:
        assert PNG not in out
    if "session_ids" in switches:
        assert not {SESSION, "s-1"}.intersection(event["session_id"] for event in value["events"])
        assert SESSION not in re.sub(f"[0-9A-Za-z]{SESSION}|{SESSION}[0-9A-Za-z]", "", out)


def test_a_sign_off_does_what_the_policy_of_its_review_says(build, tmp_path):
    under = read(ALL + '\n[bands]\nreview = "redact"')
    made = signed_off([build.write(run(build))], tmp_path / "review", under=under, key=KEY)
    (file,) = made.files
    value = json.loads((tmp_path / "review" / "redacted" / file.path).read_bytes())
    expected, _ = publish(build, run(build), ALL)
    assert value == expected


def test_redacting_by_policy_does_what_the_policy_says(build, tmp_path):
    under = read(ALL + '\n[bands]\nreview = "redact"')
    scanner = Scanner("publish")
    path = build.write(run(build))
    redact_by_policy(path, tmp_path / "out.json", policy=under, scanner=scanner, key=KEY, at=AT)
    value = json.loads((tmp_path / "out.json").read_bytes())
    expected, _ = publish(build, run(build), ALL)
    assert value["events"] == expected["events"]
    assert value["privacy"]["redactions"] == expected["privacy"]["redactions"]
