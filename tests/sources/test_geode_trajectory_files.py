"""Trajectory files as a source: any layout, any producer, and refusal of what does not fit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from geode_traj.sources.base import Probe
from geode_traj.sources.geode_trajectory import SOURCE
from tests.migrate import pipeline
from tests.reference import geode


@pytest.fixture
def doc(tmp_path: Path) -> dict[str, Any]:
    """Return the export that GEODE itself would make of its finished demo session."""
    store = geode.create_store(tmp_path / "installation.db")
    return geode.export_session(geode.read_store(store), "demo-finished")


def migrate(doc: Any, folder: Path, **layout: Any) -> tuple[Any, Path]:
    path = folder / "theirs.json"
    path.write_text(json.dumps(doc, **layout) if not isinstance(doc, str) else doc)
    (receipt,) = pipeline.migrate(folder / "sessions.db", path)
    assert receipt.balanced
    return receipt, folder / "sessions.db"


@pytest.mark.parametrize(
    "layout", [{}, {"indent": 2}, {"separators": (",", ":")}, {"sort_keys": True, "indent": "\t"}]
)
def test_any_layout_gives_the_same_rows(layout: dict, doc: dict, tmp_path: Path) -> None:
    receipt, store = migrate(doc, tmp_path, **layout)
    assert (receipt.status, receipt.format, receipt.new) == ("imported", "geode-trajectory", 6)
    theirs = [
        row for row in geode.read_store(tmp_path / "installation.db") if row["session_id"] == "demo-finished"
    ]
    keys = [name for name in pipeline.Row._fields if name != "id"]
    assert [{key: row[key] for key in keys} for row in theirs] == [
        {key: getattr(row, key) for key in keys} for row in pipeline.rows(store)
    ]
    again = pipeline.document(store, "demo-finished")
    added = {"derived", "value_redactions", "damaged_lines"}
    again["integrity"] = {key: value for key, value in again["integrity"].items() if key not in added}
    assert again.pop("artifact_digests") == []
    assert again == doc


def change(path: str, value: Any) -> Callable[[dict], None]:
    """Return a change of a document: `path` with `/`, the value to set there, or nothing to take it out."""

    def apply(doc: dict) -> None:
        *steps, last = path.split("/")
        place: Any = doc
        for step in steps:
            place = place[int(step) if isinstance(place, list) else step]
        if value is None:
            del place[last]
        else:
            place[last] = value

    return apply


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("events/1/event_id", "", "not_an_event"),
        ("events/1/event_id", "x" * 129, "not_an_event"),
        ("events/1/session_id", "", "not_an_event"),
        ("events/1/occurred_at", "yesterday", "not_an_event"),
        ("events/1/occurred_at", "2025-02-30T00:00:00Z", "not_an_event"),
        ("events/1/occurred_at", "0001-01-01T00:00:00+09:00", "not_an_event"),
        ("events/1/payload", [], "not_an_event"),
        ("events/1/kind", None, "not_an_event"),
        ("events/1/more", 1, "not_an_event"),
    ],
)
def test_an_event_that_does_not_fit_is_damage(
    path: str, value: Any, reason: str, doc: dict, tmp_path: Path
) -> None:
    change(path, value)(doc)
    receipt, store = migrate(doc, tmp_path)
    assert (receipt.status, receipt.new, receipt.damaged_count) == ("imported", 5, 1)
    assert [line["reason"] for line in receipt.damaged] == [reason]
    integrity = pipeline.document(store, "demo-finished")["integrity"]
    assert integrity["damaged_lines"] == 1
    assert "1 source line(s) damaged" in integrity["scope_incompleteness"]
    pipeline.erase(store, "demo-finished")
    assert pipeline.sql(store, "SELECT * FROM traj_damaged") == []


def test_a_repeated_event_id_is_damage(doc: dict, tmp_path: Path) -> None:
    doc["events"][3]["event_id"] = doc["events"][1]["event_id"]
    receipt, _ = migrate(doc, tmp_path)
    assert [line["reason"] for line in receipt.damaged] == ["repeated_event_id"]
    assert receipt.new == 5


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("schema_version", 2),
        ("source", "a text"),
        ("source/harness", None),
        ("artifact_digests", 5),
        ("artifact_digests", [{"path": "a"}]),
        ("evidence_refs", [{"kind": "odd"}]),
        ("runtime_event_refs", {}),
        ("trajectory_class", ["a", "a"]),
        ("integrity", []),
        ("integrity/scope_incompleteness", "none"),
        ("privacy", None),
        ("outcome", "good"),
        ("surprise", 1),
    ],
)
def test_a_head_that_does_not_fit_is_refused_whole(path: str, value: Any, doc: dict, tmp_path: Path) -> None:
    change(path, value)(doc)
    receipt, store = migrate(doc, tmp_path)
    assert (receipt.status, receipt.code) == ("failed", "TE208")
    assert pipeline.sql(store, "SELECT count(*) FROM session_events") == [(0,)]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("integrity/damaged_lines", "three"),
        ("integrity/damaged_lines", -1),
        ("integrity/damaged_lines", True),
        ("integrity/damaged_lines", 1.5),
        ("integrity/fidelity", {"a": 1}),
        ("integrity/more", [1]),
        ("privacy/redactions", "none"),
        ("privacy/redactions", [1, None, {"type": 5}]),
        ("events/1/payload/_derived", "x"),
        ("events/1/payload/_displaced", [1]),
        ("events/1/payload/_redactions", 5),
        ("events/1/payload/_native_turn_id", {"a": 1}),
        ("events/1/payload/session_generation", "two"),
        ("events/1/payload/session_generation", 2**70),
        ("events/1/payload/parent_event_id", 5),
        ("events/1/payload/source", 5),
        ("events/1/payload/model", None),
        ("events/1/session_id", "x" * 300),
        ("events/1/call_id", "x" * 300),
        ("events/1/actor", "x" * 300),
        ("events/1/kind", "an odd kind"),
        ("source/parents", ["p"]),
    ],
)
def test_what_fits_the_schema_is_exported_again(path: str, value: Any, doc: dict, tmp_path: Path) -> None:
    change(path, value)(doc)
    receipt, store = migrate(doc, tmp_path)
    assert (receipt.status, receipt.new) == ("imported", 6)
    for session in receipt.sessions:
        for content in ("full", "digest"):
            again = pipeline.document(store, session, content=content)  # type: ignore[arg-type]
            assert geode.check_trajectory(again) == []


def test_a_changed_payload_is_imported_and_told(doc: dict, tmp_path: Path) -> None:
    doc["events"][1]["payload"]["content"] = "changed"
    doc["events"][2]["payload"].pop("source_payload_hash")  # nothing to hold it to
    receipt, _ = migrate(doc, tmp_path)
    assert (receipt.new, dict(receipt.losses)) == (6, {"payload_differs_from_source": 1})


@pytest.mark.parametrize(
    ("text", "status", "code"),
    [
        ('{"schema_id":"geode.trajectory@1","events":[{]}', "failed", "TE202"),
        ('{"schema_id":"geode.trajectory@1","events":[\n{"a":1},\n', "failed", "TE202"),
        ('{"schema_id":"geode.trajectory@1","events":[' + "[" * 300, "failed", "TE204"),
        ('{"schema_id":"geode.trajectory@1","events":[1]}', "failed", "TE208"),
        ('{"schema_id":"geode.trajectory@1","events":{}}', "failed", "TE202"),
    ],
)
def test_broken_files_fail_alone(text: str, status: str, code: str, tmp_path: Path) -> None:
    receipt, _ = migrate(text, tmp_path)
    assert (receipt.status, receipt.code) == (status, code)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"schema_id": "geode.trajectory@1"', True),
        ('{\n "schema_id"\n:\t"geode.trajectory@1"', True),
        ('{"events":[\n{"a":1}\n],"schema_id":"geode.trajectory@1"}', True),
        ('{"schema_id":"geode.trajectory-release@1"}', False),
        ('{"a":"\\"schema_id\\":\\"geode.trajectory@1\\""}', False),
        ('{"event":"x","p":{"schema_id":"geode.trajectory@1"}}\n{"event":"y"}\n', False),
        ('[{"schema_id":"geode.trajectory@1"}]', False),
        ("", False),
    ],
)
def test_detection(text: str, found: bool) -> None:
    assert SOURCE.detect(Probe(text.encode(), text.encode())) is found
