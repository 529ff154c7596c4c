"""The guessing attack: does anything beside a placeholder confirm what stood there?

The attacker has the published file and all of the private text but one number of eight digits, of which the
last three are tried here. Each channel is a value that a recorder or an export computes from private text.
"""

import json
import re

import pytest

from geode_traj.contract.ids import fit, foreign_event_id, legacy_event_id
from geode_traj.scan.rules import Rule, Ruleset, packaged
from tests.review.conftest import compact, redact_trajectory, sha256

SECRET = "40713" + "582"
SPACE = [f"40713{n:03}" for n in range(1000)]
MEMBER = Rule(
    id="member_number",
    cls="member",
    pattern=rb"member no\. ([0-9]{8})",
    trigger=rb"member no\. [0-9]{8}",
    examples=(),
    profiles=("publish",),
)
RULES = Ruleset((*packaged().rules, MEMBER))


def body(number):
    return {"content": f"I am member no. {number}, please help"}


def line(number):
    return compact({"event": "user_message", "session_id": "s-1", "text": body(number)["content"], "ts": 1.0})


def line_sha256(number):
    return sha256(line(number))


def body_sha256(number):
    return sha256(compact(body(number)))


def status(number):
    return fit(f"failed for an unknown reason for member no. {number}", 32)


def session(number):
    return fit("run " * 64 + f"member no. {number}", 256)


def hooks(number):
    return f"hook-events-sha256:{body_sha256(number)}"


# channel -> (what the private export holds of a number, the same as it stands in an event or a head)
CHANNELS = {
    "event id": (lambda n: legacy_event_id("s-1", 3, line_sha256(n)), "id"),
    "foreign event id": (lambda n: foreign_event_id("claude", "s-1", "3", 0, line_sha256(n)), "id"),
    "dated event id": (lambda n: body_sha256(n)[:32], "id"),
    "parent id": (lambda n: legacy_event_id("s-1", 2, line_sha256(n)), "parent"),
    "quoted event id": (lambda n: legacy_event_id("s-1", 3, line_sha256(n)), "quoted"),
    "payload hash": (body_sha256, "source_payload_hash"),
    "truncated marker": (body_sha256, {"_truncated": True, "keys": ["content"], "payload_hash": None}),
    "candidate": (body_sha256, {"candidate_sha256": None, "candidate_bytes": 38}),
    "omitted body": (body_sha256, {"_content_omitted": ["content"], "_omitted_payload_sha256": None}),
    "source digest": (line_sha256, {"_legacy": {"event": "user_message", "source_digest": None}}),
    "blob": (body_sha256, {"_blobs": [{"pointer": "", "sha256": None}]}),
    "cut column": (lambda n: status(n)[-16:], "status"),
    "cut session": (lambda n: session(n)[-16:], "session"),
    "hook events": (body_sha256, "hooks"),
    "legacy reference": (lambda n: body_sha256(n)[:16], "legacy"),
}


def filled(value, digest):
    if isinstance(value, dict):
        return {key: filled(item, digest) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, digest) for item in value]
    return digest if value is None else value


def export(build, channel, number):
    """An export as the recorder and the store make it, the message itself in clear."""
    compute, place = CHANNELS[channel]
    found = compute(number)
    message = build.event(body(number), id="plain-event")
    head = {}
    if place == "id":
        message["event_id"] = found
    elif place == "parent":
        message["payload"]["parent_event_id"] = found
    elif place == "source_payload_hash":
        assert message["payload"]["source_payload_hash"] == found
    elif place == "session":
        message["session_id"] = session(number)
        head = {
            "trajectory_id": f"geode-session-{session(number)}",
            "source": {
                "harness": "geode",
                "run": session(number),
                "session": session(number),
                "parents": None,
            },
        }
    elif place == "status":
        message["payload"]["status"] = status(number)
    elif isinstance(place, dict):
        message["payload"].update(filled(place, found))
    if place != "source_payload_hash":
        message["payload"]["source_payload_hash"] = "0" * 64
    events = [message]
    if place == "quoted":
        message["event_id"] = found
        events.append(build.event({"content": f"as said in {found}, above"}))
        events[1]["payload"]["source_payload_hash"] = "0" * 64
    reference = {"kind": "legacy", "schema_id": "x", "authority": "y"}
    if place == "hooks":
        head["runtime_event_refs"] = [{**reference, "reference": hooks(number), "sha256": found}]
    elif place == "legacy":
        head["evidence_refs"] = [{**reference, "reference": f"legacy-1-{found}"}]
    return build.doc(events, **head)


def confirmed(text, channel):
    """Return the numbers that the file confirms."""
    compute, _ = CHANNELS[channel]
    return [number for number in SPACE if compute(number) in text]


@pytest.mark.parametrize("channel", sorted(CHANNELS))
def test_nothing_published_confirms_a_guess(build, channel):
    candidate = build.write(export(build, channel, SECRET))
    # Replacing the value alone is not enough: the attack works on that.
    naive = candidate.read_text("utf-8").replace(SECRET, "[REDACTED:member:1]")
    assert confirmed(naive, channel) == [SECRET]

    out = build.folder / "out.json"
    redact_trajectory(candidate, out, key=build.key, ruleset=RULES)
    text = out.read_text("utf-8")
    assert "member no. [REDACTED:member:1], please" in text
    assert confirmed(text, channel) == []


def test_two_numbers_differ_only_by_keyed_digits(build):
    """Published forms of different secrets differ only in what nobody can compute without the key."""

    def form(number, key):
        channels = sorted(CHANNELS.keys() - {"quoted event id"})  # its id is that of another channel
        events = [export(build, channel, number)["events"][0] for channel in channels]
        for ordinal, event in enumerate(events):
            event["event_id"] += f"{ordinal}" if event["event_id"] == "plain-event" else ""
        out = build.folder / "out.json"
        out.unlink(missing_ok=True)
        redact_trajectory(build.write(build.doc(events)), out, key=key, ruleset=RULES)
        return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{16,64}", "KEYED", out.read_text("utf-8"))

    assert form(SECRET, build.key) == form(SPACE[0], build.key) == form(SECRET, build.key[::-1])


def test_the_key_is_what_protects(build):
    """With the key the mapping can be repeated: the same file, the same ids."""
    outs = [build.folder / f"{n}.json" for n in range(3)]
    candidate = build.write(export(build, "event id", SECRET))
    for out, key in zip(outs, (build.key, build.key, build.key[::-1]), strict=True):
        redact_trajectory(candidate, out, key=key, ruleset=RULES)
    ids = [json.loads(out.read_bytes())["events"][0]["event_id"] for out in outs]
    assert ids[0] == ids[1] != ids[2]
