"""What an older table of rules let into a store is found there, and leaves no byte when it is redacted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from geode_traj.jobs.scan_report import exit_code
from geode_traj.jobs.scan_store import StoreScan, scan_store
from geode_traj.migrate import scrub
from geode_traj.report import names, render
from geode_traj.scan.engine import Scanner
from geode_traj.store import opening
from tests.migrate import pipeline
from tests.reference import geode
from tests.support.secrets import CREDENTIALS, core, make
from tests.support.transcripts import call

TOKEN, OTHER = make("github_token"), make("npm_token")


class Blind(Scanner):
    """The rules of a time that knew no secrets."""

    def may_match(self, encoded: bytes) -> bool:
        return False

    def find(self, text: str, key: str = "", *, damaged: bool = False) -> list:
        return []

    def is_sensitive(self, key: str) -> bool:
        return False


@contextmanager
def long_ago() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scrub, "Scanner", Blind)
        yield


def scan(store: Path, *, redact: bool = False, jobs: int = 1) -> StoreScan:
    return scan_store(store, Scanner("import"), redact=redact, jobs=jobs)


def redact(store: Path) -> list[dict[str, Any]]:
    done = scan(store, redact=True)
    assert done.held is None and exit_code(done.report) == 0, list(render(done.report, "text"))
    return [entry.data["redaction"] for entry in done.report.entries if "redaction" in entry.data]


def session(name: str = "s1", *more: object) -> list[object]:
    """A session with a secret wherever a source can put one."""
    return [
        *pipeline.dialogue(name, f"say {TOKEN}", "b", "long " * 40_000 + OTHER, ended=False),
        {"event": "tool_call", "tool": "read", "input": {TOKEN: {"token": "quiet"}}, "ts": 2e9},
        {"event": "tool_call", "tool": "read", "call_id": f"c-{TOKEN}", "input": {}, "ts": 2e9},
        "{torn " + OTHER,
        *more,
    ]


@pytest.fixture
def old(tmp_path: Path) -> tuple[Path, Path]:
    store = tmp_path / "store" / "sessions.db"
    source = pipeline.write_lines(tmp_path / "in" / f"x-{OTHER}.jsonl", session())
    with long_ago():
        pipeline.migrate(store, source)
    return store, source


def test_everything_is_found_and_nothing_told(old: tuple[Path, Path]) -> None:
    report = scan(old[0]).report
    pointers = {finding.place.pointer for entry in report.entries for finding in entry.findings}
    for wanted in (
        "/payload/content",
        "/call_id",
        "/session_id",
        "/traj_damaged/",
        "/session_event_imports/",
    ):
        assert any(wanted in pointer for pointer in pointers if pointer is not None), wanted
    assert exit_code(report) == 1
    for form in names():
        told = "".join(render(report, form))
        assert TOKEN not in told and OTHER not in told
    assert scan(old[0]).report == report == scan(old[0], jobs=3).report


def test_after_redacting_the_store_is_as_if_imported_today(tmp_path: Path) -> None:
    store, today = tmp_path / "store" / "sessions.db", tmp_path / "today" / "sessions.db"
    source = pipeline.write_lines(tmp_path / "s1.jsonl", session())
    with long_ago():
        pipeline.migrate(store, source)
    pipeline.migrate(today, source)
    (receipt,) = redact(store)
    assert receipt == {
        "events": 4,
        "rows": 1,
        "redactions": {"github_token": 3, "npm_token": 2, "sensitive_field": 1},
    }
    assert pipeline.facts(store) == pipeline.facts(today)
    assert list(pipeline.bodies(store)) == list(pipeline.bodies(today))
    for table in ("traj_damaged", "traj_import_sessions", "traj_links", "traj_content"):
        query = f"SELECT * FROM {table}"
        assert pipeline.sql(store, query) == pipeline.sql(today, query)
    assert pipeline.export(store, "s1") == pipeline.export(today, "s1")


def test_no_byte_is_left(old: tuple[Path, Path]) -> None:
    store, _ = old
    before = pipeline.file_bytes(store)
    assert TOKEN.encode() in before and OTHER.encode() in before and b"quiet" in before
    redact(store)
    after = pipeline.file_bytes(store)
    assert TOKEN.encode() not in after and OTHER.encode() not in after and b"quiet" not in after


def test_a_second_time_changes_nothing(old: tuple[Path, Path]) -> None:
    store, _ = old
    redact(store)
    before = store.read_bytes()
    assert redact(store) == []
    assert store.read_bytes() == before


def test_a_grown_source_goes_on(old: tuple[Path, Path]) -> None:
    store, source = old
    redact(store)
    ids = [row.event_id for row in pipeline.rows(store)]
    (receipt,) = pipeline.migrate(store, source)
    assert (receipt.status, receipt.new) == ("unchanged", 0)
    pipeline.write_lines(source, session("s1", {"event": "user_message", "text": f"and {TOKEN}", "ts": 3e9}))
    (receipt,) = pipeline.migrate(store, source)
    assert (receipt.status, receipt.new, receipt.known) == ("extended", 1, len(ids))
    assert [row.event_id for row in pipeline.rows(store)][:-1] == ids
    assert TOKEN.encode() not in pipeline.file_bytes(store)
    assert pipeline.payloads(store)[-1]["content"] == "and [REDACTED:github_token:1]"


def test_what_a_stream_has_cut_goes_from_every_event(tmp_path: Path) -> None:
    store = tmp_path / "store" / "sessions.db"
    texts = (f"see {TOKEN[:9]}", TOKEN[9:20], f"{TOKEN[20:]} and", " so on")
    base = {"event": "message.delta", "run_id": "run_1", "timestamp": 1788256801.0}
    end = {**base, "event": "run.completed", "output": "done"}
    source = pipeline.write_lines(tmp_path / "events.jsonl", [*({**base, "delta": t} for t in texts), end])
    pipeline.migrate(store, source)
    report = scan(store).report
    assert [finding.message for entry in report.entries for finding in entry.findings] == [
        "github_token v1 inside chunks"
    ] * 3
    assert scan(store, jobs=3).report == report
    (receipt,) = redact(store)
    assert receipt == {"events": 3, "rows": 0, "redactions": {"github_token": 3}}
    mark = "[REDACTED:github_token:1]"
    told = [payload["delta"] for payload in pipeline.payloads(store) if "delta" in payload]
    assert told == [f"see {mark}", mark, f"{mark} and", " so on"]
    assert redact(store) == []


@pytest.mark.parametrize("named", ["text", "unit"])
def test_a_unit_that_is_written_anew_takes_the_place_of_the_old(named: str, tmp_path: Path) -> None:
    store, source = tmp_path / "store" / "s.db", tmp_path / "in" / "session-1.json"
    name = f"s-{TOKEN}" if named == "unit" else "s-1"

    def write(*texts: str) -> None:
        messages = [
            {"id": f"m{n}", "timestamp": f"2026-01-01T00:00:0{n}Z", "type": "user", "content": text}
            for n, text in enumerate(texts)
        ]
        head = {"sessionId": name, "projectHash": "p", "startTime": "2026-01-01T00:00:00Z"}
        source.parent.mkdir(exist_ok=True)
        source.write_text(json.dumps({**head, "lastUpdated": "2026-01-01T00:00:09Z", "messages": messages}))

    write("a", f"my {OTHER}")
    with long_ago():
        (receipt,) = pipeline.migrate(store, source)
    assert receipt.status == "imported" and OTHER.encode() in pipeline.file_bytes(store)
    count = len(pipeline.rows(store))
    redact(store)
    (receipt,) = pipeline.migrate(store, source)
    assert receipt.status == "unchanged"
    write("a", f"my {OTHER}", f"your {OTHER}")
    pipeline.migrate(store, source)
    assert len(pipeline.rows(store)) == count + 1
    held = pipeline.file_bytes(store)
    assert OTHER.encode() not in held and TOKEN.encode() not in held


def test_a_session_named_by_a_secret_is_renamed_everywhere(tmp_path: Path) -> None:
    store = tmp_path / "store" / "s.db"
    rows = [{"event": "user_message", "text": "a", "session_id": f"s-{TOKEN}", "ts": 1e9}]
    with long_ago():
        pipeline.migrate(store, pipeline.write_lines(tmp_path / "in.jsonl", rows))
    (entry,) = [e for e in scan(store).report.entries if e.findings]
    assert entry.name.endswith("#s-[REDACTED:github_token]")
    redact(store)
    assert {row.session_id for row in pipeline.rows(store)} == {"s-[REDACTED:github_token:1]"}
    assert TOKEN.encode() not in pipeline.file_bytes(store)


@pytest.mark.parametrize("kind", CREDENTIALS)
def test_no_kind_of_credential_is_left(kind: str, tmp_path: Path) -> None:
    store = tmp_path / "store" / "s.db"
    with long_ago():
        pipeline.migrate(
            store, pipeline.write_lines(tmp_path / "in.jsonl", pipeline.dialogue("s1", make(kind)))
        )
    assert core(kind).encode().replace(b"\n", b"\\n") in pipeline.file_bytes(store)
    assert redact(store)
    assert core(kind).encode().replace(b"\n", b"\\n") not in pipeline.file_bytes(store)


def test_what_was_corrupt_stays_corrupt(tmp_path: Path) -> None:
    store = geode.create_store(tmp_path / "sessions.db")
    text = json.dumps({"content": TOKEN})
    pipeline.sql(store, "UPDATE session_events SET payload_json = ? WHERE id = 1", text)
    pipeline.sql(store, "UPDATE session_events SET payload_json = ? WHERE id = 2", f"{{no json {TOKEN}")
    with opening.open_writer(store):
        pass
    scan(store, redact=True)
    assert TOKEN.encode() not in pipeline.file_bytes(store)
    first, second = pipeline.rows(store)[:2]
    assert json.loads(first.payload_json)["content"] == "[REDACTED:github_token:1]"
    assert geode.sha256(first.payload_json) != first.payload_hash
    assert second.payload_json == "{no json [REDACTED:github_token:1]"


def test_a_lost_body_is_quarantined_and_left(old: tuple[Path, Path]) -> None:
    store, _ = old
    pipeline.sql(store, "UPDATE traj_blobs SET zstd = x'00'")
    done = scan(store, redact=True)
    assert exit_code(done.report) == 3
    assert [entry.data["quarantined"] for entry in done.report.entries if entry.data["quarantined"]] == [True]


def test_an_event_id_that_is_a_secret_is_told_and_kept(old: tuple[Path, Path]) -> None:
    store, _ = old
    pipeline.sql(store, "UPDATE session_events SET event_id = ? WHERE id = 2", TOKEN)
    report = scan(store, redact=True).report
    (finding,) = [found for entry in report.entries for found in entry.findings]
    assert finding.place.pointer == "/session_events/[REDACTED:github_token]/event_id"
    assert TOKEN not in "".join(render(report, "json"))
    assert pipeline.payloads(store)[1]["content"] == "say [REDACTED:github_token:1]"


def test_tables_of_another_program_are_told_and_left(old: tuple[Path, Path]) -> None:
    store, _ = old
    pipeline.sql(store, "CREATE TABLE theirs (name TEXT PRIMARY KEY, note) WITHOUT ROWID")
    pipeline.sql(store, "INSERT INTO theirs VALUES ('a', 1), ('b', ?)", f"x {TOKEN}")
    for _ in range(2):
        report = scan(store, redact=True).report
        (finding,) = [found for entry in report.entries for found in entry.findings]
        assert finding.place.pointer == "/theirs/2/note" and exit_code(report) == 1
        assert report.entries[-1].headline == "1 high; in tables of another program, which are left alone"
    assert pipeline.sql(store, "SELECT note FROM theirs WHERE name = 'b'") == [(f"x {TOKEN}",)]


CHILD = """
import os, signal, sys
from pathlib import Path
from geode_traj.jobs.scan_store import scan_store
from geode_traj.scan.engine import Scanner
from geode_traj.store import retention, rewriting
at, done = int(sys.argv[2]), 0
real = rewriting.mark_pending
def mark(connection):
    global done
    done += 1
    if done == at:
        os.kill(os.getpid(), signal.SIGKILL)
    real(connection)
def die(connection):
    os.kill(os.getpid(), signal.SIGKILL)
rewriting.mark_pending = mark
if at == 0:
    retention.scrub = die
scan_store(Path(sys.argv[1]), Scanner("import"), redact=True)
"""


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_kill_leaves_whole_sessions_and_a_rerun_finishes(at: int, tmp_path: Path) -> None:
    store = tmp_path / "store" / "s.db"
    with long_ago():
        for name in ("one", "two", "three"):
            pipeline.migrate(store, pipeline.write_lines(tmp_path / f"{name}.jsonl", session(name)))
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(store), str(at)], env={**os.environ}, check=False
    )
    assert child.returncode == -signal.SIGKILL
    texts: dict[str, set[bool]] = {}
    for row in pipeline.rows(store):
        if TOKEN in row.payload_json or "REDACTED" in row.payload_json:
            texts.setdefault(row.session_id, set()).add(TOKEN in row.payload_json)
    assert all(len(kinds) == 1 for kinds in texts.values())
    assert sum(True in kinds for kinds in texts.values()) == (0 if at == 0 else 4 - at)
    redact(store)
    held = pipeline.file_bytes(store)
    assert TOKEN.encode() not in held and OTHER.encode() not in held
    assert pipeline.sql(store, "SELECT name FROM traj_secrets") == [("redaction",)]


def test_the_command_says_what_it_does(old: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    store, _ = old
    monkeypatch.setenv("GEODE_TRAJ_SCAN_STORE", str(store))
    stdout, stderr, code = call(["scan", "--store", "--redact", "--dry-run"])
    assert code == 1 and b"nothing was written" in stderr and TOKEN.encode() in pipeline.file_bytes(store)
    stdout, stderr, code = call(["scan", "--store", str(store), "--redact", "--format", "json"])
    assert (code, stderr) == (0, b"")
    assert [one["redaction"]["events"] for one in json.loads(stdout)["inputs"]] == [6, 0]
    for words in (["--redact"], ["x", "--redact"], ["--store", str(store), "x"], ["x", "--dry-run"]):
        assert call(["scan", *words])[2] == 2
    assert call(["scan", "--store", str(store), "--redact", "--profile", "publish"])[2] == 2


def test_a_reader_that_keeps_old_text_is_told(old: tuple[Path, Path]) -> None:
    store, _ = old
    with opening.open_reader(store) as reader:
        reader.execute("SELECT count(*) FROM session_events").fetchone()
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(opening.open_writer.__wrapped__.__kwdefaults__, "busy_seconds", 0.05)
            done = scan(store, redact=True)
    assert done.held is not None and done.held.code == "TE501"
    redact(store)
    assert TOKEN.encode() not in pipeline.file_bytes(store)
