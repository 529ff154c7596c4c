"""Gzipped transcripts of JSON lines: the same sessions as unpacked ones, and what is wrong with some."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib
from pathlib import Path

import pytest

from geode_traj.migrate import plan as planning
from geode_traj.migrate.plan import plan
from geode_traj.sources.base import all_sources
from geode_traj.sources.lines import JsonLines
from tests.migrate import pipeline
from tests.support import cases

FIXTURES = cases.FIXTURES.parent
FILES = [
    "claude-code/rewind/input/5f0c2a10-0000-4000-8000-000000000001.jsonl",
    "hermes/gateway/input/20260901_100000_ab12cd.jsonl",
    "hermes/trajectory/input",
    "codex",
    "pi",
    "legacy",
    "openai_messages",
    "hf_sts",
    "rind-usage",
    "geode-run-events",
]


def some(place: str) -> list[Path]:
    """Return the files of JSON lines at a place of the fixtures, few of each format."""
    root = FIXTURES / place
    files = [root] if root.is_file() else sorted(root.glob("**/input/**/*.jsonl") or root.glob("*.jsonl"))
    whole = [path for path in files if b"{{" not in path.read_bytes()]
    return (whole or sorted(root.rglob("*.jsonl")))[:6]


def without_place(store: Path) -> list[tuple]:
    """Return all rows without what tells from which file they came."""
    out = []
    for row in pipeline.facts(store):
        payload = json.loads(row.payload_json)
        for word in ("source_digest", "source_path", "file_digest"):
            payload.get("_legacy", {}).pop(word, None)
        out.append((*row._replace(payload_json="", payload_hash=""), payload))
    return out


def packed(path: Path, data: bytes) -> Path:
    """Write every line as a member of its own, as a program does that appends."""
    lines = data.splitlines(keepends=True)
    path.write_bytes(b"".join(gzip.compress(line, mtime=0) for line in lines))
    return path


@pytest.mark.parametrize("place", FILES)
def test_a_gzipped_file_gives_what_it_gives_unpacked(place: str, tmp_path: Path) -> None:
    found = some(place)
    assert found
    for number, path in enumerate(found):
        folder = tmp_path / str(number)
        plain, zipped = folder / "plain" / "in" / path.name, folder / "gzip" / "in" / f"{path.name}.gz"
        for one in (plain, zipped):
            one.parent.mkdir(parents=True)
        plain.write_bytes(path.read_bytes())
        packed(zipped, path.read_bytes())
        (wanted,) = pipeline.migrate(folder / "a" / "s.db", plain)
        (receipt,) = pipeline.migrate(folder / "b" / "s.db", zipped)
        assert receipt.balanced
        assert (receipt.format, receipt.status, receipt.total, receipt.damaged) == (
            wanted.format, wanted.status, wanted.total, wanted.damaged,
        )  # fmt: skip
        assert receipt.bytes == zipped.stat().st_size != wanted.bytes
        if wanted.status == "imported":
            assert without_place(folder / "b" / "s.db") == without_place(folder / "a" / "s.db")
            (again,) = pipeline.migrate(folder / "b" / "s.db", zipped)
            assert again.status == "unchanged"
            (both,) = pipeline.migrate(folder / "b" / "s.db", plain)
            assert both.new == 0


def test_which_formats_unpack() -> None:
    unpacks = {name for name, source in all_sources().items() if source.unpacks}
    assert {"claude-code", "codex", "hermes-trajectory", "geode-legacy"} <= unpacks
    assert all(isinstance(all_sources()[name], JsonLines) for name in unpacks)
    assert not any(source.mutable for source in all_sources().values() if source.unpacks)


def test_a_growing_gzipped_file_gives_only_what_is_new(tmp_path: Path) -> None:
    store, path = tmp_path / "s.db", tmp_path / "s1.jsonl.gz"
    rows = [json.dumps(row).encode() + b"\n" for row in pipeline.dialogue("s1", "one", "two", "three")]
    parts = [gzip.compress(row, mtime=0) for row in rows]
    path.write_bytes(b"".join(parts[:2]) + parts[2][:15])
    (first,) = pipeline.migrate(store, path)
    assert (first.new, first.balanced, dict(first.losses)) == (2, True, {"gzip_cut_short": 1})
    path.write_bytes(b"".join(parts))
    (second,) = pipeline.migrate(store, path)
    assert (second.new, second.known, dict(second.losses)) == (len(rows) - 2, 2, {})
    assert pipeline.document(store, "s1")["integrity"]["damaged_lines"] == 0


def test_a_torn_row_heals_when_its_member_is_whole(tmp_path: Path) -> None:
    store, path = tmp_path / "s.db", tmp_path / "s1.jsonl.gz"
    rows = [json.dumps(row).encode() + b"\n" for row in pipeline.dialogue("s1", "one", "word " * 50_000)]
    parts = [gzip.compress(row, compresslevel=0, mtime=0) for row in rows]
    whole = b"".join(parts)
    path.write_bytes(whole[: whole.index(b"word word") + 100_000])
    (first,) = pipeline.migrate(store, path)
    assert [line["reason"] for line in first.damaged] == ["torn_tail"] and first.balanced
    path.write_bytes(whole)
    (second,) = pipeline.migrate(store, path)
    assert (second.damaged_count, second.balanced) == (0, True)
    assert pipeline.document(store, "s1")["integrity"]["damaged_lines"] == 0


def bomb(path: Path, head: bytes) -> Path:
    packer = zlib.compressobj(9, wbits=31)
    block = b"x" * (1 << 20)
    with path.open("wb") as out:
        out.write(packer.compress(head))
        for _ in range(600):
            out.write(packer.compress(block))
        out.write(packer.flush())
    return path


def test_a_bomb_is_refused_in_flat_memory(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    row = json.dumps({"event": "session_start", "session_id": "s1", "ts": 1.0}).encode() + b"\n"
    bomb(tmp_path / "in" / "bomb.jsonl.gz", row)
    bomb(tmp_path / "in" / "other.tar.gz", b"no transcript\n")
    pipeline.write_lines(tmp_path / "in" / "good.jsonl", pipeline.dialogue())
    tracemalloc.start()
    found = {receipt.source[-8:]: receipt for receipt in pipeline.migrate(tmp_path / "s.db", tmp_path / "in")}
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (found["jsonl.gz"].status, found["jsonl.gz"].code) == ("failed", "TE203")
    assert (found["r.tar.gz"].status, found["r.tar.gz"].code) == ("skipped", "TE205")
    assert found["od.jsonl"].status == "imported"
    assert peak < 48 << 20


def test_what_is_gzipped_and_no_transcript_is_not_unpacked_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "_unpacked_size", lambda _: pytest.fail("unpacked"))
    path = packed(tmp_path / "text.gz", b"some text\n" * 10)
    (planned,) = plan([tmp_path], tmp_path / "s.db").sources
    assert (planned.action, planned.code) == ("skip", "TE205")
    path.write_bytes(path.read_bytes()[:5])
    (planned,) = plan([path], tmp_path / "s.db").sources
    assert (planned.action, planned.code) == ("fail", "TE205")
