"""A new file appears whole or not at all, and replaces nothing."""

import hashlib
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from geode_traj.codec.files import read_bounded, reading, sha256_bytes, sha256_file, write_new
from geode_traj.errors import DataError, TrajError, WorldError


def failing(error: BaseException) -> Iterator[bytes]:
    yield b"half"
    raise error


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_chunks_are_written_in_order(tmp_path: Path) -> None:
    write_new(tmp_path / "a.json", [b"one", b"", b"two"], mode=0o600)
    assert (tmp_path / "a.json").read_bytes() == b"onetwo"
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == 0o600
    assert names(tmp_path) == ["a.json"]


@pytest.mark.parametrize("kind", ["file", "folder", "link", "dangling"])
def test_what_is_there_stays(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    other = tmp_path / "other"
    if kind == "file":
        path.write_text("old")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(other)
        if kind == "link":
            other.write_text("old")
    before = names(tmp_path)
    with pytest.raises(WorldError) as caught:
        write_new(path, failing(AssertionError("not even begun")))
    assert (caught.value.code, caught.value.place) == ("TE601", str(path))
    assert names(tmp_path) == before
    assert kind in ("folder", "dangling") or path.read_text() == "old"


def test_a_name_taken_meanwhile_is_not_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "a.json"

    def chunks() -> Iterator[bytes]:
        yield b"new"
        path.write_text("the other's")

    with pytest.raises(WorldError) as caught:
        write_new(path, chunks())
    assert caught.value.code == "TE601"
    assert path.read_text() == "the other's"
    assert names(tmp_path) == ["a.json"]


def test_of_many_writers_one_wins(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    refused: list[str] = []

    def write(number: int) -> None:
        try:
            write_new(path, [b"%d" % number] * 1000)
        except WorldError as error:
            refused.append(error.code)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused == ["TE601"] * 7
    assert len(set(path.read_text())) == 1
    assert names(tmp_path) == ["a.json"]


def test_force_replaces_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")
    with pytest.raises(KeyError):
        write_new(path, failing(KeyError("x")), force=True)
    assert path.read_text() == "old"
    write_new(path, [b"new"], force=True)
    assert path.read_text() == "new"
    assert names(tmp_path) == ["a.json"]


@pytest.mark.parametrize("error", [KeyError("x"), DataError("TE202", why="x"), KeyboardInterrupt()])
def test_a_failure_leaves_nothing_and_passes_through(error: BaseException, tmp_path: Path) -> None:
    with pytest.raises(type(error)):
        write_new(tmp_path / "a.json", failing(error))
    assert names(tmp_path) == []


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), PermissionError(13, "no")])
def test_a_disk_that_refuses_is_said(error: OSError, tmp_path: Path) -> None:
    with pytest.raises(WorldError) as caught:
        write_new(tmp_path / "a.json", failing(error))
    assert caught.value.code == "TE602"
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("path", "force", "code"),
    [
        ("no/such/a.json", False, "TE602"),
        ("folder", True, "TE602"),
        (".", True, "TE602"),
        (".", False, "TE601"),
    ],
)
def test_places_that_cannot_be_written(
    path: str, force: bool, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    with pytest.raises(WorldError) as caught:
        write_new(Path(path), [b"x"], force=force)
    assert caught.value.code == code
    assert names(tmp_path) == ["folder"]


def test_the_longest_name_that_a_folder_takes(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250 + ".json")
    write_new(path, [b"x"])
    assert path.read_bytes() == b"x"


def test_digests(tmp_path: Path) -> None:
    data = b"x" * (1 << 20) + b"y"
    (tmp_path / "a").write_bytes(data)
    assert sha256_file(tmp_path / "a") == (hashlib.sha256(data).hexdigest(), len(data))
    assert sha256_bytes(data) == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("kind", ["missing", "folder", "fifo"])
def test_only_regular_files_are_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    with pytest.raises(TrajError) as caught, reading(path):
        pass
    assert caught.value.code == "TE201"


def test_a_bound_is_a_bound(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert read_bounded(tmp_path / "a", 5) == b"12345"
    with pytest.raises(DataError) as caught:
        read_bounded(tmp_path / "a", 4)
    assert caught.value.code == "TE203"
