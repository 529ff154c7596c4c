from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.reference import geode
from tests.reference.legacy import arguments_of, lines_of
from tests.reference.payload import bounded, column

START = 1_750_000_000


def event(kind: str, ordinal: int, turn: str = "t1", call: str = "", **payload: object) -> dict:
    return {
        "event_id": f"e{ordinal}",
        "ordinal": ordinal,
        "occurred_at": geode.iso(START + ordinal),
        "kind": kind,
        "actor": "agent",
        "session_id": "s1",
        "turn_id": turn,
        "call_id": call,
        "payload": payload,
    }


def trajectory(events: list[dict], trajectory_id: str = "demo", **privacy: object) -> dict:
    doc: dict = {
        "schema_id": "geode.trajectory@1",
        "schema_version": 1,
        "trajectory_id": trajectory_id,
        "captured_at": "2025-06-15T15:06:40Z",
        "source": {"harness": "geode", "session": "s1", "parents": None},
        "events": events,
        "outcome": {"scored": False},
        "integrity": {},
        "privacy": privacy or {"review_state": "reviewed"},
        "provenance": {},
    }
    doc["integrity"] = {
        "record_count": len(events),
        "quality": geode.quality(events),
        **geode.completeness(doc),
    }
    return doc


PLAIN = [
    event("session.started", 1, turn=""),
    event("message.user", 2, content="hi"),
    event("tool.called", 3, call="c1", tool="ls", arguments={}),
    event("tool.completed", 4, call="c1", tool="ls", summary="2"),
    event("session.ended", 5, turn=""),
]


def test_quality_counts_presence_over_all_events() -> None:
    assert geode.quality(PLAIN) == {
        "event_id_unique": True,
        "ordinal_contiguous": True,
        "correlation": {
            "session_id_present": 5,
            "turn_id_present": 3,
            "turn_id_required": 3,
            "turn_id_missing": 0,
            "tool_call_id_present": 2,
            "event_count": 5,
        },
        "tool_pairing": {
            "calls": 1,
            "results": 1,
            "paired": 1,
            "orphan_calls": 0,
            "orphan_results": 0,
            "missing_call_ids": 0,
        },
        "payload_issue_events": 0,
        "replay_fidelity": "full",
    }


@pytest.mark.parametrize(
    ("tools", "pairing"),
    [
        ([("tool.called", "t1", "c"), ("tool.completed", "t2", "c")], (0, 1, 1, 0)),  # the turn is in the key
        ([("tool.completed", "t1", "c"), ("tool.called", "t1", "c")], (0, 1, 1, 0)),  # and so is the order
        ([("tool_call", "t1", "c"), ("tool_result", "t1", "c")] * 2, (2, 0, 0, 0)),  # an id may come again
        ([("tool.called", "t1", ""), ("tool.completed", "t1", "")], (0, 0, 0, 2)),  # no id pairs with nothing
    ],
)
def test_pairing(tools: list[tuple[str, str, str]], pairing: tuple[int, ...]) -> None:
    events = [event(kind, n, turn, call) for n, (kind, turn, call) in enumerate(tools, start=1)]
    found = geode.quality(events)["tool_pairing"]
    assert (
        tuple(found[k] for k in ("paired", "orphan_calls", "orphan_results", "missing_call_ids")) == pairing
    )


@pytest.mark.parametrize(
    ("payload", "issue"),
    [
        ({"a": [{"_truncated": False}]}, True),
        ({"a": "cut…[truncated:9]"}, True),
        ({"token": "<REDACTED>"}, True),
        ({"a": ["[REDACTED]"]}, True),
        ({"a": "say [REDACTED] here"}, False),
        ({"a": "[REDACTED:email:1]"}, False),
        ({"[REDACTED]": 1, "_legacy": {}, "_derived": {}, "_redacted_fields": []}, False),
    ],
)
def test_payload_issue(payload: dict, issue: bool) -> None:
    assert geode.quality([event("message.user", 1, **payload)])["payload_issue_events"] == int(issue)


def test_reasons_stand_in_the_contract_order_without_repeats() -> None:
    events = [
        event("message.user", 1, turn=""),
        event("tool.called", 2, call=""),
        event("tool.called", 3, call="a"),
        event("tool.completed", 4, call="b", summary="[REDACTED]"),
    ]
    doc = trajectory(events, review_state="local", redactions=[{"type": "content_reduction"}])
    declared = {"scope_incompleteness": ["mine", "1 tool call(s) lack a result"], "scope_complete": False}
    doc["integrity"] = {**declared, "fidelity": "Bodies EXCLUDED", "replay_complete": False}
    found = geode.completeness(doc)
    assert found["scope_incompleteness"] == [
        "mine",
        "1 tool call(s) lack a result",
        "1 tool event(s) lack call_id",
        "1 turn-scoped event(s) lack turn_id",
        "1 tool result(s) lack a call",
    ]
    assert found["replay_incompleteness"] == [
        "producer declared trajectory replay incomplete",
        "1 event payload(s) are truncated, corrupt, or omitted",
        "privacy policy declares content reduction",
        "declared fidelity limits replay: Bodies EXCLUDED",
    ]
    assert found["incompleteness"] == found["scope_incompleteness"] + found["replay_incompleteness"]
    assert (found["scope_complete"], found["replay_complete"], found["complete"]) == (False, False, False)


def test_no_events() -> None:
    assert geode.completeness(trajectory([]))["scope_incompleteness"] == ["trajectory contains no events"]


def test_check_passes_its_own_claims_and_names_each_false_one() -> None:
    assert geode.check_trajectory(trajectory(PLAIN)) == []
    for key, lie in [("record_count", 4), ("complete", False), ("incompleteness", ["x"]), ("quality", {})]:
        doc = trajectory(PLAIN)
        doc["integrity"][key] = lie
        assert geode.check_trajectory(doc) == [f"/integrity/{key}: false claim"]


def test_a_producer_may_declare_more_never_less() -> None:
    doc = trajectory(PLAIN)
    doc["integrity"].update(scope_complete=False, scope_incompleteness=["declared"])
    doc["integrity"].update(geode.completeness(doc))
    assert geode.check_trajectory(doc) == []
    broken = trajectory(PLAIN[:3])
    broken["integrity"].update(scope_incompleteness=[], incompleteness=[])
    assert "/integrity/scope_incompleteness: false claim" in geode.check_trajectory(broken)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"surprise": 1}, "/surprise: no such key"),
        ({"captured_at": "2025-06-15T15:06:40"}, "/captured_at: a date-time with a zone"),
        ({"captured_at": "2025-02-30T00:00:00Z"}, "/captured_at: a date-time with a zone"),
        ({"trajectory_class": ["a", "a"]}, "/trajectory_class: unique strings"),
        ({"source": {"harness": "geode"}}, "/source/session: a string that is not empty"),
        ({"evidence_refs": [{"kind": "other"}]}, "/evidence_refs/0/schema_id: a string that is not empty"),
        ({"artifact_digests": [{"path": "a"}]}, "/artifact_digests/0: path and sha256"),
        ({"schema_version": True}, "/schema_version: 1"),
    ],
)
def test_shape(change: dict, problem: str) -> None:
    assert problem in geode.check_trajectory({**trajectory(PLAIN), **change})


def test_order_and_ids_are_checked() -> None:
    doc = trajectory([PLAIN[1], PLAIN[1]])
    assert geode.check_trajectory(doc)[:2] == [
        "/events: event ids are not unique",
        "/events: ordinals are not 1..n in order",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1.5, "1970-01-01T00:00:01.500000Z"),
        (-1, "1969-12-31T23:59:59Z"),
        (253402300799, "9999-12-31T23:59:59Z"),
    ],
)
def test_times(seconds: float, text: str) -> None:
    assert geode.iso(seconds) == text


HOME, AT = "/" + "home" + "/", "@"


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        (HOME + "demo_user/x", {"absolute_home"}),
        (HOME + "REDACTED/x", set()),
        (HOME + "REDACTED", set()),
        (HOME + "REDACTED x", {"absolute_home"}),
        ("https://host" + HOME + "page", {"absolute_home"}),
        ("C:" + r"\Users\demo_user\x", {"absolute_home"}),
        ("C:" + r"\\Users\\demo_user", set()),
        (r"\n" + AT + "pytest.fixture", {"email"}),
        ("a" + AT + "2x.png", {"email"}),
        ("Bearer authentication", {"bearer"}),
        ("task-" + "a" * 20, {"known_secret"}),
        ("sk-" + "a" * 20, {"openai_key", "known_secret"}),
        ("gh" + "s_" + "a" * 20, {"github_token"}),
        ("?api" + "_key=" + "a" * 8, {"url_query_secret"}),
        ("AK" + "IA" + "A" * 17, set()),
        ("0f" * 16 + "." + "a" * 16, {"known_secret"}),
    ],
)
def test_gates(text: str, classes: set[str]) -> None:
    assert {name for name, count in geode.gate_hits(text).items() if count} == classes


def make_release(folder: Path, docs: dict[str, dict], change: dict | None = None) -> Path:
    """Stage `docs` ({path: document}) as GEODE would; `change` overlays the manifest before it is named."""
    folder.mkdir()
    files, texts = [], []
    for path, doc in sorted(docs.items()):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(geode.compact(doc), "utf-8")
        texts.append(geode.compact(doc))
        integrity = doc["integrity"]
        entry = {"path": path, "bytes": len(texts[-1].encode()), "sha256": geode.sha256(texts[-1])}
        entry |= {"records": integrity["record_count"], "trajectory_id": doc["trajectory_id"]}
        entry |= {key: integrity[key] for key in ("scope_complete", "replay_complete", "complete")}
        files.append(entry)
    review = {
        "reviewer": "demo_user",
        "reviewed_at": "2025-06-16T00:00:00Z",
        "method": "read",
        "scope": "two words",
        "attestation": "seen",
    }
    manifest = {
        "schema_id": "geode.trajectory-release@1",
        "schema_version": 1,
        "producer_schema_id": "geode.trajectory@1",
        "release_source": "demo",
        "release_scope": "two words",
        "published_at": "2025-06-17T01:02:03Z",
        "supersedes": None,
        "admission": {
            "scope_complete_required": True,
            "replay_complete_required": True,
            "privacy_review_required": True,
        },
        "privacy_review": {**review, "record_sha256": geode.record_sha256(review)},
        "files": files,
        "quality": geode.release_quality(list(docs.values()), texts),
    }
    data = geode.compact({**manifest, **(change or {})})
    (folder / "manifest.json").write_text(data, "utf-8")
    return folder.rename(folder.parent / geode.release_name(manifest, geode.sha256(data)))


def test_a_release_reads_back_through_a_symlink(tmp_path: Path) -> None:
    docs = {"a.json": trajectory(PLAIN, "a"), "sub/b.json": trajectory(PLAIN, "b")}
    release = make_release(tmp_path / "r", docs)
    (tmp_path / "link").symlink_to(release)
    read = geode.read_release(tmp_path / "link")
    assert read["release"].startswith("demo-two-words-20250617T010203Z-")
    assert read["trajectories"] == docs
    assert read == geode.read_release(release, read["manifest_sha256"])
    with pytest.raises(geode.Refused, match="expected"):
        geode.read_release(release, "0" * 64)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda release: (release / "extra.txt").touch(), "undeclared"),
        (lambda release: (release / "a.json").write_text("{}"), "bytes"),
        (lambda release: (release / "a.json").unlink(), "missing"),
        (lambda release: release.rename(release.parent / "other"), "name"),
        (lambda release: (release / "link.json").symlink_to("a.json"), "not a plain file"),
    ],
)
def test_a_damaged_release_is_refused(damage, reason: str, tmp_path: Path) -> None:
    release = make_release(tmp_path / "r", {"a.json": trajectory(PLAIN, "a")})
    moved = damage(release)
    with pytest.raises(geode.Refused, match=reason):
        geode.read_release(moved if isinstance(moved, Path) else release)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"surprise": 1}, "exactly"),
        ({"release_scope": "other"}, "scope"),
        ({"published_at": "2025-06-17T01:02:03.5Z"}, "to the second"),
        ({"quality": {}}, "quality"),
        ({"files": []}, "files"),
    ],
)
def test_a_false_manifest_is_refused(change: dict, reason: str, tmp_path: Path) -> None:
    release = make_release(tmp_path / "r", {"a.json": trajectory(PLAIN, "a")}, change)
    with pytest.raises(geode.Refused, match=reason):
        geode.read_release(release)


@pytest.mark.parametrize(
    ("doc", "reason"),
    [
        (trajectory(PLAIN[:3]), "scope is not complete"),
        (trajectory(PLAIN, review_state="local"), "not reviewed"),
        (trajectory([event("message.user", 1, content="mail a" + AT + "b.org")]), "secret scan"),
        (trajectory([event("message.user", 1, content="[REDACTED]")]), "replay"),
    ],
)
def test_what_a_release_does_not_admit(doc: dict, reason: str, tmp_path: Path) -> None:
    with pytest.raises(geode.Refused, match=reason):
        geode.read_release(make_release(tmp_path / "r", {"a.json": doc}))


def test_a_long_release_source_is_cut_with_its_digest() -> None:
    manifest = {"release_source": "a" * 65, "release_scope": "ß/..x", "published_at": "2025-06-17T01:02:03Z"}
    digest = geode.sha256("a" * 65)[:12]
    expected = f"{'a' * 51}-{digest}-..x-20250617T010203Z-{'0' * 12}"
    assert geode.release_name(manifest, "0" * 64) == expected


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ("[1]", {"_value": [1]}),
        ('{"a": "cut', {"_legacy_fragment": '{"a": "cut'}),
        ([1], {}),
        (None, {}),
    ],
)
def test_tool_arguments(given: object, arguments: dict) -> None:
    assert arguments_of(given) == arguments


def test_a_lone_carriage_return_ends_a_line_for_geode() -> None:
    assert list(lines_of(b"a\rb\r\n\nc")) == [(1, b"a"), (2, b"b"), (3, b""), (4, b"c")]


def test_legacy_rows(tmp_path: Path) -> None:
    lines = [
        {"event": "session_start", "session_id": "s1", "model": "m", "ts": START, "seq": 1},
        {"event": "user_message", "text": "hi", "extra": 1, "ts": "yesterday"},
        {"event": "session_start", "session_id": "s1", "ts": START + 1},
    ]
    file = tmp_path / "dialogue.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)) + "\nnot json\n[1]\n")
    os.utime(file, (START + 9, START + 9))
    rows = geode.import_legacy(file)
    assert [row["session_id"] for row in rows] == ["s1", "dialogue", "s1"]  # a dialogue.jsonl splits in two
    assert [row["session_generation"] for row in rows] == [1, 1, 2]
    assert rows[1]["occurred_at"] == START + 9
    assert rows[0]["event_id"] == "b7081b72-4474-506a-b71b-0c3e84ea2476"
    payload = json.loads(rows[1]["payload_json"])
    assert payload == {
        "content": "hi",
        "extra": 1,
        "_legacy": {
            "event": "user_message",
            "line_number": 2,
            "source_digest": geode.sha256(file.read_bytes()),
            "source_path": str(file),
            "timestamp_invalid": True,
        },
    }


def test_bounds() -> None:
    deep: object = 1
    for _ in range(20):
        deep = {"d": deep}
    assert "max_depth" in geode.compact(bounded({"a": deep}))
    at_twelve: object = "leaf"
    for _ in range(12):
        at_twelve = {"d": at_twelve}
    assert geode.compact(bounded(at_twelve)).count("max_depth") == 1  # type: ignore[arg-type]
    kept = bounded({"text": "x" * 100_001, "items": list(range(257)), "Token": "abc"})
    assert kept["text"] == "x" * 100_000 + "…[truncated:1]"
    assert kept["items"][-1] == {"_truncated_items": 1}
    assert kept["Token"] == "<REDACTED>"
    whole = bounded({str(n): "x" * 90_000 for n in range(3)})
    assert whole.keys() == {"_truncated", "original_bytes", "keys", "payload_hash"}
    assert bounded({"a": float("nan"), "b": float("-inf")}) == {"a": "nan", "b": "-inf"}
    long = column("status", "y" * 33)
    assert long == f"{'y' * 15}:{geode.sha256('y' * 33)[:16]}"


def test_a_store_reads_corrupt_payloads_as_their_markers(tmp_path: Path) -> None:
    db = geode.create_store(tmp_path / "sessions.db")
    texts = {1: "{", 2: '{"a":2}', 3: "[1]", 4: b"\xff"}
    with closing(sqlite3.connect(db)) as connection, connection:
        for row, text in texts.items():
            digest = geode.sha256(text) if row == 3 else "0" * 64
            sql = "UPDATE session_events SET payload_json = ?, payload_hash = ? WHERE id = ?"
            connection.execute(sql, (text, digest, row))
    payloads = [row["payload"] for row in geode.read_store(db)]
    assert payloads[:4] == [
        {"_corrupt_payload": True},
        {"_corrupt_payload": True, "_corrupt_reason": "payload_hash_mismatch"},
        {"value": [1]},
        {"_corrupt_payload": True},
    ]
    assert len(payloads) == 8


def test_a_newer_store_is_refused(tmp_path: Path) -> None:
    db = geode.create_store(tmp_path / "sessions.db")
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute("UPDATE storage_schema SET version = 2")
    with pytest.raises(geode.Refused, match="newer"):
        geode.read_store(db)


def test_an_import_is_idempotent_by_digest(tmp_path: Path) -> None:
    db = geode.create_store(tmp_path / "sessions.db", demo=False)
    file = tmp_path / "s1.jsonl"
    file.write_text('{"event":"user_message","text":"a","ts":1}\n')
    assert (geode.import_into(db, file), geode.import_into(db, file)) == (1, 1)
    with pytest.raises(geode.Refused, match="recorded under s1"):
        geode.import_into(db, file, session_id="other")
    file.write_text(file.read_text() + '{"event":"user_message","text":"b","ts":2}\n')
    assert geode.import_into(db, file) == 2
    contents = [row["payload"]["content"] for row in geode.read_store(db)]
    assert contents == ["a", "b"]  # a grown file adds its new lines only


def test_export(tmp_path: Path) -> None:
    db = geode.create_store(tmp_path / "sessions.db")
    rows = geode.read_store(db)
    doc = geode.export_session(rows, "demo-finished", geode.read_hook_events(db, "demo-finished"))
    assert geode.check_trajectory(doc) == []
    assert doc["integrity"]["complete"] is True
    assert [item["actor"] for item in doc["events"]] == [
        "agent",
        "user",
        "agent",
        "agent",
        "assistant",
        "agent",
    ]
    assert doc["events"][0]["payload"].items() >= {"model": "demo-model", "parent_event_id": None}.items()
    assert doc["captured_at"] == "2025-06-15T15:06:47.250000Z"
    assert doc["runtime_event_refs"][0]["record_count"] == 2
    active = geode.export_session(rows, "demo-active")
    assert active["integrity"]["scope_incompleteness"] == ["session demo-active has no terminal event"]
    assert active["integrity"]["replay_incompleteness"] == ["producer declared trajectory replay incomplete"]
    with pytest.raises(geode.Refused, match="No canonical session events"):
        geode.export_session(rows, "nobody")


def test_digested_payload_keeps_structure() -> None:
    digested = geode.digest_payload("tool.called", {"tool": "ls", "arguments": {"p": "é"}, "status": ""})
    text = '{"arguments":{"p":"é"}}'
    assert digested == {
        "tool": "ls",
        "status": "",
        "_content_omitted": ["arguments"],
        "_omitted_payload_sha256": geode.sha256(text),
        "_omitted_payload_bytes": len(text.encode()),
    }


def test_a_copied_release_keeps_its_name(tmp_path: Path) -> None:
    release = make_release(tmp_path / "r", {"a.json": trajectory(PLAIN, "a")})
    copy = shutil.copytree(release, tmp_path / "elsewhere" / release.name)
    assert geode.read_release(copy)["release"] == release.name
