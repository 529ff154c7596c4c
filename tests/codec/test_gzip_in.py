"""Gzipped streams: what they unpack to however they are asked, and what is wrong with some."""

from __future__ import annotations

import gzip
import io
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.codec import gzip_in
from geode_traj.codec.gzip_in import Unpacked
from geode_traj.errors import DataError


def unpacked(packed: bytes) -> Unpacked:
    return Unpacked(io.BytesIO(packed), len(packed), "x.gz")


def members(*texts: bytes) -> bytes:
    return b"".join(gzip.compress(text, mtime=0) for text in texts)


@given(
    st.lists(st.binary(max_size=300), max_size=5), st.lists(st.integers(1, 400), max_size=20), st.booleans()
)
def test_members_follow_each_other(texts: list[bytes], sizes: list[int], padded: bool) -> None:
    stream = unpacked(members(b"", *texts) + b"\0" * 9 * padded)
    whole = b"".join(texts)
    parts = [stream.read(size) for size in sizes]
    assert b"".join(parts) + stream.read() == whole
    assert stream.problem() == ""
    assert (stream.seek(0), stream.read()) == (0, whole)
    place = len(whole) // 2
    assert (stream.seek(place), stream.read()) == (place, whole[place:])


DATA = b"".join(b"%d," % number for number in range(200_000))


@pytest.mark.parametrize("size", [1000, 1 << 16, 1 << 20, 1 << 24])
@pytest.mark.parametrize("cut", [1, 9, 1000, 100_000])
def test_what_is_cut_short_gives_the_same_however_it_is_asked(cut: int, size: int) -> None:
    packed = members(DATA)[:-cut]
    stream = unpacked(packed)
    parts = []
    while part := stream.read(size):
        parts.append(part)
    got = b"".join(parts)
    assert got == unpacked(packed).read() and DATA.startswith(got)
    assert len(got) > len(DATA) // 2
    assert stream.problem() == "gzip_cut_short"


@pytest.mark.parametrize(
    "packed",
    [
        members(b"one") + b"no member",
        members(b"one") + b"\x1f\x8b\x08\0no member",
        members(b"one") + members(b"two")[:-8] + b"\0" * 8,
    ],
)
def test_damage_ends_the_stream(packed: bytes) -> None:
    stream = unpacked(packed)
    assert stream.read()[:3] == b"one"
    assert stream.problem() in ("gzip_damaged", "gzip_cut_short")


def test_a_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gzip_in, "FREE", 1 << 20)
    packer = zlib.compressobj(9, wbits=31)
    packed = b"".join(packer.compress(b"\0" * (1 << 20)) for _ in range(64)) + packer.flush()
    stream = unpacked(packed)
    with pytest.raises(DataError) as refused:
        while stream.read(1 << 16):
            pass
    assert refused.value.code == "TE203"
    assert unpacked(members(b"\0" * 1000)).read() == b"\0" * 1000


def test_the_end_is_not_looked_up() -> None:
    with pytest.raises(io.UnsupportedOperation):
        unpacked(members(b"one")).seek(0, io.SEEK_END)
    stream = unpacked(members(b"one"))
    assert (stream.read(1), stream.seek(1, io.SEEK_CUR), stream.read()) == (b"o", 2, b"e")
