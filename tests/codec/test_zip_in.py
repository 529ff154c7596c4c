"""Archives that are not what they say: refused or told, never unpacked beyond their bounds."""

from __future__ import annotations

import hashlib
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from backports.zstd import zipfile

from geode_traj.codec import zip_in
from geode_traj.errors import DataError

METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_ZSTANDARD]
CENTRAL = b"PK\x01\x02"
END = b"PK\x05\x06"


def pack(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, compress_type=method)
    return path


def read(path: Path) -> dict[str, bytes]:
    with zip_in.shared(path) as archive:
        return {member.name: b"".join(archive.chunks(member)) for member in archive.members}


def refused(path: Path) -> DataError:
    with pytest.raises(DataError) as error:
        read(path)
    assert str(path) in str(error.value)
    return error.value


@pytest.mark.parametrize("method", METHODS)
def test_each_method_gives_its_members_in_order(method: int, tmp_path: Path) -> None:
    members = {"b.json": b"{}", "a/c.json": b"x" * 3_000_000, "empty": b"", "folder/": b""}
    found = read(pack(tmp_path / "a.zip", members, method))
    del members["folder/"]
    assert list(found.items()) == list(members.items())


def test_an_archive_stays_open_until_it_changes(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"a": b"1"})
    with zip_in.shared(path) as first, zip_in.shared(path) as second:
        assert first is second
    pack(path, {"a": b"2", "b": b"3"})
    assert read(path) == {"a": b"2", "b": b"3"}


def patched(path: Path, mark: bytes, offset: int, packed: bytes) -> Path:
    """Overwrite bytes behind the first place of a mark."""
    data = bytearray(path.read_bytes())
    at = data.index(mark) + offset
    data[at : at + len(packed)] = packed
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("offset", "packed", "problem"),
    [
        (8, struct.pack("<H", 1), "encrypted"),
        (8, struct.pack("<H", 0x40), "encrypted"),
        (10, struct.pack("<H", 12), "method"),
        (10, struct.pack("<H", 99), "method"),
        (24, struct.pack("<L", 0xF0000000), "too_large"),
        (42, struct.pack("<L", 0xF0000000), "outside"),
        (20, struct.pack("<L", 0xF0000000), "outside"),
        (46, b"../", "name"),
        (46, b"/ab", "name"),
        (46, b"a\\b", "name"),
        (46, b"C:x", "name"),
        (46, b"a\x1bb", "name"),
        (46, b"./a", "name"),
    ],
)
def test_what_is_wrong_with_one_member_leaves_the_others(
    offset: int, packed: bytes, problem: str, tmp_path: Path
) -> None:
    path = patched(pack(tmp_path / "a.zip", {"abcdef": b"1" * 99, "good": b"2"}), CENTRAL, offset, packed)
    with zip_in.shared(path) as archive:
        bad, good = archive.members
        assert (bad.problem, good.problem) == (problem, "")
        assert b"".join(archive.chunks(good)) == b"2"
        with pytest.raises(DataError) as error:
            list(archive.chunks(bad))
        assert error.value.code == "TE201"
        begun = path.read_bytes()[bad.offset : bad.offset + 30 + bad.packed]
        assert archive.packed_sha256(bad) == hashlib.sha256(begun).hexdigest()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [0, 10, 98, 100, 1 << 20])
def test_a_size_that_lies_is_told(method: int, size: int, tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"abcdef": b"1" * 99}, method)
    assert refused(patched(path, CENTRAL, 24, struct.pack("<L", size))).code == "TE201"


def test_content_that_is_not_its_checksums_is_told(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"a": b"1" * 99}, zipfile.ZIP_STORED)
    assert refused(patched(path, b"1" * 99, 5, b"2")).code == "TE201"


def test_members_that_share_bytes_are_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"a": b"1" * 99, "b": b"1" * 99}, zipfile.ZIP_STORED)
    data = path.read_bytes()
    second = data.rindex(CENTRAL)
    path.write_bytes(data[: second + 42] + struct.pack("<L", 0) + data[second + 46 :])
    assert "overlap" in str(refused(path))


def test_members_that_are_too_many_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_in, "MAX_MEMBERS", 10)
    path = pack(tmp_path / "a.zip", {f"m{number}": b"" for number in range(11)})
    assert "members" in str(refused(path))
    assert "members" in str(refused(patched(path, END, 8, struct.pack("<2H", 3, 3))))


def test_a_table_of_contents_that_is_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zip_in, "MAX_DIRECTORY", 1000)
    path = pack(tmp_path / "a.zip", {f"m{number}": b"" for number in range(40)})
    assert refused(path).code == "TE203"


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_ZSTANDARD])
def test_a_bomb_is_not_unpacked(method: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_in, "FREE", 1 << 20)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", method) as archive:
        info = zipfile.ZipInfo("bomb")
        info.compress_type = method
        with archive.open(info, "w") as stream:
            for _ in range(8):
                stream.write(bytes(1 << 20))
        archive.writestr("good", b"2")
    with zip_in.shared(tmp_path / "a.zip") as archive:
        assert [member.problem for member in archive.members] == ["too_large", ""]


def test_many_small_bombs_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_in, "FREE", 1 << 20)
    path = pack(tmp_path / "a.zip", {f"m{number}": bytes(1 << 20) for number in range(8)})
    assert refused(path).code == "TE203"


@pytest.mark.parametrize("method", METHODS)
def test_a_large_member_is_read_in_little_memory(method: int, tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"large": bytes(range(256)) * (1 << 17)}, method)
    tracemalloc.start()
    with zip_in.shared(path) as archive:
        size = sum(map(len, archive.chunks(archive.members[0])))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size == 1 << 25
    assert peak < 8 << 20


BROKEN: list[Callable[[bytes], bytes]] = [
    lambda data: b"",
    lambda data: b"PK\x03\x04",
    lambda data: data[:-22],
    lambda data: data[: len(data) // 2],
    lambda data: END + bytes(18),
    lambda data: END + b"\xff" * 18,
    lambda data: END + b"\xff" * 17,
    lambda data: b"PK\x06\x07" + b"\xff" * 16 + END + b"\xff" * 16 + b"\0\0",
    lambda data: b"PK\x06\x06" + b"\xff" * 52 + b"PK\x06\x07" + bytes(16) + END + b"\xff" * 16 + b"\0\0",
]


@pytest.mark.parametrize("broken", range(len(BROKEN)))
def test_what_is_no_archive_is_refused(broken: int, tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"a": b"1" * 99, "b": b"2"})
    path.write_bytes(BROKEN[broken](path.read_bytes()))
    try:
        assert read(path) == {}  # an archive without members is one
    except DataError as error:
        assert error.code in ("TE201", "TE203")


@pytest.mark.parametrize("method", METHODS)
def test_no_flipped_byte_gives_other_content(method: int, tmp_path: Path) -> None:
    content = b"a sentence that is longer than what it is packed to" * 9
    data = pack(tmp_path / "a.zip", {"a": content, "b": content}, method).read_bytes()
    for place in range(len(data)):
        for flip in (0x01, 0xFF):
            path = tmp_path / "flipped.zip"
            path.write_bytes(data[:place] + bytes([data[place] ^ flip]) + data[place + 1 :])
            try:
                found = read(path)
            except DataError as error:
                assert error.code in ("TE201", "TE203")
            else:
                assert set(found.values()) <= {content, b""}
