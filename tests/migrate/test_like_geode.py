"""What the second GEODE makes of a transcript is what the product stores, but for what it adds on purpose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.migrate import pipeline
from tests.reference import geode
from tests.support import cases

# Where the product differs on purpose, and in what.
SESSION = "rows without an id of their own belong to the last session that was started"
TIME = "a time that cannot be read is the neighbour's, never the file's"
TYPED = "placeholders name their class and number"
OURS = {
    "bad-first-time": SESSION,
    "bad-times": TIME,
    "bom-crlf": "a byte order mark is no part of the first line",
    "empty-object": TIME,
    "hostile-text": SESSION,
    "huge-payload": SESSION,
    "lone-cr_fail": "a lone CR ends no line",
    "long-ids": SESSION,
    "marker-keys": "marker keys of a row claim nothing",
    "message-without-text": "a message without text takes the nested one",
    "mixed-dialects": SESSION,
    "no-session-ids": SESSION,
    "rows-before-start": SESSION,
    "run-dialect": "a message without text takes the nested one",
    "same-bytes-twice": SESSION,
    "secrets-in-columns": TYPED,
    "secrets-in-huge-strings": TYPED,
    "secrets-in-keys": TYPED,
    "secrets-in-text": TYPED,
    "secrets-in-tool-input": TYPED,
    "session-id-option": SESSION,
    "sub-agents": SESSION,
    "two-files-one-session": SESSION,
    "two-sessions-in-one-file": SESSION,
}
ADDED = {"_derived", "_escaped", "_nonfinite", "_redactions", "_blobs"}
ADDED_TO_LEGACY = {"fields", "duplicates"}


def without_ours(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its payload decoded and what only the product writes taken out."""
    payload = {key: value for key, value in json.loads(row["payload_json"]).items() if key not in ADDED}
    if "_legacy" in payload:
        told = payload["_legacy"].items()
        payload["_legacy"] = {key: value for key, value in told if key not in ADDED_TO_LEGACY}
    dropped = ("id", "schema_version", "payload_json", "payload_hash")
    return {key: value for key, value in {**row, "payload": payload}.items() if key not in dropped}


def stored(store: Path) -> dict[str, dict[str, Any]]:
    return {row.event_id: without_ours(row._asdict()) for row in pipeline.rows(store)}


@pytest.mark.parametrize("folder", cases.legacy_cases(), ids=lambda path: path.name)
def test_cases(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = cases.render(folder, tmp_path)
    monkeypatch.chdir(case)
    options = cases.load_expect(case).get("migrate", {})
    store = tmp_path / "sessions.db"
    receipts = pipeline.migrate(
        store, *map(Path, options.get("paths", ["input"])), session_id=options.get("session_id")
    )
    sources = [receipt.source for receipt in receipts if receipt.status == "imported"]
    expected = [
        without_ours(row)
        for source in sources
        for row in geode.import_legacy(source, session_id=options.get("session_id"))
    ]
    equal = expected == (list(stored(store).values()) if sources else [])
    assert equal is (folder.name not in OURS)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAMES = st.sampled_from(
    ["path", "category", "content", "rounds", "payload", "level", "é", "source", "arguments"]
)
FREE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | TEXT, inner, max_size=3),
    max_leaves=6,
)
EVENTS = st.sampled_from(
    "session_start session_end user_message assistant_message tool_call tool_result subagent_start"
    " subagent_complete vault_save cost error gui_step task_preflight handoff_triggered other".split()
)


@st.composite
def row(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a row as GEODE's writers write it: every row names its session, columns are text."""
    made: dict[str, Any] = {
        "event": draw(EVENTS),
        "session_id": draw(st.sampled_from(["s1", "s2"])),
        "ts": draw(st.integers(0, 2**31) | st.floats(0, 2**31)),
        "text": draw(TEXT),
    }
    extra = draw(st.dictionaries(NAMES, FREE, max_size=3))
    for key in ("turn_id", "call_id", "model", "provider", "status", "tool", "summary"):
        if draw(st.booleans()):
            made[key] = draw(TEXT)
    if draw(st.booleans()):
        made["input"] = draw(st.dictionaries(TEXT, FREE, max_size=2) | TEXT | FREE.map(json.dumps))
    if made["event"] in ("user_message", "assistant_message", "tool_call", "tool_result"):
        extra = {key: value for key, value in extra.items() if key not in ("content", "arguments")}
    return {**extra, **made}


@given(st.lists(row(), min_size=1, max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_any_rows_as_geode_writes_them(
    tmp_path_factory: pytest.TempPathFactory, lines: list, end: str
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    source = pipeline.write_lines(folder / "s1.jsonl", lines, end=end)
    receipts = pipeline.migrate(folder / "sessions.db", source)
    assert [receipt.new for receipt in receipts] == [len(lines)]
    expected = [without_ours(made) for made in geode.import_legacy(source)]
    assert list(stored(folder / "sessions.db").values()) == expected
