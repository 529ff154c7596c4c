from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from geode_traj.codec.gzip_in import MAGIC, Unpacked
from geode_traj.sources.base import HEAD_BYTES, TAIL_BYTES, Probe, all_sources, detect
from tests.support import cases

FIXTURES = cases.FIXTURES.parent
CASES = sorted(path.parent for path in FIXTURES.glob("*/*/expect.json"))
READ = ("imported", "extended", "superseded", "unchanged")


def matching(path: Path) -> list[str]:
    """Return the formats that match a file by themselves, those embedded in others where none does."""
    data = path.read_bytes()
    if packed := data.startswith(MAGIC):
        data = Unpacked(io.BytesIO(data), len(data), "").read()
    probe = Probe(data[:HEAD_BYTES], b"" if packed else data[-TAIL_BYTES:], path, packed)
    known = [source for source in all_sources().values() if source.unpacks or not packed]
    matches = [source for source in known if source.detect(probe)]
    return [one.name for one in matches if not one.embedded] or [one.name for one in matches]


def found(given: Path) -> Iterator[tuple[Path, list[str]]]:
    """Yield every file, and every folder that is one source, with the formats that take it."""
    for folder, folders, names in os.walk(given):
        claims = [source.name for source in all_sources().values() if source.claims(Path(folder))]
        if claims:
            folders.clear()
            yield Path(folder), claims
            continue
        for name in names:
            path = Path(folder, name)
            yield path, matching(path)


@pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_each_input_is_of_one_format(case: Path, tmp_path: Path) -> None:
    made = cases.render(case, tmp_path)
    expect = cases.load_expect(made)
    read = {
        one["source"].partition("#")[0] for one in expect.get("receipts", []) if one.get("status") in READ
    }
    told = {path.relative_to(made).as_posix(): formats for path, formats in found(made / "input")}
    assert {path: formats for path, formats in told.items() if len(formats) > 1} == {}
    assert {path for path in read if len(told.get(path, [])) != 1} == set()


def test_lines_that_a_transcript_quotes_do_not_make_it_a_log() -> None:
    quoted = r"OBS_JSON {\"component\":\"conversation_supervisor\",\"event\":\"no_action\",\"ts_ms\":1}"
    head = f'{{"event":"user_message","text":"{quoted}","ts":1.0}}\n'.encode()
    assert all_sources()["stimm"].detect(Probe(head, head))
    assert detect(Probe(head, head)).name == "geode-legacy"


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\n\n",
        b"plain text\n",
        b"{}",
        b"[]",
        b"null",
        b"{" * 3000,
        b"[" * 3000,
        b"\0" * 4096,
        b"\xff\xfe{\x00}\x00",
        b'{"version": 1}',
        b'{"runs": []}',
        b'{"version": 1, "records": []}',
        b'{"turns": []}',
        b"OBS_JSON\n",
        b'OBS_JSON {"component": "another", "event": "no_action"}\n',
        b"# a page about OBS_JSON {...} lines\n",
        b"SQLite format 3\x00",
        b"PK\x03\x04",
        b'{"type": {}, "kind": [], "event": {}, "role": [], "direction": {}, "action": [], "schema_id": {}}',
        b'{"type": [], "kind": {}, "event": [], "role": {}, "direction": [], "action": {}, "schema_id": []}',
    ],
)
def test_no_format_takes_what_is_none(head: bytes) -> None:
    assert [source.name for source in all_sources().values() if source.detect(Probe(head, head))] == []
