"""What is deleted is gone from every byte; what is not deleted stays as it was."""

from __future__ import annotations

import json
import random
import sqlite3
import string
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from geode_traj.contract.ids import legacy_event_id
from geode_traj.errors import WorldError
from geode_traj.store import opening, retention
from tests.migrate import pipeline
from tests.reference import geode

GONE = "gone"
LETTERS = string.ascii_letters + string.digits


def incompressible(source: random.Random, size: int) -> str:
    return "".join(source.choices(LETTERS, k=size))


def traces(text: str) -> list[str]:
    """Return pieces of a text, its two ends among them: a page holds some 4,000 bytes."""
    return [text[start : start + 12] for start in (*range(0, len(text) - 12, 1_500), len(text) - 12)]


def fill(store: Path, folder: Path, seed: int) -> tuple[list[str], set[str]]:
    """Import files in which a session is interleaved with others; return its traces and the others' ids.

    Small and huge events alternate, so that pages are split, merged and overflow; each file grows twice, with
    a torn tail on the way, so that rows are also deleted and rewritten.
    """
    rng = random.Random(seed)
    canaries: list[str] = []
    folder.mkdir()
    for number in range(4):
        lines: list[str] = []
        for turn in range(50):
            session = GONE if turn % 2 else f"kept-{number}"
            size = rng.choice([20, 300, 4_000, 12_000]) if turn % 16 != 1 else 130_000
            text, ident = incompressible(rng, size), incompressible(rng, 100)
            row = {"event": "user_message", "text": text, "session_id": session, "ts": 1e9 + turn}
            lines.append(json.dumps({**row, "turn_id": ident}))
            if session == GONE:
                event_id = legacy_event_id(GONE, len(lines), geode.sha256(lines[-1]))
                canaries += [*traces(text), ident[:12], event_id]
        lines.append(json.dumps({"event": "session_end", "session_id": GONE, "ts": 2e9 + number}))
        path = folder / f"{number}.jsonl"
        for count in (20, 40, len(lines)):
            torn = lines[count][: len(lines[count]) // 2] if count < len(lines) else ""
            path.write_text("".join(line + "\n" for line in lines[:count]) + torn)
            pipeline.migrate(store, path)
    return canaries, {f"kept-{number}" for number in range(4)}


def file_bytes(store: Path) -> bytes:
    return b"".join(path.read_bytes() for path in store.parent.glob(store.name + "*"))


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 12))])
@pytest.mark.parametrize("others", ["none", "keyed", "virtual", "bare"])
def test_no_byte_of_a_deleted_session_is_left(others: str, seed: int, tmp_path: Path) -> None:
    store = tmp_path / "store" / "sessions.db"
    store.parent.mkdir()
    if others == "keyed":
        geode.create_store(store)
    elif others != "none":
        with opening.open_writer(store):
            pass
        shape = "VIRTUAL TABLE notes USING fts5(body)" if others == "virtual" else "TABLE notes(body TEXT)"
        pipeline.sql(store, f"CREATE {shape}")
        pipeline.sql(store, "INSERT INTO notes(rowid, body) VALUES (7, 'stays')")
    canaries, kept = fill(store, tmp_path / "in", seed)
    held = pipeline.file_bytes(store)
    assert sum(canary.encode() in held for canary in canaries) == len(canaries) > 500
    before = {session: pipeline.export(store, session) for session in kept}
    rows = [row for row in pipeline.rows(store) if row.session_id != GONE]

    assert pipeline.erase(store, GONE) == 104

    held = file_bytes(store)
    assert not [canary for canary in canaries if canary.encode() in held]
    assert list(pipeline.bodies(store)) == []
    assert pipeline.rows(store) == rows
    assert {session: pipeline.export(store, session) for session in kept} == before
    if others in ("virtual", "bare"):
        assert pipeline.sql(store, "SELECT rowid, body FROM notes") == [(7, "stays")]
    tables = [name for (name,) in pipeline.sql(store, "SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        assert GONE not in {value for row in pipeline.sql(store, f'SELECT * FROM "{table}"') for value in row}


@pytest.mark.parametrize("others", ["none", "bare"])
def test_what_another_program_writes_meanwhile_stays(others: str, tmp_path: Path) -> None:
    store = tmp_path / "store" / "sessions.db"
    rng = random.Random(1)
    texts = [incompressible(rng, 50_000) for _ in range(60)]
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "kept.jsonl", pipeline.dialogue("kept", *texts)))
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "gone.jsonl", pipeline.dialogue(GONE, "x")))
    shape = "x" if others == "bare" else "x INTEGER PRIMARY KEY"
    pipeline.sql(store, f"CREATE TABLE theirs({shape})")
    written: list[int] = []
    done = threading.Event()

    def write() -> None:
        with closing(sqlite3.connect(store, timeout=30)) as db:
            while not done.is_set():
                with db:
                    db.execute("INSERT INTO theirs VALUES (?)", (len(written),))
                written.append(len(written))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(3):
            with suppress(WorldError):  # the log may be busy: that is said, and no harm
                pipeline.erase(store, GONE)
            time.sleep(0.05)
    finally:
        done.set()
        writer.join()
    assert len(written) > 10
    assert pipeline.sql(store, "SELECT x FROM theirs ORDER BY rowid") == [(number,) for number in written]
    assert pipeline.sql(store, "PRAGMA integrity_check") == [("ok",)]
    assert {row.session_id for row in pipeline.rows(store)} == {"kept"}


def test_a_deleted_session_can_be_imported_again(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    both = [*pipeline.dialogue("a", "x"), *pipeline.dialogue("b", "y")]
    source = pipeline.write_lines(tmp_path / "both.jsonl", both)
    pipeline.migrate(store, source)
    before = pipeline.facts(store)
    pipeline.erase(store, "a")
    assert pipeline.sql(store, "SELECT * FROM session_event_imports") == []
    (receipt,) = pipeline.migrate(store, source)
    assert (receipt.status, receipt.new, receipt.known) == ("extended", 3, 3)
    assert sorted(pipeline.facts(store)) == sorted(before)


def test_a_receipt_under_another_id_goes_with_its_session(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    source = pipeline.write_lines(tmp_path / "run" / "dialogue.jsonl", pipeline.dialogue("a", "x"))
    pipeline.migrate(store, source)
    assert pipeline.sql(store, "SELECT session_id FROM session_event_imports") == [("dialogue",)]
    pipeline.erase(store, "a")
    for table in ("session_event_imports", "traj_import_sessions"):
        assert pipeline.sql(store, f"SELECT * FROM {table}") == []


def test_a_body_that_two_sessions_share_stays_for_the_other(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    text = "x" * 150_000
    for session in ("a", "b"):
        pipeline.migrate(
            store, pipeline.write_lines(tmp_path / f"{session}.jsonl", pipeline.dialogue(session, text))
        )
    assert len(list(pipeline.bodies(store))) == 1
    before = pipeline.export(store, "b")
    pipeline.erase(store, "a")
    assert pipeline.export(store, "b") == before
    pipeline.erase(store, "b")
    assert list(pipeline.bodies(store)) == []


def test_damaged_lines_go_with_their_session(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    lines: list[Any] = pipeline.dialogue("a", "x")
    lines.insert(2, "quiet-harbour {")
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "a.jsonl", lines))
    assert b"quiet-harbour" in file_bytes(store)
    pipeline.erase(store, "a")
    assert b"quiet-harbour" not in file_bytes(store)


def event(session: str, kind: str, at: float) -> tuple[object, ...]:
    return (geode.sha256(f"{session}{kind}{at}"), at, session, kind, "{}", geode.sha256("{}"))


DAY = 86_400.0


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("session.started", 1), ("session.ended", 2)], True),
        ([("session.started", 1), ("session.ended", 200)], False),
        ([("session.started", 1), ("message.user", 2)], False),
        ([("session.ended", 1), ("session.started", 2)], False),
        ([("session.ended", 1), ("session.started", 2), ("session.ended", 3)], True),
        ([("session.ended", 1), ("message.user", 0)], False),  # the latest by order, not by time
        ([("message.user", 300), ("session.ended", 2)], True),
        ([("session.ended", 100)], False),  # not before the cutoff
        ([("session.ended", -1e9)], False),  # no calendar time: unknown, not old
    ],
)
def test_only_explicitly_ended_sessions_expire(rows: list, expected: bool, tmp_path: Path) -> None:
    store = geode.create_store(tmp_path / "sessions.db", demo=False)
    for kind, day in rows:
        query = (
            "INSERT INTO session_events(event_id, occurred_at, session_id, kind, payload_json, payload_hash)"
            " VALUES (?, ?, ?, ?, ?, ?)"
        )
        pipeline.sql(store, query, *event("one", kind, day * DAY))
        pipeline.sql(store, query, *event("other", "message.user", day * DAY))
    with opening.open_reader(store) as connection:
        expired = retention.expired(connection, 100 * DAY)
    assert [one.session_id for one in expired] == (["one"] if expected else [])
    if expected:
        assert expired[0] == retention.Expired("one", rows[-1][1] * DAY, len(rows))


def test_an_empty_database_has_nothing_to_expire(tmp_path: Path) -> None:
    pipeline.sql(tmp_path / "other.db", "CREATE TABLE theirs(x)")
    with opening.open_reader(tmp_path / "other.db") as connection:
        assert retention.expired(connection, 1e12) == []


def test_a_reader_that_holds_the_log_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "a.jsonl", pipeline.dialogue("a", "x")))
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0.1)
    with opening.open_reader(store) as reader:
        reader.execute("SELECT count(*) FROM session_events").fetchone()
        with (
            pytest.raises(Exception, match="busy") as caught,
            opening.open_writer(store, busy_seconds=0.1) as connection,
        ):
            retention.erase(connection, ["a"])
    assert getattr(caught.value, "code", "") == "TE501"
    assert pipeline.rows(store) == []  # deleted all the same; a later run empties the log
    with opening.open_writer(store) as connection:
        retention.scrub(connection)
    assert not (tmp_path / "sessions.db-wal").exists() or (tmp_path / "sessions.db-wal").stat().st_size == 0
