"""A store is opened without harm, waited for when busy, and made by its first user, whoever that is."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from geode_traj.errors import EXIT_BUSY, TrajError
from geode_traj.store import opening, schema
from tests.migrate import pipeline
from tests.reference import geode


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_reader_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(TrajError) as caught, opening.open_reader(tmp_path / "no" / "sessions.db"):
        pass
    assert caught.value.code == "TE503"
    assert names(tmp_path) == set()


def test_a_reader_cannot_write_and_sees_one_moment(tmp_path: Path) -> None:
    store = geode.create_store(tmp_path / "sessions.db")
    with opening.open_reader(store) as connection:
        count = "SELECT count(*) FROM session_events"
        before = connection.execute(count).fetchone()
        pipeline.sql(store, "DELETE FROM session_events WHERE id = 1")
        assert connection.execute(count).fetchone() == before
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute("DELETE FROM session_events")


@pytest.mark.parametrize("name", ["with space?#%.db", "é.db", "a'b.db"])
def test_any_file_name_is_a_store(name: str, tmp_path: Path) -> None:
    store = tmp_path / name
    with opening.open_writer(store):
        pass
    with opening.open_reader(store) as connection:
        assert schema.has_table(connection, "session_events")
    assert names(tmp_path) - {f"{name}-wal", f"{name}-shm"} == {name}


def test_a_new_store_is_private_and_an_old_one_keeps_its_mode(tmp_path: Path) -> None:
    store = tmp_path / "deep" / "er" / "sessions.db"
    with opening.open_writer(store):
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in store.parent.iterdir()}
    assert set(modes.values()) == {0o600}
    assert "sessions.db-wal" in modes
    store.chmod(0o640)
    with opening.open_writer(store):
        pass
    assert stat.S_IMODE(store.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"no database at all, but long enough to be read as one " * 30, "TE505"), (None, "TE503")],
)
def test_what_is_no_store_is_refused_unchanged(content: bytes | None, code: str, tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    path.mkdir() if content is None else path.write_bytes(content)
    for attempt in (opening.open_reader, opening.open_writer):
        with pytest.raises(TrajError) as caught, attempt(path):
            pass
        assert caught.value.code == code
        assert caught.value.place == str(path)
    assert names(tmp_path) == {"sessions.db"}
    assert content is None or path.read_bytes() == content


@pytest.mark.parametrize("fresh", [True, False])
def test_a_busy_store_is_said_to_be_busy(
    fresh: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "sessions.db"
    if not fresh:
        with opening.open_writer(store):
            pass
    source = pipeline.write_lines(tmp_path / "s1.jsonl", pipeline.dialogue("s1", "a"))
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0.2)
    monkeypatch.setattr(opening, "open_writer", partial(opening.open_writer, busy_seconds=0.2))
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        other.execute("CREATE TABLE theirs(x)")
        began = time.monotonic()
        with pytest.raises(TrajError) as caught:
            pipeline.migrate(store, source)
        assert (caught.value.code, caught.value.exit_code) == ("TE501", EXIT_BUSY)
        assert time.monotonic() - began < 5
        other.execute("ROLLBACK")
    (receipt,) = pipeline.migrate(store, source)
    assert receipt.status == "imported"


def test_a_short_wait_is_waited_out(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    code = (
        "import sqlite3, sys, time; db = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "db.execute('PRAGMA journal_mode=WAL'); db.execute('BEGIN IMMEDIATE'); print('held', flush=True);"
        "time.sleep(0.5); db.execute('COMMIT')"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(store)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with opening.open_writer(store) as connection, opening.transaction(connection):
            assert holder.poll() is not None or connection.in_transaction


def test_an_error_that_is_no_lock_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "sessions.db"
    real = sqlite3.connect
    with closing(real(store)) as db:
        db.execute("CREATE TABLE theirs(x)")
    read_only = partial(real, f"file:{store}?mode=ro", uri=True)
    monkeypatch.setattr(sqlite3, "connect", lambda path, **options: read_only(**options))
    began = time.monotonic()
    with pytest.raises(TrajError) as caught, opening.open_writer(store):
        pass
    assert caught.value.code == "TE503"
    assert time.monotonic() - began < 5


IMPORT = """
import sys
from pathlib import Path
from geode_traj.migrate.apply import apply
from geode_traj.migrate.plan import plan
store, source = map(Path, sys.argv[1:])
sys.stdin.readline()
(receipt,) = apply(plan([source], store), store)
print(receipt.status, receipt.new)
"""


def test_several_processes_at_first_use(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    sources = [
        pipeline.write_lines(tmp_path / f"s{n}.jsonl", pipeline.dialogue(f"s{n}", "a", "b")) for n in range(3)
    ]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", IMPORT, str(store), str(source)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for source in [*sources, sources[0]]
    ]
    for process in started:  # all wait for one word, then race
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    done = [(*process.communicate(timeout=60), process.returncode) for process in started]
    assert [(err, code) for _, err, code in done] == [("", 0)] * 4
    said = sorted(out.strip() for out, _, _ in done)
    assert said == ["imported 4", "imported 4", "imported 4", "unchanged 0"]
    assert len(pipeline.rows(store)) == 12


def test_a_transaction_is_whole_or_nothing(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    count = "SELECT count(*) FROM traj_redactions"
    insert = "INSERT INTO traj_redactions (class, mac, n) VALUES ('c', ?, 1)"
    with opening.open_writer(store) as connection:
        with pytest.raises(KeyError), opening.transaction(connection):
            connection.execute(insert, ("a",))
            raise KeyError
        assert connection.execute(count).fetchone() == (0,)
        with opening.transaction(connection):
            connection.execute(insert, ("a",))
            with pytest.raises(KeyError), opening.savepoint(connection):
                connection.execute(insert, ("b",))
                raise KeyError
            with opening.savepoint(connection):
                connection.execute(insert, ("c",))
        assert connection.execute(count).fetchone() == (2,)


def test_a_store_without_our_tables_is_read(tmp_path: Path) -> None:
    store = geode.create_store(tmp_path / "sessions.db")
    before = store.read_bytes()
    assert len(pipeline.document(store, "demo-finished")["events"]) == 6
    assert not [line for line in pipeline.dump(store) if "traj_" in line]
    assert store.read_bytes() == before
