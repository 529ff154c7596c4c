"""Lines with number, offset and bytes, whatever they hold, in bounded memory."""

import hashlib
import io
import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geode_traj.codec.jsonl import Line, lines

LIMIT = 8
BOM = b"\xef\xbb\xbf"
PIECES = st.lists(
    st.sampled_from(
        [b"\n", b"\r\n", b"\r", BOM, b"a", b"bcd", b"x" * LIMIT, b"\xe2\x80\xa8", b"\x0b\x0c\x1c", b"\0"]
    )
    | st.binary(max_size=4),
    max_size=12,
).map(b"".join)


def expected(data: bytes) -> list[Line]:
    """Split in memory, by the rule as it is written down."""
    out, offset = [], 0
    parts = data.split(b"\n")
    for number, part in enumerate(parts, start=1):
        ended = number < len(parts)
        if not ended and not part:
            break
        text = part.removesuffix(b"\r")
        skip = 3 if number == 1 and text.startswith(BOM) else 0
        text = text[skip:]
        over = len(text) > LIMIT
        digest = hashlib.sha256(text).hexdigest() if over else ""
        out.append(Line(number, offset + skip, len(text), None if over else text, ended, digest))
        offset += len(part) + 1
    return out


@given(PIECES)
@example(b"x" * LIMIT + b"\r\n")
@example(BOM + b"x" * LIMIT + b"\r\n")
@example(BOM + b"x" * (LIMIT + 1) + b"\r\n\n")
@example(b"x" * (LIMIT + 4) + b"\r\r\ny")
@example(b"x" * (LIMIT + 1) + b"\n" + BOM)
def test_lines_are_split_by_the_rule(data: bytes) -> None:
    assert list(lines(io.BytesIO(data), limit=LIMIT)) == expected(data)


@given(PIECES, st.integers(0, 40))
def test_only_the_first_bytes_are_read(data: bytes, size: int) -> None:
    assert list(lines(io.BytesIO(data), limit=LIMIT, size=size)) == expected(data[:size])


@given(PIECES)
def test_offsets_lead_back_to_the_bytes(data: bytes) -> None:
    for line in lines(io.BytesIO(data)):
        assert data[line.offset :][: line.length] == line.data


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\r"])
def test_a_line_over_many_reads_keeps_its_digest(end: bytes) -> None:
    body = b"\r" * ((1 << 20) + 5)  # a carriage return stands at every edge of every read
    data = body + end + (b"next" if end.endswith(b"\n") else b"")
    (long, *rest) = lines(io.BytesIO(data), limit=100)
    whole = body if b"\r" in end else body[:-1]
    assert (long.length, long.sha256) == (len(whole), hashlib.sha256(whole).hexdigest())
    assert long.data is None
    assert long.ended == end.endswith(b"\n")
    assert [line.data for line in rest] == ([b"next"] if long.ended else [])


def test_an_endless_line_needs_no_memory() -> None:
    class Endless(io.RawIOBase):
        left = 64 << 20

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
            count = min(len(buffer), self.left)
            buffer[:count] = b"x" * count
            self.left -= count
            return count

    tracemalloc.start()
    (line,) = lines(io.BufferedReader(Endless()), limit=1000)  # type: ignore[arg-type]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert line.length == 64 << 20
    assert peak < 8 << 20
