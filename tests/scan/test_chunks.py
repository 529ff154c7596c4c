from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from planted import GITHUB, scanner

from geode_traj.scan.chunks import find_across


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12))
def test_every_chunk_of_a_secret_is_found(sizes: list[int]) -> None:
    text = f"see {GITHUB} there"
    chunks, place = [], 0
    for size in sizes:
        chunks.append(text[place : place + size])
        place += size
    chunks.append(text[place:])
    found = find_across(chunks, scanner("import"))
    parts = "".join(
        chunk[span.start : span.end] for chunk, spans in zip(chunks, found, strict=True) for span in spans
    )
    alone = any(GITHUB in chunk for chunk in chunks)
    assert parts == ("" if alone else GITHUB)
    assert {span.value for spans in found for span in spans} <= {GITHUB}


def test_one_chunk_and_none() -> None:
    assert find_across([], scanner("import")) == []
    assert find_across([GITHUB], scanner("import")) == [[]]


def test_long_blocks_are_joined_in_stretches() -> None:
    text = "word " * 300_000 + GITHUB + " word" * 10
    chunks = [text[: 300_000 * 5 + 9], text[300_000 * 5 + 9 :]]
    found = find_across(chunks, scanner("import"))
    assert [len(spans) for spans in found] == [1, 1]
