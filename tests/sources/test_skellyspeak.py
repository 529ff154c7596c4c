from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.migrate import pipeline
from tests.support import cases

FIXTURES = cases.FIXTURES.parent / "skellyspeak"
CASES = sorted(path.parent for path in FIXTURES.glob("*/expect.json"))
START = 1_790_000_001_000


def run(number: int, operation: str = "tokenize", *, at: int = 0, **more: Any) -> dict[str, Any]:
    fields = {"session_id": "s1", "app_version": "1", "id": number, "turn_id": 1, "operation": operation}
    return {
        **fields,
        "started_at_ms": START + at,
        "attempts": [],
        "outcome": "ok",
        "application_status": "not_reported",
        **more,
    }


def reply(number: int, text: str, *, message: str = "m1", **more: Any) -> dict[str, Any]:
    request = {"messages": [{"role": "user", "content": "hey", "truncated": False}]}
    attempt = {"index": 0, "kind": "ok", "request": request, "response": text, "usage": None}
    context = {"chat_id": "c", "message_id": message, "trigger": "learner_message"}
    return run(number, "reply", context=context, attempts=[attempt], **more)


def archive(folder: Path, *runs: dict[str, Any], evicted: int = 0, name: str = "ai-traces.json") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(json.dumps({"version": 1, "evicted": evicted, "runs": list(runs)}))
    return path


def told(store: Path, *paths: Path) -> dict[str, str]:
    receipts = pipeline.migrate(store, *paths)
    assert all(receipt.balanced for receipt in receipts)
    return {receipt.source.rpartition("/")[2]: receipt.status for receipt in receipts}


def kinds(store: Path) -> list[str]:
    return [row.kind for row in pipeline.rows(store)]


def scope(store: Path, session: str = "s1") -> list[str]:
    return list(pipeline.document(store, session)["integrity"]["scope_incompleteness"])


def test_a_run_that_is_rewritten_keeps_its_place(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    first, second = reply(1, "hello"), run(2, at=500)
    path = archive(tmp_path, first, second)
    pipeline.migrate(store, path)
    before = pipeline.rows(store)
    archive(tmp_path, {**first, "application_status": "conversation_saved"}, second, run(3, at=900))
    statuses = told(store, path)
    assert statuses[str(START)] == "superseded"
    assert statuses[str(START + 500)] == "unchanged"
    after = pipeline.rows(store)
    assert [row.kind for row in after[:-1]] == [row.kind for row in before]
    assert [row.id for row in after[:-1]] == [row.id for row in before]
    assert {row.session_generation for row in after} == {1}
    assert [payload.get("application_status") for payload in pipeline.payloads(store)] == [
        None, None, "conversation_saved", None, "not_reported", "not_reported",
    ]  # fmt: skip
    digests = pipeline.sql(store, "SELECT source_digest FROM session_event_imports WHERE source_path LIKE ?",
                           f"%s1/1/{START}")  # fmt: skip
    assert len(digests) == 2


def test_evicted_runs_stay_in_the_store_and_are_told_once(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    path = archive(tmp_path, run(1), run(2, at=10), evicted=1)
    pipeline.migrate(store, path)
    for evicted in (2, 3):
        archive(tmp_path, run(2, at=10), run(3, at=20), evicted=evicted)
        (receipt,) = [one for one in pipeline.migrate(store, path) if "#" not in one.source]
        assert receipt.losses == {"evicted_runs": evicted}
    assert kinds(store) == ["session.started", *["legacy.imported"] * 3]
    assert scope(store)[0] == "3 run(s) evicted from the archive, which ones is unknown"
    assert len(scope(store)) == 2
    # A cleared archive counts from nothing again; what is gone is gone.
    archive(tmp_path, run(4, at=30))
    pipeline.migrate(store, path)
    assert scope(store)[0] == "3 run(s) evicted from the archive, which ones is unknown"


def test_an_id_that_is_given_again_is_another_run(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    path = archive(tmp_path, run(1, "translate"))
    pipeline.migrate(store, path)
    archive(tmp_path, run(1, "explain", at=60_000))
    pipeline.migrate(store, path)
    assert [one.get("operation") for one in pipeline.payloads(store)] == [None, "translate", "explain"]


def test_a_message_that_is_answered_again_is_said_once(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    pipeline.migrate(store, archive(tmp_path, reply(1, "one"), reply(2, "two", at=10)))
    contents = [one["content"] for one in pipeline.payloads(store) if "content" in one]
    assert contents == ["hey", "one", "two"]
    assert not pipeline.sql(store, "SELECT * FROM traj_links")


def test_of_two_states_in_one_import_the_further_one_stays(tmp_path: Path) -> None:
    for names in (("a.json", "b.json"), ("b.json", "a.json")):
        store = tmp_path / names[0] / "store.db"
        saved = {**reply(1, "one"), "application_status": "conversation_saved"}
        archive(store.parent, saved, name=names[0])
        archive(store.parent, reply(1, "one"), name=names[1])
        pipeline.migrate(store, store.parent / "a.json", store.parent / "b.json")
        (payload,) = [one for one in pipeline.payloads(store) if one.get("content") == "one"]
        assert payload["application_status"] == "conversation_saved"


def test_layout_and_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    path = archive(tmp_path, reply(1, "héllo"))
    pipeline.migrate(store, path)
    rows = pipeline.rows(store)
    text = json.dumps(json.loads(path.read_bytes()), indent=2, ensure_ascii=False).replace("\n", "\r\n")
    other = tmp_path / "other.json"
    other.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert set(told(store, other).values()) == {"unchanged", "imported"}
    assert pipeline.rows(store) == rows


def test_repeated_keys_of_the_file_are_told(tmp_path: Path) -> None:
    store, path = tmp_path / "store.db", tmp_path / "ai-traces.json"
    path.write_text(
        f'{{"version":1,"evicted":0,"runs":[{json.dumps(run(9))}],"runs":[{json.dumps(run(1))}]}}'
    )
    (receipt,) = [one for one in pipeline.migrate(store, path) if "#" not in one.source]
    assert receipt.losses == {"earlier_value_of_repeated_key": 1}
    assert scope(store)[0] == "1 earlier value(s) of repeated keys of the file left out"


def test_a_file_that_changes_between_plan_and_import_is_refused(tmp_path: Path) -> None:
    store, path = tmp_path / "store.db", archive(tmp_path, run(1))
    planned = pipeline.plan([path], store)
    archive(tmp_path, run(1, outcome="failed"))
    receipts = list(pipeline.apply(planned, store))
    assert {one.code for one in receipts if one.status == "failed"} == {"TE207"}


def test_an_assessment_that_completes_replaces_what_was_pending(tmp_path: Path) -> None:
    store, path = tmp_path / "store.db", tmp_path / "skill-evidence.json"
    record = {
        "attempt_id": "a1",
        "session_id": "s1",
        "turn_id": 1,
        "catalog_version": 3,
        "at_secs": 1_790_000_000,
    }
    for status in ("pending", "complete"):
        path.write_text(json.dumps({"version": 1, "records": [{**record, "status": status}]}))
        (receipt,) = pipeline.migrate(store, path)
    assert receipt.status == "superseded"
    document = pipeline.document(store, "s1")
    assert [event["payload"]["status"] for event in document["events"]] == ["complete"]
    (reference,) = document["evidence_refs"]
    assert (reference["kind"], reference["reference"], reference["status"]) == ("legacy", "a1", "complete")
    assert reference["sha256"] and reference["operation"] == "assess_skills"


def test_a_chat_that_grows_goes_on(tmp_path: Path) -> None:
    store, path = tmp_path / "store.db", tmp_path / "1790000000-0a1b2c3d" / "session.json"
    path.parent.mkdir()
    turns: list[dict[str, Any]] = []
    for number in range(3):
        turns.append({"id": f"m{number}", "user": f"question {number}", "analysisState": "done"})
        path.write_text(json.dumps({"turns": turns, "title": "Demo", "updated_at": 1_790_000_000 + number}))
        (receipt,) = pipeline.migrate(store, path)
        assert receipt.balanced
        assert receipt.new == (1 if number else 2)
    assert receipt.status == "extended"
    assert [one.get("content") for one in pipeline.payloads(store)] == [
        None, "question 0", "question 1", "question 2",
    ]  # fmt: skip
    assert pipeline.payloads(store)[0]["updated_at"] == 1_790_000_002
    assert {row.session_generation for row in pipeline.rows(store)} == {1}


def test_a_long_archive_is_recognised_whatever_the_order_of_its_keys(tmp_path: Path) -> None:
    runs = [run(number, at=number, prompt="word " * 400) for number in range(200)]
    for keys in (("version", "evicted", "runs"), ("runs", "version", "evicted")):
        document = {"version": 1, "evicted": 0, "runs": runs}
        path = tmp_path / f"{keys[0]}.json"
        path.write_text(json.dumps({key: document[key] for key in keys}))
        receipts = pipeline.migrate(tmp_path / f"{keys[0]}.db", path)
        assert {one.format for one in receipts} == {"skellyspeak-archive"}
        assert sum(one.converted for one in receipts) == 200
        assert {row.session_generation for row in pipeline.rows(tmp_path / f"{keys[0]}.db")} == {1}


@pytest.mark.parametrize("layout", [None, 1])
def test_a_value_nested_without_end_is_refused_by_name(tmp_path: Path, layout: int | None) -> None:
    path = archive(tmp_path, run(1, output="DEEP"))
    text = json.dumps(json.loads(path.read_bytes()), indent=layout)
    path.write_text(text.replace('"DEEP"', '{"a":' * 3000 + "1" + "}" * 3000))
    (receipt,) = pipeline.migrate(tmp_path / "store.db", path)
    assert (receipt.format, receipt.status, receipt.code) == ("skellyspeak-archive", "failed", "TE204")


def test_what_should_be_a_word_and_is_none_stays_as_it_is(tmp_path: Path) -> None:
    odd = reply(1, "hello")
    odd["context"]["trigger"], odd["attempts"][0]["kind"] = {}, ["ok"]
    assert set(told(tmp_path / "store.db", archive(tmp_path, odd)).values()) == {"imported"}
    assert "usage.recorded" not in kinds(tmp_path / "store.db")
