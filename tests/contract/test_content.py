import json
from datetime import datetime
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.contract import content, policy
from geode_traj.contract.content import Switches
from geode_traj.contract.exported import digest_payload
from geode_traj.contract.issues import has_issue
from geode_traj.contract.publish import MAX_SHIFT, MIN_SHIFT, Ids, Publication
from geode_traj.contract.shift import Period, Shift, tells_time

NOON = 1_769_860_800  # 2026-01-31T12:00:00Z


def read(text):
    return policy.read(f'schema_id = "geode-traj.policy@1"\nname = "p"\n{text}'.encode(), place="p.toml")


def test_each_setting_turns_one_switch():
    assert Switches.of(None) == Switches.of(policy.packaged()) == Switches()
    settings = {
        '[content]\ntimestamps = "shift"': "shift",
        '[content]\nsession_ids = "pseudonym"': "pseudonyms",
        '[content]\nreasoning = "drop"': "no_reasoning",
        '[content]\nimages = "drop"': "no_images",
        '[content]\nbodies = "digest"': "digests_only",
        '[release]\ndigests = "plain"': "plain",
    }
    for text, name in settings.items():
        assert Switches.of(read(text)) == Switches(**{name: True})


def moved(event_times, value, seconds=3_000_000):
    period = Period()
    for text in event_times:
        period.see(text)
    event = {"occurred_at": event_times[0], "payload": {"it": value}}
    return Shift(seconds, period).event(event)["payload"]["it"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("2026-01-31T12:00:00Z", "2025-12-27T18:40:00Z"),
        ("2026-01-31T12:00:00.000001Z", "2025-12-27T18:40:00.000001Z"),
        ("2026-01-31 21:00:00,5+09:00", "2025-12-28 03:40:00,5+09:00"),
        ("2026-01-31t12:00:00.123456789z", "2025-12-27t18:40:00.123456789z"),
        ("2026-01-31T12:00:00", "2025-12-27T18:40:00"),
        (NOON, NOON - 3_000_000),
        (NOON + 0.25, NOON + 0.25 - 3_000_000),
        (NOON * 1000 + 7, (NOON - 3_000_000) * 1000 + 7),
        (NOON * 10**9 + 7, (NOON - 3_000_000) * 10**9 + 7),
        # Far from the run, no time at all, or text.
        ("2024-01-31T12:00:00Z", None),
        ("0001-01-01T00:00:00Z", None),
        ("9999-12-31T23:59:59Z", None),
        ("2026-01-31", None),
        ("2026-02-31T12:00:00Z", None),
        ("at 2026-01-31T12:00:00Z it ended", None),
        (1_700_000_000, None),
        (31, None),
        (True, None),
        ("1769860800", None),
    ],
)
def test_a_time_of_the_run_moves_in_its_own_form(before, after):
    expected = before if after is None else after
    out = moved(["2026-01-31T12:00:00Z"], [{"deep": before}])
    assert out == [{"deep": expected}] and type(out[0]["deep"]) is type(before)


def test_the_times_of_the_head_move_and_stand_ins_for_no_time_do_not():
    period = Period()
    for text in ("1970-01-01T00:00:00Z", "2026-01-31T12:00:00Z"):
        period.see(text)
    shift = Shift(86_400, period)
    head = {
        "captured_at": "2026-01-31T12:00:00Z",
        "published_at": "2027-01-01T00:00:00Z",
        "observed_on": "2026-01-31",
        "provenance": {"begun_at": "2026-01-31T11:00:00Z", "made": "2020-01-31T11:00:00Z"},
    }
    assert shift.head(head) == {
        "captured_at": "2026-01-30T12:00:00Z",
        "published_at": "2026-12-31T00:00:00Z",
        "observed_on": "2026-01-30",
        "provenance": {"begun_at": "2026-01-30T11:00:00Z", "made": "2020-01-31T11:00:00Z"},
    }
    for text in ("1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z"):
        assert shift.event({"occurred_at": text, "payload": {}})["occurred_at"] == text
    assert shift.head({"outcome": {}, "observed_on": "0001-01-01"})["observed_on"] == "0001-01-01"


@given(
    st.lists(st.datetimes(datetime(1992, 1, 1), datetime(2190, 1, 1)), min_size=1, max_size=5),
    st.integers(MIN_SHIFT, MAX_SHIFT),
)
def test_order_and_differences_are_kept(times, seconds):
    events = [{"occurred_at": f"{time.isoformat()}Z", "payload": {}} for time in times]
    shift = Shift(seconds, Period())
    out = [datetime.fromisoformat(shift.event(event)["occurred_at"][:-1]) for event in events]
    assert {int((a - b).total_seconds()) for a, b in zip(times, out, strict=True)} == {seconds}
    assert all(a.microsecond == b.microsecond for a, b in zip(times, out, strict=True))


def test_the_shift_follows_from_the_key_alone():
    shifts = {Publication(bytes([n]) * 32, Ids()).shift() for n in range(50)}
    assert len(shifts) == 50 and all(MIN_SHIFT <= one < MAX_SHIFT for one in shifts)
    assert Publication(bytes(32), Ids()).shift() == Publication(bytes(32), Ids()).shift()


@pytest.mark.parametrize(
    ("identifier", "tells"),
    [
        ("0190163d-8694-739b-aea5-966c26f8ad91", True),  # UUID of version 7
        ("6ba7b810-9dad-11d1-80b4-00c04fd430c8", True),  # and of version 1
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV", True),
        ("20260131_093000_ab12cd", True),
        ("20260131093000", True),
        ("run-2026-01-31", True),
        ("chat-1769860800123", True),
        ("3b241101-e2bb-4255-8caf-4136c566a962", False),
        ("call_abc123", False),
        ("s-1", False),
        ("a" * 64, False),
    ],
)
def test_ids_that_hold_a_time_are_known(identifier, tells):
    assert tells_time(identifier) is tells


def omitted(*names):
    return {"_content_omitted": sorted(names)}


def bare(value):
    """Return a value without the digests and sizes of what was left out."""
    if isinstance(value, dict):
        return {k: bare(v) for k, v in value.items() if not k.startswith("_omitted_payload")}
    return [bare(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            {"content": "x", "reasoning": {"status": "present", "text": "why", "signature": "c2ln"}},
            {"content": "x", "reasoning": {"status": "present", **omitted("signature", "text")}},
        ),
        (
            {"reasoning": {"status": "withheld", "encrypted_content": "gAAA"}},
            {"reasoning": {"status": "withheld", **omitted("encrypted_content")}},
        ),
        ({"reasoning": {"status": "unavailable"}}, None),
        ({"reasoning": None, "thinking": "", "reasoning_tokens": 7, "reasoning_effort": "high"}, None),
        ({"reasoning_content": "why", "content": "x"}, {"content": "x", **omitted("reasoning_content")}),
        (
            {"message": {"reasoningText": "why", "role": "assistant"}},
            {"message": {"role": "assistant", **omitted("reasoningText")}},
        ),
        (
            {"parts": [{"type": "thinking", "thinking": "why"}, {"type": "text", "text": "x"}]},
            {"parts": [{"type": "thinking", **omitted("thinking")}, {"type": "text", "text": "x"}]},
        ),
        (
            {"parts": [{"thought": True, "text": "why"}, {"thought": False, "text": "x"}]},
            {"parts": [{"thought": True, **omitted("text")}, {"thought": False, "text": "x"}]},
        ),
        (
            {"parts": [{"functionCall": {}, "thoughtSignature": "c2ln"}]},
            {"parts": [{"functionCall": {}, **omitted("thoughtSignature")}]},
        ),
        (
            {"operation": "assistant.reasoning", "record": {"content": "why"}, "status": "", "n": 1},
            {"operation": "assistant.reasoning", "status": "", "n": 1, **omitted("record")},
        ),
        ({"operation": "thinking_level_change", "record": {"level": "high"}}, None),
        ({"type": ["thinking"], "content": "x"}, None),
        (
            {"type": "thinking", "thinking": "why", "source": "x", "model": "m"},
            {"type": "thinking", "source": "x", "model": "m", **omitted("thinking")},
        ),
    ],
)
def test_reasoning_goes_and_what_is_known_of_it_stays(before, after):
    out = content.without_reasoning(before)
    if after is None:
        assert out is before
    else:
        assert bare(out) == after and has_issue(out)
        assert "why" not in json.dumps(out) and content.without_reasoning(out) is out


def test_a_body_goes_as_in_a_digest_export_and_only_once():
    payload = {"tool": "ls", "arguments": {"path": "a"}, "status": "", "_derived": {"turn_id": "r"}}
    out = content.without_body("tool.called", payload)
    assert out == digest_payload("tool.called", payload) and out["_content_omitted"] == ["arguments"]
    assert content.without_body("tool.called", out) is out
    assert content.without_body("usage.recorded", same := {"input_tokens": 1, "status": ""}) is same
    more = content.without_body("tool.called", {**out, "note": "added"})
    assert more["_content_omitted"] == ["arguments", "note"]
    assert more["_omitted_payload_sha256"] != out["_omitted_payload_sha256"]


PNG = "iVBORw0KGgo" + "AAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ" * 3 + "AAAA"
JPEG = "/9j/4AAQSkZJRgABAQEASABIAAD/" + "2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQE" * 3


@pytest.mark.parametrize(
    ("text", "picture"),
    [
        (PNG + "==", PNG + "=="),
        (f"see {JPEG}= here", JPEG + "="),
        (f"url(data:image/png;base64,{PNG}=)", f"data:image/png;base64,{PNG}="),
        ("data:application/x-any;name=a;base64,QUJD", "data:application/x-any;name=a;base64,QUJD"),
        ("<img src='data:image/svg+xml,%3Csvg%3E' alt=''>", "data:image/svg+xml,%3Csvg%3E"),
        ("AAAAHGZ0eXBoZWlj" + "AbCd" * 8, "AAAAHGZ0eXBoZWlj" + "AbCd" * 8),
        (r'{"data":"\/9j\/4AAQ' + "SkZJ" * 9 + '"}', r"\/9j\/4AAQ" + "SkZJ" * 9),
        (f"{PNG[:76]}\n{PNG[76:]}==\nthe end", f"{PNG[:76]}\n{PNG[76:]}=="),
        ("data:image/png;base64,", None),
        ("a path /9j/of/files and iVBORw0KGgo", None),
        ("data: 12,5; base64, of course", None),
        ("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo" * 9, None),
    ],
)
def test_pictures_are_found_in_texts(text, picture):
    assert [text[start:end] for start, end in content.pictures(text)] == ([picture] if picture else [])


@pytest.mark.parametrize(
    ("holder", "is_one"),
    [
        ({"media_type": "image/bmp", "data": "Qk0" + "A" * 40}, True),
        ({"media_type": "image/png", "data": "aGVsbG8="}, True),
        ({"media_type": "image/png", "data": "[REDACTED:image:1]"}, False),
        ({"type": "image", "mimeType": "x", "data": "Qk0" + "A" * 40}, True),
        ({"media_type": "audio/wav", "data": "Qk0" + "A" * 40}, False),
        ({"media_type": "image/png", "data": "see the file"}, False),
        ({"media_type": "image/png", "data": None}, False),
    ],
)
def test_data_that_is_called_a_picture_is_one(holder, is_one):
    assert content.is_picture(holder, "data") is is_one
    assert content.is_picture(holder, next(iter(holder))) is False


@pytest.mark.parametrize("hostile", ["data:", "data:image/", "/9j/", "<think>", "data:;base64,A\n", "\\/9j"])
def test_a_hostile_text_takes_linear_time(hostile):
    text = hostile * ((1 << 20) // len(hostile))
    begun = process_time()
    list(content.pictures(text))
    list(content.thoughts("message.assistant", text))
    assert process_time() - begun < 5  # a quadratic search would take hours


def test_thoughts_between_tags_are_found_where_the_model_speaks():
    text = "<think>why</think>so <thinking>open"
    assert [text[a:b] for a, b in content.thoughts("message.assistant", text)] == [
        "<think>why</think>",
        "<thinking>open",
    ]
    assert list(content.thoughts("message.user", text)) == []


def test_what_was_done_is_declared_once():
    on = Switches(shift=True, pseudonyms=True, plain=True)
    stated = content.declared({"review_state": "reviewed", "redactions": []}, {}, {"image": 2}, on)
    assert stated["redactions"] == [
        {"type": "content_transform", "class": "session_ids_pseudonymous"},
        {"type": "content_transform", "class": "timestamps_shifted"},
        {"type": "content_reduction", "class": "image", "count": 2},
    ]
    assert stated["digests"] == {"kind": "plain", "guessable": True}
    kept = {**stated, "redactions": stated["redactions"][2:]}
    assert content.declared(kept, stated, {}, on) == stated
    again = content.declared(kept, stated, {"image": 1, "reasoning": 4}, Switches())
    assert again["redactions"] == [
        *stated["redactions"][:2],
        {"type": "content_reduction", "class": "reasoning", "count": 4},
        {"type": "content_reduction", "class": "image", "count": 3},
    ]
    assert "digests" not in again
    foreign = {"redactions": ["x", {"type": "content_transform", "class": "anything"}]}
    assert content.declared({"redactions": []}, foreign, {}, Switches()) == {"redactions": []}
