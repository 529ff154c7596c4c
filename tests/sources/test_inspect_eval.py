"""Inspect logs: what only several imports, or archives that are no cases, can show."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from backports.zstd import zipfile

from geode_traj.errors import DataError
from geode_traj.sources import base
from geode_traj.sources.inspect_eval import splitting
from tests.migrate import pipeline
from tests.support import cases
from tests.support.archives import METHODS, pack
from tests.support.marked import marked

FIXTURES = cases.FIXTURES.parent / "inspect_eval"
CASES = sorted(path.parent for path in FIXTURES.glob("*/expect.json"))


def members(case: str = "run") -> list[tuple[str, Any]]:
    """Return the members of the one archive of a case."""
    (archive,) = json.loads((FIXTURES / case / "build.json").read_text("utf-8")).values()
    return [(name, value) for name, value in archive["members"]]


def statuses(receipts: list[Any]) -> dict[str, str]:
    return {receipt.source.partition("#")[2]: receipt.status for receipt in receipts}


def test_a_log_that_grew_brings_only_its_new_samples(tmp_path: Path) -> None:
    store, path = tmp_path / "sessions.db", tmp_path / "run.eval"
    whole = members()
    pipeline.migrate(store, pack(path, whole[:2]))
    before = [row for row in pipeline.rows(store) if row.session_id == "sample-one"]
    receipts = pipeline.migrate(store, pack(path, whole[:4]))
    assert statuses(receipts) == {
        "sample-two": "imported",
        "sample-three": "imported",
        "sample-one": "unchanged",
        "demo-run": "unchanged",
    }
    receipts = pipeline.migrate(store, pack(path, whole, "deflate"))
    # That the third ended is known only now: its last event tells it, by a limit.
    assert {name for name, status in statuses(receipts).items() if status != "unchanged"} == {"demo-run"}
    after = [row for row in pipeline.rows(store) if row.session_id == "sample-one"]
    assert after == before
    assert [row.kind for row in pipeline.rows(store) if row.session_id == "demo-run"][-1] == "session.ended"


def test_how_it_is_packed_or_laid_out_does_not_matter(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    whole = members()
    for number, method in enumerate(METHODS):
        receipts = pipeline.migrate(store, pack(tmp_path / f"{number}.eval", whole, method))
        assert set(statuses(receipts).values()) == {"imported" if number == 0 else "unchanged"}
    header = dict(whole)["header.json"]
    samples = [value for name, value in whole if name.startswith("samples/")]
    path = tmp_path / "run.json"
    path.write_text(json.dumps({**header, "samples": samples}, indent=2))
    receipts = pipeline.migrate(store, path)
    assert {name for name, status in statuses(receipts).items() if status == "unchanged"} == {
        "sample-one",
        "sample-two",
        "sample-three",
    }


def test_a_sample_that_was_written_again_takes_its_own_place(tmp_path: Path) -> None:
    store, path = tmp_path / "sessions.db", tmp_path / "run.eval"
    whole = members()
    pipeline.migrate(store, pack(path, whole))
    order = [row.session_id for row in pipeline.rows(store)]
    whole[1][1]["scores"]["match"]["value"] = "I"
    receipts = pipeline.migrate(store, pack(path, whole))
    assert {name for name, status in statuses(receipts).items() if status != "unchanged"} == {"sample-one"}
    assert [row.session_id for row in pipeline.rows(store)] == order
    assert '"scores":{"match":{"answer":"done","value":"I"}}' in pipeline.export(store, "sample-one").decode()


def test_samples_with_one_uuid_stay_two(tmp_path: Path) -> None:
    whole = members()
    other = json.loads(json.dumps(whole[1][1])) | {"epoch": 2}
    whole.insert(2, ("samples/1_epoch_2.json", other))
    receipts = pipeline.migrate(tmp_path / "sessions.db", pack(tmp_path / "run.eval", whole))
    assert {"sample-one", "sample-one~2"} <= statuses(receipts).keys()
    assert all(receipt.balanced for receipt in receipts)


def test_sub_agents_are_linked(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, pack(tmp_path / "run.eval", members()))
    links = pipeline.sql(store, "SELECT session_id, kind, target FROM traj_links")
    assert links == [("sample-one/s-agent", "parent", "sample-one")]


def test_media_are_put_back_by_an_export(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, pack(tmp_path / "run.eval", members()))
    assert '"data":"' + "QUJD" * 700 in pipeline.export(store, "sample-one").decode()


@pytest.mark.parametrize("case", ["run", "split"])
def test_a_member_that_nobody_knows_is_kept(case: str, tmp_path: Path) -> None:
    whole = members(case)
    told = [text for name, value in whole for text in marked(value, name)]
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, pack(tmp_path / "run.eval", whole))
    kept = pipeline.export(store, *sorted({row.session_id for row in pipeline.rows(store)})).decode()
    assert [text for text in told if f'"{text}"' not in kept] == []


def large(kind: str, size: int) -> dict[str, Any]:
    if kind == "string":
        return {"blob": "x" * size}
    if kind == "list":
        return {"deep": {"list": [["word " * 200, number] for number in range(size // 1000)]}}
    return {f"key{number}": {"text": "word " * 200} for number in range(size // 1000)}


@pytest.mark.parametrize("kind", ["members", "list"])
def test_a_store_that_is_too_large_for_one_event_comes_in_parts(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(splitting, "PIECE", 1 << 14)
    whole = members()
    whole[1][1]["store"] = large(kind, 2 << 20)
    store = tmp_path / "sessions.db"
    receipts = pipeline.migrate(store, pack(tmp_path / "run.eval", whole))
    assert all(receipt.balanced and not receipt.losses for receipt in receipts)
    document = pipeline.document(store, "sample-one")
    parts = [event["payload"] for event in document["events"] if event["payload"].get("operation") == "part"]
    assert len(parts) > 100
    if kind == "list":
        rebuilt = [item for part in parts for item in part["items"]]
        assert rebuilt == whole[1][1]["store"]["deep"]["list"]
        assert {part["pointer"] for part in parts} == {"/store/deep/list"}
    else:
        rebuilt = {key: item for part in parts for key, item in part["members"].items()}
        assert rebuilt == whole[1][1]["store"]


def test_a_string_that_is_too_long_is_a_loss_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(splitting, "MAX_STRING", 1 << 20)
    whole = members()
    whole[1][1]["store"] = large("string", 9 << 20)
    store = tmp_path / "sessions.db"
    receipts = pipeline.migrate(store, pack(tmp_path / "run.eval", whole))
    assert {
        receipt.source.partition("#")[2]: dict(receipt.losses) for receipt in receipts if receipt.losses
    } == {"sample-one": {"value_too_long": 1}}
    (part,) = [one for one in pipeline.payloads(store) if one.get("operation") == "part"]
    assert part["pointer"] == "/store/blob"
    assert part["size"] == (9 << 20) + 2


@pytest.mark.slow
def test_a_large_store_is_read_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "run.eval"
    whole = members()
    whole[1][1]["store"] = "STORE"
    start, end = json.dumps(whole[1][1]).encode().split(b'"STORE"')
    pack(path, [whole[0], *whole[2:]])
    with zipfile.ZipFile(path, "a") as archive, archive.open(whole[1][0], "w", force_zip64=True) as stream:
        stream.write(start + b'{"key":0')
        for number in range(10 << 10):
            stream.write(b',"key%d":["%s"]' % (number, b"word " * 2000))
        stream.write(b"}" + end)
    tracemalloc.start()
    receipts = pipeline.migrate(tmp_path / "sessions.db", path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert set(statuses(receipts).values()) == {"imported"}
    assert peak < 60 << 20  # of a store of 100 MB


def test_references_bring_in_no_more_than_a_bounded_text(tmp_path: Path) -> None:
    whole = members()
    sample = whole[1][1]
    sample["attachments"] = {"a": "x" * (1 << 20)}
    sample["events"] = [{"event": "info", "data": ["attachment://a"] * 10_000, "timestamp": None}]
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, pack(tmp_path / "run.eval", whole))
    (event,) = [one for one in pipeline.document(store, "sample-one")["events"] if one["ordinal"] == 2]
    assert sum(len(text) for text in event["payload"]["data"]) < 40 << 20
    assert event["payload"]["data"][-1] == "attachment://a"


def test_a_log_that_changes_between_plan_and_import_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "run.eval", members())
    source = base.by_name("inspect-eval")
    given = base.Input(path, "run.eval", "", 0)
    unit = next(unit for unit in source.units(given) if unit.key == "sample-one")
    planned = base.Input(path, "run.eval", unit.sha256, 0, unit="sample-one")
    assert list(source.items(planned))
    whole = members()
    whole[1][1]["input"] = "another"
    pack(path, whole)
    with pytest.raises(DataError) as error:
        list(source.items(planned))
    assert error.value.code == "TE207"


def test_each_file_of_the_cases_is_of_this_format_alone(tmp_path: Path) -> None:
    for folder in CASES:
        for path in sorted((cases.render(folder, tmp_path) / "input").iterdir()):
            data = path.read_bytes()
            probe = base.Probe(data[: base.HEAD_BYTES], data[-base.TAIL_BYTES :], path)
            assert base.detect(probe).name == "inspect-eval", path


def test_what_only_resembles_a_log_is_none(tmp_path: Path) -> None:
    other = pack(tmp_path / "other.zip", [("word/document.xml", "x"), ("header.json", {})], "deflate")
    texts = [
        other.read_bytes(),
        b"PK\x03\x04",
        b'{"eval": 1}',
        b'{"version": 2, "status": "success"}',
        b'{"a": {"eval": {"task": 1}}}',
        json.dumps({"text": json.dumps({"version": 2, "eval": {"task": "t", "model": "m"}})}).encode(),
        b"[]",
    ]
    for data in texts:
        probe = base.Probe(data[: base.HEAD_BYTES], data[-base.TAIL_BYTES :])
        assert not base.by_name("inspect-eval").detect(probe), data[:40]


def test_a_member_that_cannot_be_read_leaves_the_others(tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    deep = "[" * 300 + "]" * 300
    whole = members()
    text = json.dumps(whole[1][1])
    whole[1] = (whole[1][0], {"raw": text[:-1] + f', "extra": {deep}, "odd": 1x2}}'})
    whole[-1] = ("header.json", {"raw": json.dumps(whole[-1][1])[:-1] + f', "extra": {deep}}}'})
    receipts = pipeline.migrate(store, pack(tmp_path / "run.eval", whole))
    lost = {receipt.source.partition("#")[2]: dict(receipt.losses) for receipt in receipts if receipt.losses}
    assert lost == {
        "sample-one": {"value_too_deep": 1, "value_not_json": 1},
        "demo-run": {"value_too_deep": 1},
    }
    kept = [one for one in pipeline.payloads(store) if one.get("operation") == "part"]
    assert sorted(one["pointer"] for one in kept) == ["/extra", "/extra", "/odd"]
    assert {one["size"] for one in kept} == {600, 3}


@pytest.mark.parametrize(
    ("offset", "packed", "reason"),
    [
        (8, b"\x01\0", "member_encrypted"),
        (10, b"\x0c\0", "member_method"),
        (16, b"\0\0\0\0", "member_damaged"),
        (24, b"\0\0\0\x80", "member_too_large"),
        (24, b"\x10\0\0\0", "member_damaged"),
        (42, b"\0\0\0\x70", "member_outside"),
    ],
)
def test_a_sample_that_cannot_be_unpacked_is_the_runs_damage(
    offset: int, packed: bytes, reason: str, tmp_path: Path
) -> None:
    path = pack(tmp_path / "run.eval", members())
    data = bytearray(path.read_bytes())
    at = data.rindex(b"samples/two_epoch_1.json") - 46 + offset  # in the table of contents
    data[at : at + len(packed)] = packed
    path.write_bytes(data)
    store = tmp_path / "sessions.db"
    receipts = pipeline.migrate(store, path)
    assert statuses(receipts) == dict.fromkeys(("sample-one", "sample-three", "demo-run"), "imported")
    assert [one["reason"] for receipt in receipts for one in receipt.damaged] == [reason]
    assert all(receipt.balanced for receipt in receipts)
    assert pipeline.document(store, "demo-run")["integrity"]["damaged_lines"]


@pytest.mark.parametrize("cut", [10, 100, 1000, -30])
def test_an_archive_that_is_cut_short_is_told(cut: int, tmp_path: Path) -> None:
    path = pack(tmp_path / "run.eval", members())
    path.write_bytes(path.read_bytes()[:cut])
    store = tmp_path / "sessions.db"
    receipts = pipeline.migrate(store, path)
    assert [receipt.status for receipt in receipts] == ["failed"]
    assert receipts[0].code in ("TE201", "TE205")


def test_any_flipped_byte_is_read_as_it_is_or_told(tmp_path: Path) -> None:
    whole = pack(tmp_path / "run.eval", [(name, value) for name, value in members() if "sample" in name])
    data = whole.read_bytes()
    for place in range(0, len(data), max(1, len(data) // 60)):
        path = tmp_path / f"flipped-{place}.eval"
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        receipts = pipeline.migrate(tmp_path / f"{place}.db", path)
        assert all(receipt.balanced for receipt in receipts)
        assert receipts


def test_any_damage_of_a_document_is_read_around_or_told(tmp_path: Path) -> None:
    data = (FIXTURES / "document_fail" / "input" / "log.json").read_bytes()
    for place in range(0, len(data), len(data) // 80):
        for change in (b"", b"\xff", b'"', b"}", b"[" * 300):
            path = tmp_path / "log.json"
            path.write_bytes(data[:place] + change + data[place + 1 :])
            receipts = pipeline.migrate(tmp_path / f"{place}-{change[0] if change else 0}.db", path)
            assert receipts
            assert all(receipt.balanced for receipt in receipts)
