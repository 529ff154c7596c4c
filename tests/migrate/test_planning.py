"""A plan finds every file, says what would become of each, and orders them by their first time."""

from __future__ import annotations

import json
import os
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from geode_traj.codec import jsonl
from geode_traj.migrate.plan import plan
from geode_traj.sources import base, geode_legacy, lines
from tests.migrate import pipeline


def actions(*paths: Path, store: Path) -> dict[str, tuple[str, str | None]]:
    return {Path(one.given.name).name: (one.action, one.code) for one in plan(paths, store).sources}


def test_what_a_folder_holds_is_skipped_and_what_was_named_fails(tmp_path: Path) -> None:
    folder, store = tmp_path / "in", tmp_path / "sessions.db"
    pipeline.write_lines(folder / "a.jsonl", pipeline.dialogue("a", "x"))
    (folder / "notes.txt").write_text("nothing to import")
    (folder / "empty").touch()
    (folder / "dangling").symlink_to(folder / "nowhere")
    os.mkfifo(folder / "pipe")
    assert actions(folder, store=store) == {
        "a.jsonl": ("import", None),
        "notes.txt": ("skip", "TE205"),
        "empty": ("skip", "TE205"),
        "dangling": ("fail", "TE201"),
        "pipe": ("fail", "TE201"),
    }
    named = actions(folder / "a.jsonl", folder / "notes.txt", folder / "pipe", store=store)
    assert named == {"a.jsonl": ("import", None), "notes.txt": ("fail", "TE205"), "pipe": ("fail", "TE201")}
    receipts = pipeline.migrate(store, folder)  # and the batch goes on
    counts = Counter(receipt.status for receipt in receipts)
    assert counts == {"failed": 2, "imported": 1, "skipped": 2}
    assert len(pipeline.rows(store)) == 3


def test_sources_are_taken_by_first_time_then_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for name, start in [("b", 5.0), ("a", 5.0), ("z", 1.0), ("deep/y", 3.0)]:
        pipeline.write_lines(folder / f"{name}.jsonl", pipeline.dialogue(name, "x", start=start))
    pipeline.write_lines(folder / "c.jsonl", [{"event": "x", "ts": None}])  # no time: last
    planned = plan([folder], tmp_path / "sessions.db")
    assert [Path(one.given.name).stem for one in planned.sources] == ["z", "y", "a", "b", "c"]
    assert [one.total for one in planned.sources] == [3, 3, 3, 3, 1]
    assert planned.records == 13


def test_a_file_of_several_formats_is_nobody_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(geode_legacy.GeodeLegacy):
        name = "other"

    both = {**base.all_sources(), "other": Other()}
    monkeypatch.setattr(base, "all_sources", lambda: both)
    source = pipeline.write_lines(tmp_path / "a.jsonl", pipeline.dialogue("a", "x"))
    (one,) = plan([source], tmp_path / "sessions.db").sources
    assert (one.action, one.code) == ("fail", "TE206")
    assert "geode-legacy, other" in (one.reason or "")
    (chosen,) = plan([source], tmp_path / "sessions.db", format_name="other").sources
    assert chosen.action == "import"


def test_a_line_over_the_limit_is_damage_known_by_its_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "lines", partial(jsonl.lines, limit=500))
    start, *_, end = pipeline.dialogue("s1", "")
    long = json.dumps({"event": "user_message", "text": "x" * 1000, "ts": pipeline.START})
    source = pipeline.write_lines(tmp_path / "s1.jsonl", [start, long, end])
    store = tmp_path / "sessions.db"
    (receipt,) = pipeline.migrate(store, source)
    assert (receipt.converted, receipt.damaged_count) == (2, 1)
    (damaged,) = receipt.damaged
    assert (damaged["line"], damaged["reason"], damaged["length"]) == (2, "line_too_long", len(long))
    assert pipeline.sql(store, "SELECT redacted FROM traj_damaged") == [(None,)]
    assert pipeline.document(store, "s1")["integrity"]["scope_incompleteness"] == ["1 source line(s) damaged"]


def test_configured_fields_never_reach_the_store(tmp_path: Path) -> None:
    start, *_, end = pipeline.dialogue("s1", "")
    line = {
        "event": "user_message",
        "text": "x",
        "Diary": "quiet harbour",
        "deep": [{"diary": {"a": ["quiet"]}}],
        "ts": 5,
    }
    source = pipeline.write_lines(tmp_path / "in" / "s1.jsonl", [start, line, end])
    store = tmp_path / "store" / "sessions.db"
    (receipt,) = pipeline.migrate(store, source, sensitive_fields=("diary",))
    assert b"quiet" not in pipeline.file_bytes(store)
    assert receipt.sessions["s1"].redactions.total() == 2
    plain = tmp_path / "plain" / "sessions.db"
    pipeline.migrate(plain, source)
    assert b"quiet harbour" in pipeline.file_bytes(plain)


SECRET = "gh" + "p_" + "a1B2" * 9


def test_a_secret_in_a_path_or_an_id_never_reaches_the_store(tmp_path: Path) -> None:
    store = tmp_path / "store" / "sessions.db"
    rows = [{"event": "user_message", "text": "a", "ts": 1}, {"event": "x", "session_id": SECRET, "ts": 2}]
    source = pipeline.write_lines(tmp_path / SECRET / f"{SECRET}.jsonl", [*rows, f"{{torn {SECRET}"])
    source.write_bytes(source.read_bytes().removesuffix(b"\n"))
    (receipt,) = pipeline.migrate(store, source)
    assert receipt.source == str(source)  # the caller's own word
    assert SECRET.encode() not in pipeline.file_bytes(store)
    assert {row.session_id for row in pipeline.rows(store)} == {"[REDACTED:github_token:1]"}
    assert SECRET.encode() not in pipeline.export(store, "[REDACTED:github_token:1]")
    assert [one.status for one in pipeline.migrate(store, source)] == ["unchanged"]
    source.write_bytes(source.read_bytes() + b"}\n")
    (receipt,) = pipeline.migrate(store, source)
    assert (receipt.status, receipt.known, receipt.damaged_count) == ("extended", 2, 1)
    assert len(pipeline.sql(store, "SELECT * FROM traj_damaged")) == 1  # what had grown was known again
    assert SECRET.encode() not in pipeline.file_bytes(store)


def test_equal_secrets_share_a_number_across_imports(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    other = "gh" + "p_" + "c3D4" * 9
    for name, text in [("a", SECRET), ("b", other), ("c", f"{other} {SECRET}")]:
        source = pipeline.write_lines(tmp_path / f"{name}.jsonl", pipeline.dialogue(name, text))
        pipeline.migrate(store, source)
    texts = [payload["content"] for payload in pipeline.payloads(store) if "content" in payload]
    one, two = "[REDACTED:github_token:1]", "[REDACTED:github_token:2]"
    assert texts == [one, two, f"{two} {one}"]
    assert len(pipeline.sql(store, "SELECT * FROM traj_redactions")) == 2
