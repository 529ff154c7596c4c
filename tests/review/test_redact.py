import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.errors import DataError, WorldError
from tests.reference.trajectory import check_trajectory
from tests.review.conftest import redact_trajectory
from tests.support.secrets import core, make


def published(build, doc, **options):
    out = build.folder / "out.json"
    out.unlink(missing_ok=True)
    redacted = redact_trajectory(build.write(doc), out, key=build.key, **options)
    text = out.read_text("utf-8")
    value = json.loads(text)
    assert check_trajectory(value) == []
    return value, text, redacted


def payloads(value):
    return [event["payload"] for event in value["events"]]


def test_redacts_every_string_and_key(build):
    token = make("github_token")
    places = {
        "content": f"use {token} now",
        "arguments": {token: [{"deep": {"er": token}}]},
        "model": token,
    }
    value, text, redacted = published(
        build,
        build.doc(
            [build.event(places)],
            outcome={"scored": False, "note": f"with {token}"},
            provenance={token: "x"},
            artifact_digests=[{"path": f"{token}.bin", "sha256": "0" * 64}],
        ),
    )
    assert token not in text
    (payload,) = payloads(value)
    assert payload["content"] == "use [REDACTED:github_token:1] now"
    assert payload["arguments"] == {
        "[REDACTED:github_token:1]": [{"deep": {"er": "[REDACTED:github_token:1]"}}]
    }
    assert redacted.redactions == {"github_token": 7} and redacted.approved == {}
    assert value["integrity"]["value_redactions"] == {"github_token": 4}
    assert value["privacy"]["review_state"] == "reviewed"
    assert {"type": "value_redaction", "class": "github_token", "count": 4} in value["privacy"]["redactions"]
    assert {"type": "head_redaction", "class": "github_token", "count": 3} in value["privacy"]["redactions"]


def test_positions_are_in_the_redacted_text(build):
    token, address = make("github_token"), make("email")
    content = f"{address} and {token}, again {address}"
    value, _, _ = published(build, build.doc([build.event({"content": content, token: 1})]))
    (payload,) = payloads(value)
    for entry in payload["_redactions"]:
        text = entry["pointer"][1:] if entry.get("in_key") else payload[entry["pointer"][1:]]
        assert text[entry["start"] : entry["end"]] == f"[REDACTED:{entry['class']}:{entry['n']}]"
    assert len(payload["_redactions"]) == 4
    assert payload["content"].count("[REDACTED:email:1]") == 2


def test_same_value_same_placeholder_and_a_typed_one_stays(build):
    key = make("gitlab_token")
    typed = "I typed [REDACTED] and [REDACTED:gitlab_token:1] myself"
    events = [build.event({"content": text}) for text in (typed, f"a {key}", f"b {key}")]
    value, _, _ = published(build, build.doc(events))
    first, second, third = payloads(value)
    assert first["content"] == typed and "_redactions" not in first
    assert second["content"] == "a [REDACTED:gitlab_token:1]"
    assert third["content"] == "b [REDACTED:gitlab_token:1]"


def imported(pointer, text, cls, n, content, **more):
    start = content.index(text)
    entry = {"pointer": pointer, "start": start, "end": start + len(text), "rule": cls, "class": cls, "n": n}
    return {**entry, **more}


def test_import_placeholders_are_renumbered_and_moved(build):
    old7, old3 = "[REDACTED:github_token:7]", "[REDACTED:github_token:3]"
    content = f"{make('email')} gave {old7}; typed {old3}"
    other = {
        "content": f"{old3} then {old7}",
        "_redactions": [
            imported("/content", old3, "github_token", 3, f"{old3} then {old7}"),
            imported("/content", old7, "github_token", 7, f"{old3} then {old7}"),
        ],
    }
    first = {"content": content, "_redactions": [imported("/content", old7, "github_token", 7, content)]}
    value, _, redacted = published(build, build.doc([build.event(first), build.event(other)]))
    one, two = payloads(value)
    assert one["content"] == f"[REDACTED:email:1] gave [REDACTED:github_token:1]; typed {old3}"
    assert two["content"] == "[REDACTED:github_token:2] then [REDACTED:github_token:1]"
    assert [(e["class"], e["n"]) for e in one["_redactions"]] == [("email", 1), ("github_token", 1)]
    for payload in (one, two):
        for entry in payload["_redactions"]:
            found = payload["content"][entry["start"] : entry["end"]]
            assert found == f"[REDACTED:{entry['class']}:{entry['n']}]"
    assert redacted.redactions == {"email": 1, "github_token": 3}


def test_import_redactions_in_keys_homes_and_sensitive_fields_stay_listed(build):
    mark = "[REDACTED:jwt:5]"
    path = f"{make('email')} in {'/ho' + 'me/'}REDACTED/notes"
    payload = {
        "arguments": {mark: {"inner": mark}, "password": "<REDACTED>"},
        "content": path,
        "_redactions": [
            imported("/arguments/" + mark, mark, "jwt", 5, mark, in_key=True),
            imported(f"/arguments/{mark}/inner", mark, "jwt", 5, mark),
            imported("/arguments/password", "<REDACTED>", "sensitive_field", 0, "<REDACTED>"),
            imported("/content", "REDACTED", "absolute_home", 0, path),
        ],
    }
    value, _, _ = published(build, build.doc([build.event(payload)]))
    (after,) = payloads(value)
    assert after["arguments"] == {"[REDACTED:jwt:1]": {"inner": "[REDACTED:jwt:1]"}, "password": "<REDACTED>"}
    assert after["content"] == f"[REDACTED:email:1] in {'/ho' + 'me/'}REDACTED/notes"
    listed = {(e["pointer"], e["class"], e["n"], e.get("in_key", False)) for e in after["_redactions"]}
    assert listed == {
        ("/arguments/[REDACTED:jwt:1]", "jwt", 1, True),
        ("/arguments/[REDACTED:jwt:1]/inner", "jwt", 1, False),
        ("/arguments/password", "sensitive_field", 0, False),
        ("/content", "email", 1, False),
        ("/content", "absolute_home", 0, False),
    }


@pytest.mark.parametrize(
    "entry",
    [
        "text",
        {},
        {"pointer": "/content", "start": 0, "end": 999, "rule": "jwt", "class": "jwt", "n": 1},
        {"pointer": "/content", "start": 0, "end": 4, "rule": "jwt", "class": "jwt", "n": 1},
        {"pointer": "/nowhere/0", "start": 0, "end": 4, "rule": "jwt", "class": "jwt", "n": 1},
        {"pointer": "/content", "start": True, "end": 4, "rule": "jwt", "class": "jwt", "n": 1},
        {"pointer": 3, "start": 0, "end": 4, "rule": None, "class": [], "n": {}},
    ],
)
def test_a_false_listing_is_not_repeated(build, entry):
    event = build.event({"content": "plain text", "_redactions": [entry]})
    value, _, redacted = published(build, build.doc([event]))
    assert "_redactions" not in payloads(value)[0]
    assert redacted.redactions == {}


def test_an_id_with_a_finding_changes_everywhere_at_once(build):
    session = make("email")
    turn = "turn " + make("github_token")
    events = [
        build.event({"content": "a", "child_session_key": session}, session_id=session, turn_id=turn),
        build.event(
            {"tool": "t", "arguments": {}}, kind="tool.called", session_id=session, turn_id=turn, call_id="c"
        ),
        build.event(
            {"tool": "t", "summary": ""}, kind="tool.completed", session_id=session, turn_id=turn, call_id="c"
        ),
    ]
    doc = build.doc(
        events,
        {"scope_complete": False, "scope_incompleteness": [f"session {session} has no terminal event"]},
        trajectory_id=f"geode-session-{session}",
        source={"harness": "geode", "run": session, "session": session, "parents": [session]},
        runtime_event_refs=[
            {
                "kind": "runtime_event",
                "schema_id": "geode.hook-event@3",
                "authority": "store",
                "reference": "hook-events-sha256:" + "ab" * 32,
                "sha256": "ab" * 32,
                "session_id": session,
            }
        ],
    )
    value, text, redacted = published(build, doc)
    assert session not in text and make("github_token") not in text
    (new,) = {event["session_id"] for event in value["events"]}
    assert value["trajectory_id"] == redacted.trajectory_id == f"geode-session-{new}"
    assert value["source"] == {"harness": "geode", "run": new, "session": new, "parents": [new]}
    assert value["runtime_event_refs"][0]["session_id"] == new
    assert value["integrity"]["scope_incompleteness"] == [f"session {new} has no terminal event"]
    assert payloads(value)[0]["child_session_key"] == new
    assert len({event["turn_id"] for event in value["events"]}) == 1
    assert value["integrity"]["quality"]["tool_pairing"]["paired"] == 1


def test_integrity_is_counted_anew_and_declared_reasons_stay(build):
    events = [
        build.event(
            {"tool": "t", "arguments": {"password": "hunter2hunter2"}}, kind="tool.called", call_id="c"
        ),
        build.event({"content": "long…[truncated:5]"}),
    ]
    doc = build.doc(
        events,
        {
            "scope_complete": False,
            "replay_complete": False,
            "scope_incompleteness": ["2 source line(s) damaged"],
            "replay_incompleteness": ["recorded without seeds"],
            "derived": {},
            "damaged_lines": 2,
            "fidelity": "reduced by the recorder",
        },
        privacy={"review_state": "local", "policy": "own"},
    )
    assert doc["integrity"]["quality"]["payload_issue_events"] == 1
    value, _, _ = published(build, doc)
    integrity = value["integrity"]
    assert integrity["scope_incompleteness"] == ["2 source line(s) damaged", "1 tool call(s) lack a result"]
    assert integrity["replay_incompleteness"] == [
        "recorded without seeds",
        "2 event payload(s) are truncated, corrupt, or omitted",
        "declared fidelity limits replay: reduced by the recorder",
    ]
    assert integrity["damaged_lines"] == 2 and integrity["derived"] == {}
    assert value["privacy"]["policy"] == "own"


def test_a_pointer_that_reads_as_a_home_path_is_a_list_of_keys(build):
    home = {"url": make("url_credentials"), "other": 1}
    doc = build.doc([build.event({"arguments": {"home": home}})], provenance={"home": home})
    value, _, _ = published(build, doc)
    (entry,) = payloads(value)[0]["_redactions"]
    assert entry["pointer"] == ["arguments", "home", "url"]
    assert value["privacy"]["_redactions"][0]["pointer"] == ["provenance", "home", "url"]
    again, _, redacted = published(build, value)
    assert redacted.approved == {} and payloads(again)[0]["_redactions"] == [entry]


def test_removed_bodies_are_declared(build):
    event = build.event({"_content_omitted": ["content"], "_omitted_payload_sha256": "0" * 64})
    value, _, _ = published(build, build.doc([event]))
    assert value["privacy"]["redactions"] == [
        {"type": "content_reduction", "class": "omitted_body", "count": 1}
    ]
    assert "privacy policy declares content reduction" in value["integrity"]["replay_incompleteness"]


def test_what_other_engines_find_refuses_and_leaves_nothing(build):
    out = build.folder / "out.json"
    candidate = build.write(build.doc([build.event({"content": "a strange-word"})]))

    def engine(text):
        return ["strange"] * text.count("strange-word")

    with pytest.raises(DataError) as refused:
        redact_trajectory(candidate, out, key=build.key, engines=[engine])
    assert refused.value.code == "TE308" and refused.value.message == "the scan still finds strange (1)"
    assert [path.name for path in build.folder.iterdir()] == ["one.json"]


def test_refuses_an_invalid_candidate_and_an_existing_output(build):
    doc = build.doc([build.event()])
    doc["integrity"]["record_count"] = 7
    with pytest.raises(DataError) as refused:
        published(build, doc)
    assert refused.value.code == "TE303" and "GT701" in refused.value.message
    build.write(build.doc([build.event()]))
    (build.folder / "there.json").write_text("mine")
    with pytest.raises(WorldError) as exists:
        redact_trajectory(build.folder / "one.json", build.folder / "there.json", key=build.key)
    assert exists.value.code == "TE601" and (build.folder / "there.json").read_text() == "mine"


def test_same_bytes_again_and_for_any_layout(build):
    doc = build.doc([build.event({"content": make("email")}), build.event({"z": 1, "a": make("jwt")})])
    _, first, _ = published(build, doc)
    _, second, _ = published(build, doc)
    out = build.folder / "whole-out.json"
    redact_trajectory(build.write(doc, "whole.json", framed=False), out, key=build.key)
    assert first == second == out.read_text("utf-8")


def test_reviewing_a_published_form_again_finds_nothing_new(build):
    token = make("github_token")
    doc = build.doc([build.event({"content": token + " " + make("email")})], provenance={"note": token})
    value, _, _ = published(build, doc)
    again, _, redacted = published(build, value)
    assert redacted.approved == {}
    assert [p["content"] for p in payloads(again)] == [p["content"] for p in payloads(value)]
    assert again["privacy"] == value["privacy"]


WORDS = st.sampled_from(
    [
        "plain",
        " ",
        "\n",
        "@",
        "\\n",
        " é ",
        "[REDACTED:email:1]",
        "/ho" + "me/REDACTED/",
        "password: ",
        make("email"),
        make("github_token"),
        make("home_path_linux"),
        make("url_credentials"),
        make("private_key_pem"),
    ]
)
TEXTS = st.lists(WORDS, max_size=6).map("".join)
VALUES = st.recursive(
    st.one_of(TEXTS, st.integers(), st.none()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def module_build(tmp_path_factory):
    from tests.review.conftest import Build

    return Build(tmp_path_factory.mktemp("given"))


@given(st.lists(st.dictionaries(TEXTS, VALUES, max_size=3), min_size=1, max_size=3))
def test_any_payload_is_published_clean_listed_and_whole(module_build, bodies):
    doc = module_build.doc([module_build.event({**body, "content": "x"}) for body in bodies])
    value, text, redacted = published(module_build, doc)
    for kind in ("email", "github_token", "url_credentials"):
        assert core(kind) not in text
    listed = [entry for payload in payloads(value) for entry in payload.get("_redactions", [])]
    assert sum(redacted.redactions.values()) == len(listed)
    for payload in payloads(value):
        for entry in payload.get("_redactions", []):
            standing = _at(payload, entry)[entry["start"] : entry["end"]]
            assert standing in (f"[REDACTED:{entry['class']}:{entry['n']}]", "REDACTED", "<REDACTED>")


def _at(payload, entry):
    steps = entry["pointer"]
    if isinstance(steps, str):
        steps = [step.replace("~1", "/").replace("~0", "~") for step in steps.split("/")[1:]]
    value = payload
    for step in steps[:-1]:
        value = value[int(step)] if isinstance(value, list) else value[step]
    if entry.get("in_key"):
        assert steps[-1] in value
        return steps[-1]
    return value[int(steps[-1])] if isinstance(value, list) else value[steps[-1]]
