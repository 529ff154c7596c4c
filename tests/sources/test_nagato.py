"""Nagato's traces: every case, blobs that come and go, and paths that lead elsewhere."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from geode_traj.codec.files import sha256_bytes
from geode_traj.sources.nagato import blobs
from geode_traj.sources.nagato.trace import moment
from tests.migrate import pipeline
from tests.support import cases

FIXTURES = cases.FIXTURES.parent / "nagato"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return cases.render(FIXTURES / "run", tmp_path) / "input" / "nagato.db"


def test_the_database_is_read_and_never_touched(database: Path, tmp_path: Path) -> None:
    def look() -> dict[str, tuple[bytes, int]]:
        files = [path for path in sorted(database.parent.rglob("*")) if path.is_file()]
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}

    before = look()
    pipeline.migrate(tmp_path / "s.db", database)
    assert look() == before


def test_a_blob_that_is_found_later_is_worth_a_new_look(database: Path, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    pipeline.migrate(store, database)
    (database.parent / "blobs" / "00" / "gone").write_bytes(b"gone")
    (receipt,) = pipeline.migrate(store, database)
    assert receipt.status in ("superseded", "extended")
    assert "blob_missing" not in receipt.losses
    reasons = pipeline.document(store, "g1:main")["integrity"]["replay_incompleteness"]
    assert not [reason for reason in reasons if "missing" in reason]


def test_runs_of_a_channel_share_a_generation(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    database = cases.render(FIXTURES / "history", tmp_path) / "input" / "nagato.db"
    pipeline.migrate(store, database)
    with closing(sqlite3.connect(database)) as db, db:
        db.execute(
            "UPDATE run_traces SET status = 'completed', completed_at = 1788256820 WHERE run_id = 'r2'"
        )
    receipts = {one.source.split("#")[1]: one.status for one in pipeline.migrate(store, database)}
    assert receipts.pop("r2") == "superseded" and set(receipts.values()) == {"unchanged"}
    assert {row.session_generation for row in pipeline.rows(store)} == {1}
    assert [row.status for row in pipeline.rows(store) if row.kind == "turn.completed"] == ["completed"] * 2


@pytest.mark.parametrize(
    ("stored", "found"),
    [
        ("b/one", True),
        ("/far/away/b/one", True),
        ("C:\\far\\b\\one", True),
        ("b/../b/one", False),
        ("../secret", False),
        ("b/link", False),
        ("b", False),
        ("", False),
        ("b/one\0", False),
        ("9" * 400, False),
        ("b/" * 10_000 + "one", False),
        (7, False),
        (None, False),
    ],
)
def test_only_files_beside_the_database_are_blobs(tmp_path: Path, stored: object, found: bool) -> None:
    folder = tmp_path / "n"
    (folder / "b").mkdir(parents=True)
    (folder / "b" / "one").write_bytes(b"1")
    (tmp_path / "secret").write_bytes(b"2")
    (folder / "b" / "link").symlink_to(tmp_path / "secret")
    assert (blobs.located(folder, stored) is not None) == found


@pytest.mark.parametrize("packing", ["none", "zstd", "gzip", "brotli"])
def test_a_body_that_cannot_be_unpacked_or_differs_is_a_loss(tmp_path: Path, packing: str) -> None:
    (tmp_path / "x").write_bytes(b"plain")
    row = {"storage_path": "x", "compression": packing, "sha256": sha256_bytes(b"something else")}
    assert blobs.read(tmp_path, row).loss == "blob_differs"
    known = blobs.read(tmp_path, {**row, "sha256": sha256_bytes(b"plain")})
    assert known.loss == ("" if packing == "none" else "blob_not_readable")


@pytest.mark.parametrize(
    ("given", "seconds", "rule"),
    [
        (1788256800, 1788256800.0, "s_by_magnitude"),
        (1788256800500, 1788256800.5, "ms_by_magnitude"),
        ("1788256800500000", 1788256800.5, "us_by_magnitude"),
        ("2026-09-01T10:00:00Z", 1788256800.0, ""),
        ("2026-09-01T10:00:00", 1788256800.0, "naive_as_utc"),
        ("someday", None, ""),
        (True, None, ""),
        (None, None, ""),
    ],
)
def test_times_of_any_unit(given: object, seconds: float | None, rule: str) -> None:
    assert moment(given) == (pytest.approx(seconds) if seconds else None, rule)
