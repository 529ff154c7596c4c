"""One database, two programs: each reads what the other wrote, and neither touches what is not its own."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from geode_traj.errors import DataError
from geode_traj.store import events, opening
from tests.migrate import pipeline
from tests.reference import geode

OURS = ("session_events", "session_event_imports", "storage_schema", "sqlite_sequence")


def others(store: Path) -> list[str]:
    """Return the SQL of every table that an import may not touch."""
    return [line for line in pipeline.dump(store, without=OURS) if "traj_" not in line]


@pytest.fixture
def installation(tmp_path: Path) -> Path:
    return geode.create_store(tmp_path / "sessions.db")


def test_an_import_into_an_installation_touches_nothing_else(installation: Path, tmp_path: Path) -> None:
    before, rows = others(installation), geode.read_store(installation)
    source = pipeline.write_lines(tmp_path / "in" / "s1.jsonl", pipeline.dialogue("s1", "a", "b"))
    (receipt,) = pipeline.migrate(installation, source)
    assert receipt.status == "imported"
    assert others(installation) == before
    assert len(before) > 10
    after = geode.read_store(installation)
    assert after[: len(rows)] == rows
    assert [row["kind"] for row in after[len(rows) :]] == [
        "session.started",
        "message.user",
        "message.assistant",
        "session.ended",
    ]
    assert not any(row["corrupt_payload"] for row in after)


def test_geode_reads_and_writes_a_store_of_ours(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    first = pipeline.write_lines(tmp_path / "s1.jsonl", pipeline.dialogue("s1", "a"))
    second = pipeline.write_lines(tmp_path / "s2.jsonl", pipeline.dialogue("s2", "b"))
    pipeline.migrate(store, first)
    assert geode.import_into(store, first) == 3  # known by its digest, under the id that GEODE files it
    with pytest.raises(geode.Refused, match="recorded under s1"):
        geode.import_into(store, first, session_id="other")
    assert geode.import_into(store, second) == 3
    assert [row["session_id"] for row in geode.read_store(store)] == ["s1"] * 3 + ["s2"] * 3
    for session in ("s1", "s2"):
        theirs = geode.export_session(geode.read_store(store), session)
        assert geode.check_trajectory(theirs) == []
        ours = pipeline.document(store, session)["events"]
        for event in ours:  # what is derived is marked, and GEODE derives nothing
            marks = event["payload"].pop("_derived", {})
            assert marks == ({} if event["kind"].startswith("session.") else {"turn_id": "user_message_span"})
            event["turn_id"] = ""
        assert ours == theirs["events"]
    (receipt,) = pipeline.migrate(store, second)
    assert (receipt.status, receipt.reason) == ("unchanged", "recorded under session s2")


def test_the_tables_are_the_contract_s(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.db", geode.create_store(tmp_path / "theirs.db")
    with opening.open_writer(ours):
        pass
    for table in ("session_events", "session_event_imports", "storage_schema"):
        query = f"SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info('{table}')"
        assert pipeline.sql(ours, query) == pipeline.sql(theirs, query)
    query = "SELECT name, partial, [unique] FROM pragma_index_list('session_events') ORDER BY name"
    assert pipeline.sql(ours, query) == pipeline.sql(theirs, query)
    for name, *_ in pipeline.sql(ours, query):
        columns = f"SELECT name, [desc] FROM pragma_index_xinfo('{name}')"
        assert pipeline.sql(ours, columns) == pipeline.sql(theirs, columns)
    assert pipeline.sql(ours, "PRAGMA journal_mode") == [("wal",)]
    versions = "SELECT component, version FROM storage_schema ORDER BY component"
    assert pipeline.sql(ours, versions) == [("geode_traj", 1), ("session_events", 1)]


@pytest.mark.parametrize("component", ["session_events", "geode_traj"])
@pytest.mark.parametrize("version", [2, 99, "next"])
def test_a_newer_store_is_refused_with_nothing_written(
    component: str, version: object, installation: Path, tmp_path: Path
) -> None:
    pipeline.sql(installation, "INSERT OR REPLACE INTO storage_schema VALUES (?, ?, 0)", component, version)
    with closing(sqlite3.connect(installation)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = installation.read_bytes(), installation.stat().st_mtime_ns
    source = pipeline.write_lines(tmp_path / "in" / "s1.jsonl", pipeline.dialogue("s1", "a"))
    for attempt in (
        lambda: pipeline.migrate(installation, source),
        lambda: pipeline.erase(installation, "demo-finished"),
        lambda: pipeline.export(installation, "demo-finished"),
    ):
        with pytest.raises(DataError) as caught:
            attempt()
        assert caught.value.code == "TE502"
    assert (installation.read_bytes(), installation.stat().st_mtime_ns) == before


@pytest.mark.parametrize("name", ["dialogue", "s1"])
@pytest.mark.parametrize("session_id", [None, "given"])
def test_a_file_that_geode_imported_and_that_grew(name: str, session_id: str | None, tmp_path: Path) -> None:
    store = geode.create_store(tmp_path / "sessions.db", demo=False)
    lines = pipeline.dialogue("s1", "a", "b", "c")
    source = pipeline.write_lines(tmp_path / "run" / f"{name}.jsonl", lines[:3])
    geode.import_into(store, source, session_id=session_id)
    before = pipeline.rows(store)
    pipeline.write_lines(source, lines)
    (receipt,) = pipeline.migrate(store, source, session_id=session_id)
    assert (receipt.status, receipt.known, receipt.new) == ("extended", 3, 2)
    assert pipeline.rows(store)[:3] == before
    told = [payload["_legacy"]["line_number"] for payload in pipeline.payloads(store)]
    assert told == [1, 2, 3, 4, 5]
    # and the other way round: GEODE adds nothing but what it files under its own rule
    assert geode.import_into(store, source, session_id=session_id) == receipt.new


def test_an_export_of_geode_rows_is_geode_s_export(installation: Path) -> None:
    rows = geode.read_store(installation)
    for session in ("demo-finished", "demo-active"):
        theirs = geode.export_session(rows, session, geode.read_hook_events(installation, session))
        ours = pipeline.document(installation, session)
        added = {"derived", "value_redactions", "damaged_lines"}
        ours["integrity"] = {key: value for key, value in ours["integrity"].items() if key not in added}
        assert ours.pop("artifact_digests") == []
        if session == "demo-active":  # one turn-scoped event has its turn
            assert ours["events"][0]["payload"].get("_derived") is None
        assert ours == theirs


def test_a_digest_export_of_geode_rows_has_geode_s_digests(installation: Path) -> None:
    with closing(sqlite3.connect(installation)) as db, db:
        for number, kind in enumerate(
            ["verification.evidence", "error.recorded", "usage.recorded", "gui.step"]
        ):
            payload = {
                "references": [{"a": "é"}],
                "tool": "x",
                "error_type": "E",
                "input_tokens": 2**70,
                "f": 1e-7,
            }
            text = geode.compact(payload)
            db.execute(
                "INSERT INTO session_events(event_id, occurred_at, session_id, turn_id, kind, payload_json,"
                " payload_hash) VALUES (?, 1, 'more', 't', ?, ?, ?)",
                (f"e{number}", kind, text, geode.sha256(text)),
            )
    rows = geode.read_store(installation)
    for session in ("demo-finished", "demo-active", "more"):
        theirs = geode.export_session(rows, session)["events"]
        digested = [{**e, "payload": geode.digest_payload(e["kind"], e["payload"])} for e in theirs]
        ours = pipeline.document(installation, session, content="digest")
        assert ours["events"] == digested
        assert geode.check_trajectory(ours) == []


def test_hook_events_are_referred_to_by_their_digest(installation: Path) -> None:
    (reference,) = pipeline.document(installation, "demo-finished")["runtime_event_refs"]
    hooks = geode.read_hook_events(installation, "demo-finished")
    fields = ["id", "event", "payload_hash", "turn_id", "tool_call_id", "llm_call_id", "llm_attempt_id"]
    digest = geode.sha256(geode.compact([{key: hook[key] for key in fields} for hook in hooks]))
    assert reference == {
        "kind": "runtime_event",
        "schema_id": "geode.hook-event@3",
        "authority": "GEODE local runtime hook event store",
        "reference": f"hook-events-sha256:{digest}",
        "session_id": "demo-finished",
        "record_count": 2,
        "sha256": digest,
    }
    assert pipeline.document(installation, "demo-active")["runtime_event_refs"] == []


@pytest.mark.parametrize(
    "shape", ["CREATE TABLE hook_events(id INTEGER)", "CREATE VIEW hook_events AS SELECT 1"]
)
def test_a_foreign_hook_events_is_passed_over(shape: str, installation: Path) -> None:
    pipeline.sql(installation, "DROP TABLE hook_events")
    pipeline.sql(installation, shape)
    assert pipeline.document(installation, "demo-finished")["runtime_event_refs"] == []


CORRUPT = {"_corrupt_payload": True}


@pytest.mark.parametrize(
    ("text", "digest", "payload"),
    [
        ("{", None, CORRUPT),
        ("", None, CORRUPT),
        (b'{"a":"\xff"}', None, CORRUPT),
        (b"\x00\x01", None, CORRUPT),
        ("[" * 100_000, None, CORRUPT),
        ('{"a":2}', "0" * 64, {**CORRUPT, "_corrupt_reason": "payload_hash_mismatch"}),
        ('{"a":2}', "", {**CORRUPT, "_corrupt_reason": "payload_hash_mismatch"}),
        ("[1]", None, {"value": [1]}),
        ("null", None, {"value": None}),
        ('"x"', None, {"value": "x"}),
        ('{"a": 2}', None, {"a": 2}),
        ('{"a":1,"a":2}', None, {"a": 2}),
    ],
)
def test_a_corrupt_payload_reads_as_its_marker(
    text: str | bytes, digest: str | None, payload: dict, installation: Path
) -> None:
    digest = geode.sha256(text) if digest is None else digest
    query = "UPDATE session_events SET payload_json = CAST(? AS TEXT), payload_hash = ? WHERE id = 2"
    pipeline.sql(installation, query, text, digest)
    with opening.open_reader(installation) as connection:
        read = {row.id: events.payload(row) for row in events.read(connection, ["demo-finished"])}
    assert read[2] == payload
    assert {row["id"]: row["payload"] for row in geode.read_store(installation) if row["id"] in read} == read
    for content in ("full", "digest"):
        doc = pipeline.document(installation, "demo-finished", content=content)  # type: ignore[arg-type]
        assert geode.check_trajectory(doc) == []
        assert len(doc["events"]) == 6
    corrupt = "_corrupt_payload" in payload
    assert pipeline.document(installation, "demo-finished")["integrity"]["replay_complete"] is not corrupt


@pytest.mark.parametrize(
    "column", ["model", "provider", "status", "turn_id", "call_id", "parent_event_id", "role"]
)
@pytest.mark.parametrize("blob", [True, False])
def test_bytes_that_are_no_text_hide_nothing(column: str, blob: bool, installation: Path) -> None:
    value = "?" if blob else "CAST(? AS TEXT)"
    pipeline.sql(installation, f"UPDATE session_events SET {column} = {value} WHERE id = 5", b"bad \xff\xc3")
    doc = pipeline.document(installation, "demo-finished")
    assert [event["ordinal"] for event in doc["events"]] == [1, 2, 3, 4, 5, 6]
    event = doc["events"][4]
    name = {"role": "actor"}.get(column, column)
    assert {**event["payload"], **event}[name] == "bad \\xff\\xc3"
    assert geode.check_trajectory(doc) == []
    with opening.open_reader(installation) as connection:
        assert [one.session_id for one in events.summaries(connection)] == ["demo-active", "demo-finished"]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("occurred_at", 1e300),
        ("occurred_at", 2.0**62),
        ("occurred_at", 1_750_000_000_000.0),
        ("occurred_at", -1e12),
        ("occurred_at", "yesterday"),
        ("occurred_at", b"\xff"),
        ("session_generation", "two"),
        ("session_generation", 2.5),
        ("payload_json", 5),
        ("payload_hash", b"\xff"),
        ("kind", b"odd \xff"),
        ("source", b"odd, \xff"),
        ("session_id", b"\xff\xfe"),
    ],
)
def test_values_of_any_type_stop_no_reader(column: str, value: object, installation: Path) -> None:
    pipeline.sql(installation, f"UPDATE session_events SET {column} = ? WHERE id = 5", value)
    doc = pipeline.document(installation, "demo-finished")
    assert len(doc["events"]) == (5 if column == "session_id" else 6)
    assert geode.check_trajectory(doc) == []
    if column == "occurred_at":
        assert doc["events"][4]["payload"]["_timestamp_invalid"] is True
        assert doc["events"][4]["occurred_at"] == doc["captured_at"] == "2025-06-15T15:06:47.250000Z"
    with opening.open_reader(installation) as connection:
        summaries = {one.session_id: one for one in events.summaries(connection)}
    assert {"demo-active", "demo-finished"} <= summaries.keys()
    assert summaries["demo-finished"].last == 1_750_000_007.25


@pytest.mark.parametrize(
    ("text", "payload"),
    [
        ('{"a":NaN,"b":[-Infinity]}', {"a": "nan", "b": ["-inf"], "_nonfinite": ["/a", "/b/0"]}),
        ('{"a":1e999}', {"a": "inf", "_nonfinite": ["/a"]}),
        ('{"a":"\\ud83d"}', {"a": "\\ud83d", "_escaped": ["/a"]}),
    ],
)
def test_what_a_lax_writer_stored_is_written_as_an_import_would(
    text: str, payload: dict, installation: Path
) -> None:
    query = "UPDATE session_events SET payload_json = ?, payload_hash = ? WHERE id = 5"
    pipeline.sql(installation, query, text, geode.sha256(text))
    for content in ("full", "digest"):
        doc = pipeline.document(installation, "demo-finished", content=content)  # type: ignore[arg-type]
        assert geode.check_trajectory(doc) == []
    exported = pipeline.document(installation, "demo-finished")["events"][4]["payload"]
    assert exported.items() >= payload.items()


def test_a_session_id_of_bad_bytes_hides_no_session(installation: Path) -> None:
    pipeline.sql(
        installation, "UPDATE session_events SET session_id = CAST(? AS TEXT) WHERE id = 5", b"\xff\xfe"
    )
    with opening.open_reader(installation) as connection:
        summaries = list(events.summaries(connection))
    assert [one.session_id for one in summaries] == ["demo-active", "demo-finished", "\\xff\\xfe"]
    assert summaries[2].status == "open"
