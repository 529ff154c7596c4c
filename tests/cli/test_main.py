from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from geode_traj.cli import main as module
from geode_traj.store import opening
from tests.reference import geode
from tests.support.secrets import make
from tests.support.transcripts import call

PRIVATE = "what the transcript says"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RuntimeError(PRIVATE), 70),
        (RecursionError(PRIVATE), 70),
        (MemoryError(PRIVATE), 70),
        (UnicodeEncodeError("utf-8", PRIVATE, 0, 1, PRIVATE), 70),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
    ],
    ids=lambda value: getattr(type(value), "__name__", ""),
)
def test_no_traceback_and_no_value_leaves(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(module.config, "default_map", fail)
    stdout, stderr, got = call(["formats"])
    assert (stdout, got) == (b"", code)
    assert b"Traceback" not in stderr
    assert PRIVATE.encode() not in stderr
    assert (b"internal error TE199" in stderr) == (code == 70)


@pytest.mark.parametrize("text", ["soon", "-1", "1.5", "٣", "9" * 400])
def test_a_wrong_source_date_epoch_is_usage(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", text)
    store = geode.create_store(tmp_path / "sessions.db")
    before = geode.read_store(store)
    close = ["session", "close", "demo-active", "--by", "a", "--reason", "b", "--store", str(store)]
    _, stderr, code = call(close)
    assert (code, b"SOURCE_DATE_EPOCH is not valid" in stderr) == (2, True)
    assert geode.read_store(store) == before


def test_an_attested_end_is_an_end_to_geode_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")  # a clock that lags
    store = geode.create_store(tmp_path / "sessions.db")
    close = ["session", "close", "demo-active", "--by", " A ", "--reason", "Over.", "--store", str(store)]
    assert call(close)[2] == 0
    *_, before, end = [row for row in geode.read_store(store) if row["session_id"] == "demo-active"]
    assert (end["kind"], end["status"], end["source"]) == ("session.ended", "attested", "attestation")
    assert end["payload"] == {"attested_by": "A", "attested_at": 1.0, "reason": "Over."}
    assert end["occurred_at"] == before["occurred_at"]
    assert not end["corrupt_payload"]
    exported = geode.export_session(geode.read_store(store), "demo-active")
    assert exported["integrity"]["scope_complete"]


def test_an_erased_session_leaves_no_text(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    text = "a sentence that is nowhere else"
    for name in ("gone", "kept"):
        row = {"event": "user_message", "session_id": name, "ts": 1750000000, "text": f"{text} {name}"}
        source = tmp_path / f"{name}.jsonl"
        source.write_text(json.dumps(row) + "\n" + json.dumps(row)[:-2], "utf-8")
        assert call(["migrate", str(source), "--store", str(store)])[2] == 1
    assert call(["session", "erase", "gone", "--yes", "--store", str(store)])[2] == 0
    left = b"".join(path.read_bytes() for path in tmp_path.glob("sessions.db*"))
    assert f"{text} gone".encode() not in left
    assert f"{text} kept".encode() in left
    with opening.open_reader(store) as connection:
        receipts = connection.execute("SELECT session_id FROM session_event_imports").fetchall()
    assert receipts == [("kept",)]


def test_an_error_shows_no_credential_of_a_path(tmp_path: Path) -> None:
    token = make("github_token")
    for words in (["fmt", f"{tmp_path}/{token}.json"], ["migrate", f"{tmp_path}/{token}", "--store", "x.db"]):
        stdout, stderr, code = call(words)
        assert code != 0 and token.encode() not in stdout + stderr
        assert b"[REDACTED:github_token]" in stdout + stderr
