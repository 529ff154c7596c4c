import hashlib
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.contract.ids import fit, legacy_event_id, uuid5_url
from geode_traj.contract.publish import Ids, Publication, seal
from geode_traj.errors import DataError

KEY = bytes(range(32))
UUID = uuid5_url("one")
HEX64 = hashlib.sha256(b"body").hexdigest()


def event(event_id, payload=None, source="legacy_jsonl", **fields):
    return {
        "event_id": event_id,
        "ordinal": 1,
        "occurred_at": "2026-01-31T09:30:00Z",
        "kind": "message.user",
        "actor": "user",
        "session_id": "s",
        "turn_id": "t",
        "call_id": "",
        "payload": {"source": source, "parent_event_id": None, **(payload or {})},
        **fields,
    }


def publish(*events, key=KEY, hidden=()):
    ids = Ids()
    for item in events:
        ids.see(item)
    for item in hidden:
        ids.hide(item)
    publication = Publication(key, ids)
    return [publication.event(item) for item in events]


@pytest.mark.parametrize(
    ("event_id", "shape"),
    [
        (UUID, r"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"),
        (HEX64[:32], r"[0-9a-f]{32}"),
        (HEX64, r"[0-9a-f]{64}"),
        ("evt-1", r"[0-9a-f]{32}"),
        (UUID.upper(), r"[0-9a-f]{32}"),
    ],
)
def test_an_event_id_is_mapped_and_keeps_its_shape(event_id, shape):
    (out,) = publish(event(event_id))
    assert out["event_id"] != event_id
    assert re.fullmatch(shape, out["event_id"])
    assert publish(event(event_id)) == [out]
    assert publish(event(event_id), key=KEY[::-1])[0]["event_id"] != out["event_id"]


def test_a_parent_goes_the_way_of_the_event_it_names():
    derived, runtime, unseen = uuid5_url("derived"), uuid5_url("runtime"), uuid5_url("unseen")
    kept = lambda parent: event(uuid5_url("a" + parent), {"parent_event_id": parent}, "runtime")  # noqa: E731
    mapped = lambda parent: event(uuid5_url("b" + parent), {"parent_event_id": parent})  # noqa: E731
    parents = (derived, runtime, unseen)
    out = publish(
        event(derived), event(runtime, source="runtime"), *map(kept, parents), *map(mapped, parents)
    )
    new = out[0]["event_id"]
    assert new != derived and out[1]["event_id"] == runtime
    assert [item["payload"]["parent_event_id"] for item in out[2:5]] == [new, runtime, unseen]
    by_mapped = [item["payload"]["parent_event_id"] for item in out[5:]]
    assert by_mapped[:2] == [new, runtime] and by_mapped[2] not in (unseen, None)


def test_event_ids_are_mapped_wherever_they_stand():
    named = "event-of-importance-0001"
    payload = {
        "content": f"see {UUID}, {HEX64[:32]}.",
        UUID: [named, "event-of-importance-0001 inside text"],
        "_displaced": {"parent_event_id": "short"},
    }
    out = publish(event(UUID), event(HEX64[:32]), event(named), event("short"), event("last", payload))
    new, new_hex, new_named, new_short = (item["event_id"] for item in out[:4])
    after = out[4]["payload"]
    assert after["content"] == f"see {new}, {new_hex}."
    assert after[new] == [new_named, "event-of-importance-0001 inside text"]
    assert after["_displaced"]["parent_event_id"] == new_short
    head = Publication(KEY, Ids()).head({"provenance": {"note": UUID}})
    assert head == {"provenance": {"note": UUID}}  # no event of this publication


def test_private_digests_become_keyed_ones_and_lengths_go():
    payload = {
        "_truncated": True,
        "original_bytes": 300_000,
        "keys": ["a"],
        "payload_hash": HEX64,
        "_blobs": [{"pointer": "", "sha256": HEX64, "bytes": 7, "media_type": "application/json"}],
        "candidate_sha256": HEX64,
        "candidate_bytes": 9,
        "_omitted_payload_sha256": HEX64,
        "_omitted_payload_bytes": 11,
        "arguments": [{"_omitted_type": "bytes", "size": 12}, {"size": 12}, {"original_bytes": 5}],
        "references": [{"reference": f"hook-events-sha256:{HEX64}", "sha256": HEX64, "record_count": 3}],
        "_displaced": {"source_payload_hash": HEX64},
        "_legacy": {
            "event": "user_message",
            "line_number": 3,
            "source_digest": HEX64,
            "source_path": "notes.jsonl",
            "timestamp_invalid": True,
            "fields": {"seq": 1},
        },
    }
    (out,) = publish(event("e", payload))
    after = out["payload"]
    keyed = after["payload_hash"]
    assert HEX64 not in json.dumps(out) and re.fullmatch("[0-9a-f]{64}", keyed)
    assert after == {
        "source": "legacy_jsonl",
        "parent_event_id": None,
        "_truncated": True,
        "keys": ["a"],
        "payload_hash": keyed,
        "candidate_sha256": keyed,
        "_omitted_payload_sha256": keyed,
        "arguments": [{"_omitted_type": "bytes"}, {"size": 12}, {"original_bytes": 5}],
        "references": [{"reference": f"hook-events-sha256:{keyed}", "sha256": keyed, "record_count": 3}],
        "_displaced": {"source_payload_hash": keyed},
        "_legacy": {"event": "user_message", "line_number": 3},
    }


def test_digests_at_the_end_of_cut_columns_are_made_anew():
    long = {name: "x" * 300 + name for name in ("turn_id", "model", "status")}
    turn, model, status = fit(long["turn_id"], 256), fit(long["model"], 256), fit(long["status"], 32)
    one, two = publish(
        event("a", {"model": model, "status": status, "root_turn_id": turn}, turn_id=turn),
        event("b", {"model": "x:" + "0" * 16}, turn_id=turn),
    )
    for old, new in (
        (turn, one["turn_id"]),
        (model, one["payload"]["model"]),
        (status, one["payload"]["status"]),
    ):
        assert new != old and new[:-16] == old[:-16] and len(new) == len(old)
    assert one["turn_id"] == two["turn_id"] == one["payload"]["root_turn_id"]
    assert two["payload"]["model"] == "x:" + "0" * 16  # shorter than the bound: nothing was cut


def test_a_cut_id_is_made_anew_once_and_everywhere():
    session = fit("s" * 300, 256)
    given = event("e", {"content": f"in {session}, see {session}0", session: [session]}, session_id=session)
    ids = Ids()
    ids.see(given)
    ids.column("session_id", fit("p" * 300, 256))
    publication = Publication(KEY, ids)
    new = publication.event(given)["session_id"]
    assert new != session and new[:-16] == session[:-16] and len(new) == 256
    head = {
        "trajectory_id": f"geode-session-{session}",
        "source": {"session": session, "run": session, "parents": [fit("p" * 300, 256)]},
        "evidence_refs": [{"session_id": session}],
        "integrity": {"scope_incompleteness": [f"session {session} has no terminal event"]},
    }
    text = json.dumps([publication.event(given), publication.head(head)])
    assert session[-16:] not in text and fit("p" * 300, 256)[-16:] not in text
    assert text.count(new) == 10


def test_hidden_ids_change_in_the_texts_made_of_them():
    ids = Ids()
    ids.hide("secret session")
    publication = Publication(KEY, ids)
    new = publication.identifier("secret session")
    head = {
        "trajectory_id": "geode-session-secret session",
        "source": {"session": "secret session"},
        "integrity": {"scope_incompleteness": ["session secret session has no terminal event", "other"]},
    }
    assert publication.head(head) == {
        "trajectory_id": f"geode-session-{new}",
        "source": {"session": new},
        "integrity": {"scope_incompleteness": [f"session {new} has no terminal event", "other"]},
    }


def test_a_private_id_of_the_runtime_is_hidden_in_its_children_too():
    child = event("child", {"parent_event_id": "a@b"}, "runtime")
    parent, child = publish(event("a@b", source="runtime"), child, hidden=["a@b"])
    assert parent["event_id"] == child["payload"]["parent_event_id"] != "a@b"


def test_a_private_derived_id_is_mapped_like_any_other():
    assert publish(event("a@b"), hidden=["a@b"]) == publish(event("a@b"))


def test_a_short_key_is_refused():
    with pytest.raises(DataError) as refused:
        Publication(KEY[:31], Ids())
    assert refused.value.code == "TE311"


def test_references_named_by_a_digest_are_named_anew():
    head = {"evidence_refs": [{"reference": "legacy-2-0123456789abcdef"}, {"reference": f"sha256:{HEX64}"}]}
    first, second = Publication(KEY, Ids()).head(head)["evidence_refs"]
    assert re.fullmatch("legacy-2-[0-9a-f]{16}", first["reference"])
    assert first["reference"] != "legacy-2-0123456789abcdef"
    assert second["reference"] == f"sha256:{HEX64}"  # a file that a release compares


def test_seal_is_a_digest_of_what_is_published():
    payload = {"content": "é", "model": "m", "parent_event_id": None, "source_payload_hash": "", "status": ""}
    seal(payload)
    assert payload["source_payload_hash"] == hashlib.sha256('{"content":"é"}'.encode()).hexdigest()
    bare = {"content": ""}
    seal(bare)
    assert bare == {"content": ""}


TEXTS = st.text("aZ9 é\n/~:@", max_size=8)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS | st.floats(allow_nan=False, width=32),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(TEXTS, PLAIN, max_size=4))
def test_nothing_else_changes(payload):
    before = json.dumps(payload)
    (out,) = publish(event(legacy_event_id("s", 1, HEX64), payload))
    assert {**payload, "source": payload.get("source", "legacy_jsonl")}.items() <= out["payload"].items()
    assert json.dumps(payload) == before


@given(st.lists(st.text(min_size=1, max_size=40), unique=True, max_size=8))
def test_different_ids_stay_different(ids):
    out = publish(*map(event, ids))
    assert len({item["event_id"] for item in out}) == len(ids)
