"""Export, delete, import the export: what comes back is what was there, and exports to the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from geode_traj.contract import bounds
from geode_traj.contract.kinds import KINDS, OUR_MARKERS, OVERLAID, SENSITIVE_KEYS
from geode_traj.contract.times import END, FIRST
from geode_traj.store import blobs, events, opening
from tests.migrate import pipeline
from tests.reference import geode
from tests.support import cases


def there_and_back(store: Path, folder: Path, *sessions: str, name: str | None = None) -> tuple[bytes, Path]:
    """Export, erase, import the export and export again; return the bytes and the file. All must be equal."""
    before = [row for row in pipeline.facts(store) if row.session_id in sessions]
    others = [row for row in pipeline.facts(store) if row.session_id not in sessions]
    first = pipeline.export(store, *sessions, trajectory_id=name)
    path = folder / "exported.json"
    path.write_bytes(first)
    pipeline.erase(store, *sessions)
    (receipt,) = pipeline.migrate(store, path)
    assert (receipt.status, receipt.new, receipt.damaged) == ("imported", len(before), [])
    assert receipt.losses == {}
    after = pipeline.facts(store)
    assert after[: len(others)] == others
    assert after[len(others) :] == before
    assert pipeline.export(store, *sessions, trajectory_id=name) == first
    return first, path


@pytest.mark.parametrize("folder", cases.legacy_cases(), ids=lambda path: path.name)
def test_every_case(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = cases.render(folder, tmp_path)
    monkeypatch.chdir(case)
    options = cases.load_expect(case).get("migrate", {})
    store = tmp_path / "store" / "sessions.db"
    paths = map(Path, options.get("paths", ["input"]))
    pipeline.migrate(store, *paths, session_id=options.get("session_id"))
    sessions = sorted({row.session_id for row in pipeline.rows(store)}) if store.exists() else []
    for session in sessions:
        digest = pipeline.export(store, session, content="digest")
        exported, path = there_and_back(store, tmp_path, session)
        assert pipeline.export(store, session, content="digest") == digest
        other = tmp_path / "other" / f"{session[:40]}.db"
        pipeline.migrate(other, path)
        assert pipeline.export(other, session) == exported
    if len(sessions) > 1:
        there_and_back(store, tmp_path, *sessions, name="all of them")


def test_hook_references_and_evidence_come_back(tmp_path: Path) -> None:
    store = geode.create_store(tmp_path / "installation.db")
    reference = {"kind": "sil_eval", "schema_id": "x", "authority": "y", "reference": "z", "path": "p"}
    payload = geode.compact({"references": [reference]})
    query = "UPDATE session_events SET kind = ?, payload_json = ?, payload_hash = ? WHERE id = 5"
    pipeline.sql(store, query, "verification.evidence", payload, geode.sha256(payload))
    exported, path = there_and_back(store, tmp_path, "demo-finished")
    doc = json.loads(exported)
    assert doc["evidence_refs"] == [reference]
    assert doc["runtime_event_refs"][0]["record_count"] == 2
    other = tmp_path / "other.db"  # where there are no hook events
    pipeline.migrate(other, path)
    assert pipeline.export(other, "demo-finished") == exported


def test_importing_an_export_where_it_came_from_adds_nothing(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    lines: list[Any] = [*pipeline.dialogue("s1", "a", "x" * 150_000), "{torn"]
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "s1.jsonl", lines))
    exported = pipeline.export(store, "s1")
    (tmp_path / "exported.json").write_bytes(exported)
    (receipt,) = pipeline.migrate(store, tmp_path / "exported.json")
    assert (receipt.status, receipt.new, receipt.known) == ("extended", 0, 4)
    assert pipeline.export(store, "s1") == exported
    assert json.loads(exported)["integrity"]["damaged_lines"] == 1


def test_two_exports_of_a_growing_session_count_its_damage_once(tmp_path: Path) -> None:
    store, other = tmp_path / "sessions.db", tmp_path / "other.db"
    lines: list[Any] = [*pipeline.dialogue("s1", "a", ended=False), "{no json"]
    for number, more in enumerate([[], pipeline.dialogue("s1", "b", start=2e9)]):
        lines += more
        pipeline.migrate(store, pipeline.write_lines(tmp_path / "s1.jsonl", lines))
        (tmp_path / f"{number}.json").write_bytes(pipeline.export(store, "s1"))
        pipeline.migrate(other, tmp_path / f"{number}.json")
    assert json.loads(pipeline.export(other, "s1"))["integrity"]["damaged_lines"] == 1
    assert pipeline.facts(other) == pipeline.facts(store)


def test_an_event_stored_with_other_content_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "s1.jsonl", pipeline.dialogue("s1", "a")))
    forged = pipeline.export(store, "s1").replace(b'"content":"a"', b'"content":"b"')
    (tmp_path / "forged.json").write_bytes(forged)
    before = pipeline.dump(store)
    (receipt,) = pipeline.migrate(store, tmp_path / "forged.json")
    assert (receipt.status, receipt.code) == ("failed", "TE401")
    assert pipeline.dump(store) == before


@pytest.mark.parametrize(
    ("head", "kept"),
    [
        ({"integrity": {"replay_complete": False}}, ["producer declared trajectory replay incomplete"]),
        ({"integrity": {"replay_incompleteness": ["tapes lost"]}}, ["tapes lost"]),
        ({"integrity": {"fidelity": "Reduced"}}, ["declared fidelity limits replay: Reduced"]),
        (
            {"privacy": {"redactions": [{"type": "content_reduction"}]}},
            ["privacy policy declares content reduction"],
        ),
    ],
)
def test_what_another_producer_declared_is_repeated(head: dict, kept: list[str], tmp_path: Path) -> None:
    rows = geode.read_store(geode.create_store(tmp_path / "installation.db"))
    doc = geode.export_session(rows, "demo-finished")
    for key, value in head.items():
        doc[key].update(value)
    doc["integrity"].update(geode.completeness(doc))
    assert geode.check_trajectory(doc) == []
    (tmp_path / "theirs.json").write_text(geode.compact(doc))
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, tmp_path / "theirs.json")
    again = pipeline.document(store, "demo-finished")
    assert again["integrity"]["replay_incompleteness"] == kept
    assert again["integrity"]["replay_complete"] is False
    assert again["integrity"]["scope_complete"] is True
    assert geode.check_trajectory(again) == []


def test_a_secret_in_a_head_never_reaches_the_store(tmp_path: Path) -> None:
    secret = "gh" + "p_" + "a1B2" * 9
    rows = geode.read_store(geode.create_store(tmp_path / "installation.db"))
    doc = geode.export_session(rows, "demo-finished")
    doc["outcome"]["note"] = doc["source"]["task"] = f"use {secret}"
    doc["integrity"]["replay_incompleteness"] = [f"lost {secret}"]
    doc["integrity"].update(geode.completeness(doc))
    (tmp_path / "theirs.json").write_text(geode.compact(doc))
    store = tmp_path / "store" / "sessions.db"
    (receipt,) = pipeline.migrate(store, tmp_path / "theirs.json")
    assert receipt.sessions["demo-finished"].redactions.total() == 3
    assert secret.encode() not in pipeline.file_bytes(store)
    again = pipeline.document(store, "demo-finished")
    assert again["outcome"]["note"] == again["source"]["task"] == "use [REDACTED:github_token:1]"


# What is too large to stand in a drawn value: a word for it.
LARGE: dict[str, Any] = {
    "LONG": "x" * 100_001,
    "MANY": list(range(300)),
    "DEEP": [[[[[[[[[[[["leaf"]]]]]]]]]]]],
    "HEAVY": {str(n): "x" * 90_000 for n in range(3)},
    "WIDE": {"k" * 129: 1, "l": {str(n): n for n in range(300)}},
}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).filter(
    lambda text: text.lower() not in SENSITIVE_KEYS
)
NAMES = st.sampled_from([*OVERLAID, *sorted(OUR_MARKERS), "content", "tool", "references", "copied_context"])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(
    LEAVES | st.sampled_from([*LARGE]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | TEXT, inner, max_size=3),
    max_leaves=5,
)
MARKS = st.sampled_from(
    [
        {},
        {"_derived": {"turn_id": "x", "occurred_at": "y"}},
        {"_derived": {"occurred_at": "y"}},
        {"_derived": "no object"},
        {"_displaced": {"model": "x", "status": 1}, "_native_turn_id": "t"},
        {"_blobs": [{"pointer": "/content", "sha256": "0" * 64, "bytes": 1}]},
        {"_blobs": [], "content": "LONG"},
        {"content": "LONG", "source": "s", "status": "", "model": ""},
    ]
)
PAYLOADS = st.builds(
    lambda base, marks: {**base, **marks}, st.dictionaries(NAMES | TEXT, VALUES, max_size=4), MARKS
)


def grown(value: Any) -> Any:
    """Return a drawn value with its words for large ones put out."""
    if isinstance(value, dict):
        return {key: grown(item) for key, item in value.items()}
    if isinstance(value, list):
        return [grown(item) for item in value]
    return LARGE.get(value, value) if isinstance(value, str) else value


@st.composite
def event_rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw rows as any writer of the contract may store them; a role `agent` alone does not come back."""
    rows = []
    for number in range(draw(st.integers(1, 6))):
        row = {
            "event_id": f"e{number}",
            "occurred_at": draw(st.floats(FIRST, END, exclude_max=True) | st.integers(0, 2**31).map(float)),
            "session_id": draw(st.sampled_from(["s", "é two"])),
            "session_generation": draw(st.integers(1, 3)),
            "turn_id": draw(st.sampled_from(["", "", "t1", "turn-1-1"])),
            "call_id": draw(st.sampled_from(["", "", "c1", "call-1-1"])),
            "parent_event_id": draw(st.none() | st.just("") | TEXT),
            "kind": draw(st.sampled_from([*sorted(KINDS), "tool_call", "user_message", "odd kind"])),
            "role": draw(st.sampled_from(["", "user", "assistant", "policy"])),
            "status": draw(st.sampled_from(["", "ok", "s"])),
            "model": draw(TEXT),
            "provider": draw(TEXT),
            "source": draw(st.sampled_from(["runtime", "s", "legacy_jsonl"])),
        }
        payload = draw(PAYLOADS)
        for key in draw(st.sets(st.sampled_from(OVERLAID[:-1]), max_size=3)):
            payload[key] = row[key]  # a key of the payload that says the same leaves no trace of its own
        rows.append({**row, "payload": payload})
    return rows


def fill(store: Path, rows: list[dict[str, Any]]) -> None:
    """Store rows, over-large payloads as an import cuts them, with their bodies."""
    with opening.open_writer(store) as connection, opening.transaction(connection):
        for row in rows:
            payload = grown(row["payload"])
            encoded, bodies = geode.compact(payload).encode(), []
            if bounds.stored(payload) != encoded:
                encoded, bodies = bounds.cut(payload)
            made = {**row, "payload_json": encoded.decode(), "payload_hash": geode.sha256(encoded)}
            columns = [made[name] for name in pipeline.Row._fields[1:]]
            assert events.insert(connection, [columns]) == 1
            blobs.write(connection, row["event_id"], row["session_id"], bodies)


@given(event_rows())
@settings(max_examples=60)
@example(
    [
        {
            **dict.fromkeys(["turn_id", "call_id", "role", "status", "model", "provider"], ""),
            "event_id": "e",
            "occurred_at": 1.0000005,
            "session_id": "s",
            "session_generation": 1,
            "parent_event_id": None,
            "kind": "message.user",
            "source": "s",
            "payload": dict.fromkeys(OVERLAID) | {"source": "s", "_derived": {"call_id": 1}},
        }
    ]
)
def test_any_rows(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> None:
    folder = tmp_path_factory.mktemp("rows")
    store = folder / "sessions.db"
    fill(store, rows)
    sessions = list(dict.fromkeys(row["session_id"] for row in rows))
    exported, _ = there_and_back(store, folder, *sessions, name="some")
    assert geode.check_trajectory(json.loads(exported)) == []


@pytest.mark.slow
@given(event_rows())
@settings(max_examples=1500)
def test_many_rows(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> None:
    test_any_rows.hypothesis.inner_test(tmp_path_factory, rows)  # type: ignore[attr-defined]
