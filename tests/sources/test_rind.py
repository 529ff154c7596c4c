from __future__ import annotations

import base64
import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from geode_traj.migrate.apply import apply
from geode_traj.migrate.plan import plan
from tests.migrate import pipeline
from tests.support import cases

FIXTURES = cases.FIXTURES.parent / "rind"


def folder(tmp_path: Path, case: str, session: str) -> Path:
    shutil.copytree(FIXTURES / case / "input" / session, tmp_path / "sessions" / session)
    return tmp_path / "sessions" / session


def by_unit(receipts: list) -> dict[str, str]:
    return {receipt.source.rpartition("#")[2]: receipt.status for receipt in receipts}


def test_a_session_that_goes_on_supersedes_its_earlier_state(tmp_path: Path) -> None:
    store, path = tmp_path / "s.db", folder(tmp_path, "pairing", "pairs")
    messages = path / "messages.jsonl"
    lines = messages.read_bytes().splitlines(keepends=True)
    messages.write_bytes(b"".join(lines[:5]) + lines[5][:40])
    (first,) = pipeline.migrate(store, path)
    assert first.damaged_count == 1
    before = pipeline.rows(store)
    messages.write_bytes(b"".join(lines))
    (second,) = pipeline.migrate(store, path)
    assert second.balanced
    after = pipeline.rows(store)
    assert {row.event_id for row in before} <= {row.event_id for row in after}
    assert {row.session_generation for row in after} == {1}
    fresh = tmp_path / "fresh.db"
    pipeline.migrate(fresh, path)
    assert [row.event_id for row in after] == [row.event_id for row in pipeline.rows(fresh)]
    assert pipeline.document(store, "pairs")["integrity"]["damaged_lines"] == 0


def test_an_output_that_expired_stays_in_the_store(tmp_path: Path) -> None:
    store, path = tmp_path / "s.db", folder(tmp_path, "journals", "journals")
    pipeline.migrate(store, path)
    (path / "tool-output" / "call_2.txt").unlink()
    (unchanged,) = pipeline.migrate(store, path)
    assert unchanged.status == "unchanged"
    with (path / "messages.jsonl").open("a") as file:
        file.write('{"id":"c9","ts":"2026-09-01T10:00:20+00:00","role":"user","content":"more"}\n')
    (receipt,) = pipeline.migrate(store, path)
    assert receipt.losses["tool_output_expired"] == 2
    kept = [payload.get("content") for payload in pipeline.payloads(store)]
    assert "line one\nline two\n" in kept
    assert {row.session_generation for row in pipeline.rows(store)} == {1}


def test_images_become_attachments(tmp_path: Path) -> None:
    image = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 64
    digest = sha256(image).hexdigest()
    path = tmp_path / "s1"
    (path / "attachments").mkdir(parents=True)
    (path / "attachments" / f"{digest}.png").write_bytes(image)
    (path / "attachments" / f"{'0' * 64}.jpg").write_bytes(b"never referred to")
    (path / "attachments" / f"{'1' * 64}.jpg").symlink_to("/dev/null")
    gone = "f" * 64
    pipeline.write_lines(path / "meta.json", [{"schema_version": "2.0", "session_id": "s1"}])
    row = {"id": "a", "ts": "2026-09-01T10:00:00Z", "role": "user", "content": "see"}
    attached = [{"path": f"attachments/{digest}.png"}, {"sha256": gone, "media_type": "image/png"}]
    pipeline.write_lines(path / "messages.jsonl", [{**row, "attachments": attached}])
    (receipt,) = pipeline.migrate(tmp_path / "s.db", path)
    assert receipt.losses == {"attachment_missing": 1, "attachment_not_referred_to": 1}
    message = pipeline.document(tmp_path / "s.db", "s1")["events"][1]["payload"]
    there, missing = message["attachments"]
    assert (there["media_type"], there["bytes"]) == ("image/png", len(image))
    assert base64.b64decode(there["data"]) == image
    assert missing["omitted"] == "missing"
    assert "data" not in missing


def test_a_trace_in_the_folder_is_a_session_that_is_tied_to_it(tmp_path: Path) -> None:
    store, path = tmp_path / "s.db", folder(tmp_path, "whole", "20260901_100000_0a1b2c3d")
    traces = path / "_llm_trace"
    shutil.copytree(FIXTURES.parent / "rind-llm-trace" / "single" / "input", traces)
    receipts = pipeline.migrate(store, path)
    assert all(receipt.balanced for receipt in receipts)
    assert by_unit(receipts) == {
        path.name: "imported",
        f"{path.name}/_llm_trace/call.jsonl": "imported",
    }
    assert pipeline.document(store, "call")["source"]["parents"] == [path.name]
    assert {row.source for row in pipeline.rows(store) if row.session_id == "call"} == {"rind-llm-trace"}


def test_a_child_names_its_parent(tmp_path: Path) -> None:
    pipeline.migrate(tmp_path / "s.db", FIXTURES / "delegate" / "input")
    assert pipeline.document(tmp_path / "s.db", "child-1")["source"]["parents"] == ["parent-1"]


def test_the_ledger_joins_a_session_without_opening_a_generation(tmp_path: Path) -> None:
    store, path = tmp_path / "s.db", folder(tmp_path, "whole", "20260901_100000_0a1b2c3d")
    row = json.loads((FIXTURES.parent / "rind-usage/ledger/input/usage.jsonl").read_text().split("\n")[0])
    ledger = pipeline.write_lines(tmp_path / "usage.jsonl", [{**row, "session_id": path.name}])
    pipeline.migrate(store, path)
    pipeline.migrate(store, ledger)
    with ledger.open("a") as file:
        file.write(json.dumps({**row, "session_id": path.name}) + "\n")
    (receipt,) = pipeline.migrate(store, ledger)
    assert (receipt.new, receipt.known) == (1, 1)
    assert {row.session_generation for row in pipeline.rows(store)} == {1}
    assert [row.kind for row in pipeline.rows(store)][-2:] == ["usage.recorded"] * 2


def test_a_session_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder(tmp_path, "whole", "20260901_100000_0a1b2c3d")
    planned = plan([path], tmp_path / "s.db")
    with (path / "messages.jsonl").open("a") as file:
        file.write("{}\n")
    (receipt,) = apply(planned, tmp_path / "s.db")
    assert (receipt.status, receipt.code) == ("failed", "TE207")


def test_many_waiting_results_take_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "s1"
    pipeline.write_lines(path / "meta.json", [{"schema_version": "2.0", "session_id": "s1"}])
    stamp = "2026-09-01T10:00:00Z"
    call = {"id": "same", "ts_end": stamp, "name": "t", "result": "r", "ok": True}
    pipeline.write_lines(path / "tool_calls.jsonl", [{**call, "n": n} for n in range(3000)])
    row = {"id": "m", "ts": stamp, "role": "tool", "content": "", "tool_call_id": "same"}
    pipeline.write_lines(path / "messages.jsonl", [row] * 1500)
    (receipt,) = pipeline.migrate(tmp_path / "s.db", path)
    assert receipt.balanced
    numbers = [
        payload["_legacy"]["fields"]["n"]
        for payload in pipeline.payloads(tmp_path / "s.db")
        if "tool" in payload
    ]
    assert numbers == list(range(3000))
