import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.errors import DataError, WorldError
from geode_traj.review.journal import Journal

KEY = bytes(range(32))
AT = "2026-02-01T10:00:00Z"


def begun(folder, entries=5, key=KEY):
    journal = Journal.create(folder, key, AT, {"review": str(folder.name)})
    for n in range(entries - 1):
        journal.append(AT, [("decision", {"n": n})])
    return folder / "decisions.jsonl", folder / "decisions.head"


def lines(path):
    return path.read_bytes().splitlines(keepends=True)


def test_entries_come_back_as_they_were_appended(tmp_path):
    journal = Journal.create(tmp_path, KEY, AT, {"a": 1})
    journal.append(AT, [("decision", {"n": 1}), ("undo", {"entry": 2})])
    again = Journal(tmp_path, KEY)
    assert [(entry.seq, entry.kind, dict(entry.body)) for entry in again.entries] == [
        (1, "started", {"a": 1}),
        (2, "decision", {"n": 1}),
        (3, "undo", {"entry": 2}),
    ]
    assert again.torn == 0
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {
        "decisions.jsonl": 0o600,
        "decisions.head": 0o600,
    }


def forge(rows):
    rows[2] = rows[2].replace(b'"n":1', b'"n":9')


def cut(rows):
    del rows[2]


def cut_the_end(rows):
    del rows[-1]


def reorder(rows):
    rows[1], rows[2] = rows[2], rows[1]


def replay(rows):
    rows.append(rows[2])


def renumbered(rows):
    rows.append(rows[2].replace(b'"seq":3', b'"seq":6'))


def swap(rows):
    rows[2] = rows[2].replace(b'"seq":3', b'"seq":4')


def pad(rows):
    rows[1] = rows[1].replace(b"{", b"{ ", 1)


def not_json(rows):
    rows[1] = b"nothing\n"


def twice(rows):
    rows[1] = rows[1].replace(b'"kind"', b'"kind":"started","kind"')


def empty(rows):
    rows.clear()


@pytest.mark.parametrize(
    "change",
    [forge, cut, cut_the_end, reorder, replay, renumbered, swap, pad, not_json, twice, empty],
)
def test_what_was_done_to_it_is_found(change, tmp_path):
    path, _ = begun(tmp_path)
    rows = lines(path)
    change(rows)
    path.write_bytes(b"".join(rows))
    with pytest.raises(DataError) as caught:
        Journal(tmp_path, KEY)
    assert caught.value.code == "TE404"


def test_a_journal_of_another_review_is_found(tmp_path):
    folders = [tmp_path / name for name in ("one", "two", "three")]
    for folder, key in zip(folders, (KEY, KEY[::-1], KEY), strict=True):
        folder.mkdir()
        begun(folder, key=key)
    for other in folders[1:]:
        first = folders[0] / "decisions.jsonl"
        kept = first.read_bytes()
        first.write_bytes((other / "decisions.jsonl").read_bytes())
        with pytest.raises(DataError, match="entry"):
            Journal(folders[0], KEY)
        first.write_bytes(kept)


@pytest.mark.parametrize("what", ["gone", "older", "garbage", "longer"])
def test_the_head_must_be_the_reviews(what, tmp_path):
    path, head = begun(tmp_path)
    old = head.read_bytes()
    Journal(tmp_path, KEY).append(AT, [("decision", {"n": 7})])
    if what == "gone":
        head.unlink()
    elif what == "older":
        # A true head of earlier days beside a longer journal is what a kill leaves: it holds.
        head.write_bytes(old)
        assert len(Journal(tmp_path, KEY).entries) == 6
        path.write_bytes(b"".join(lines(path)[:4]))
    elif what == "garbage":
        head.write_bytes(old.replace(b"0005 ", b"0004 "))
    else:
        head.write_bytes(old + b"more")
    with pytest.raises((DataError, WorldError)) as caught:
        Journal(tmp_path, KEY)
    assert caught.value.code in ("TE404", "TE201", "TE203")


@given(st.integers(min_value=1, max_value=400))
def test_a_torn_line_was_never_acknowledged(length):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, _ = begun(folder, entries=2)
        whole = path.read_bytes()
        torn = (b'{"at":"2026-02-01T10:00:00Z","body":{"n":9},"kind":"decision","mac":"' + b"a" * 400)[
            :length
        ]
        path.write_bytes(whole + torn)
        journal = Journal(folder, KEY)
        assert (len(journal.entries), journal.torn) == (2, len(torn))
        journal.append(AT, [("decision", {"n": 10})])
        assert path.read_bytes().startswith(whole)
        assert [entry.seq for entry in Journal(folder, KEY).entries] == [1, 2, 3]


def test_two_writers_go_on_from_each_other(tmp_path):
    begun(tmp_path, entries=1)
    one, two = Journal(tmp_path, KEY), Journal(tmp_path, KEY)
    for n in range(3):
        one.append(AT, [("decision", {"by": "one", "n": n})])
        two.append(AT, [("decision", {"by": "two", "n": n}), ("decision", {"by": "two", "n": n + 10})])
    assert len(two.entries) == 1 + 9
    one.refresh()
    assert one.entries == two.entries == Journal(tmp_path, KEY).entries


WRITER = """
import sys
from pathlib import Path
from geode_traj.review.journal import Journal
journal = Journal(Path(sys.argv[1]), bytes(range(32)))
for n in range(int(sys.argv[3])):
    journal.append("2026-02-01T10:00:00Z", [("decision", {"by": sys.argv[2], "n": n})])
    print(n, flush=True)
"""


def test_processes_at_once_lose_nothing(tmp_path):
    begun(tmp_path, entries=1)
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name, "25"], stdout=subprocess.DEVNULL)
        for name in ("one", "two", "three")
    ]
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0]
    entries = Journal(tmp_path, KEY).entries[1:]
    for name in ("one", "two", "three"):
        assert [entry.body["n"] for entry in entries if entry.body["by"] == name] == list(range(25))


def test_an_entry_too_large_leaves_the_journal_as_it_was(tmp_path):
    path, _ = begun(tmp_path, entries=2)
    before = path.read_bytes()
    with pytest.raises(DataError) as caught:
        Journal(tmp_path, KEY).append(AT, [("decision", {"n": 1}), ("decision", {"note": "x" * (1 << 20)})])
    assert caught.value.code == "TE203"
    assert path.read_bytes() == before


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    begun(tmp_path, entries=2)
    journal = Journal(tmp_path, KEY)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(WorldError) as caught:
        journal.append(AT, [("decision", {"n": 1})])
    assert caught.value.code == "TE602"
    monkeypatch.undo()
    assert len(Journal(tmp_path, KEY).entries) == 2
