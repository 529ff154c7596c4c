"""Line-framed files stream; any other layout reads the same; nothing hides behind the frame."""

import io
import json
import tracemalloc
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.codec import framed, jsonl
from geode_traj.codec.canonical import dumps
from geode_traj.codec.framed import frame, is_framed, join, read
from geode_traj.errors import DataError

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=6).filter(lambda name: name != "events")
LEAVES = st.none() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
HEADS = st.dictionaries(
    NAMES, LEAVES | st.dictionaries(NAMES | st.just("events"), LEAVES, max_size=2), max_size=4
)
EVENTS = st.lists(st.dictionaries(NAMES, LEAVES, max_size=3), max_size=4)


def written(head: dict, events: list) -> bytes:
    opening, closing = frame(head)
    return opening + b"".join(join(map(dumps, events))) + closing


def whole(data: bytes, **options: object) -> tuple[bool, dict, list]:
    document = read(io.BytesIO(data), **options)  # type: ignore[arg-type]
    texts = list(document.events)
    assert [text.ordinal for text in texts] == list(range(1, len(texts) + 1))
    return document.framed, document.head, [text.value for text in texts]


@given(HEADS, EVENTS)
def test_frame_and_read_are_inverse(head: dict, events: list) -> None:
    data = written(head, events)
    assert json.loads(data) == {**head, "events": events}
    assert data.replace(b"\n", b"") == dumps({**head, "events": events})
    assert whole(data) == (True, head, events)


@given(HEADS, EVENTS, st.sampled_from([{}, {"indent": 2}, {"separators": (",", ":")}]))
def test_any_layout_reads_the_same(head: dict, events: list, layout: dict) -> None:
    data = json.dumps({**head, "events": events}, **layout).encode()
    assert whole(data)[1:] == (head, events)


@pytest.mark.parametrize(
    "data",
    [
        b'{"events":[\n{\n"a":1},\n{"a":2}\n]}',
        b'{"events":[\n{"a":1},{"a":2}\n]}',
        b'{"events":[\n{"a":1}\n,{"a":2}]}',
        b'{"events":[\n{"a":1},\n{"a":2}]\n}',
        b'{"events":[\n\n{"a":1},\n{"a":2}\n]}',
    ],
)
def test_a_file_that_only_begins_like_a_framed_one_is_read_whole(data: bytes) -> None:
    assert whole(data)[1:] == ({}, [{"a": 1}, {"a": 2}])


def test_a_framed_list_deeper_down_is_not_the_document_s() -> None:
    data = b'{"x":{"events":[\n{"a":1},\n{"a":2}\n]},"events":[{"b":1}]}'
    assert whole(data) == (False, {"x": {"events": [{"a": 1}, {"a": 2}]}}, [{"b": 1}])


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_each_event_knows_its_line_and_bytes(end: bytes) -> None:
    data = written({"z": 1}, [{"a": 1}, {"b": "é"}]).replace(b"\n", end)
    texts = list(read(io.BytesIO(data)).events)
    assert [(text.ordinal, text.line) for text in texts] == [(1, 2), (2, 3)]
    for text in texts:
        assert text.data is not None
        assert text.offset is not None
        assert data[text.offset :][: len(text.data)] == text.data == dumps(text.value)


@pytest.mark.parametrize(
    "data",
    [
        b'{"x":{"events":[\n{"a":1}\n]}}',
        b'{"a\\"events":[\n{"a":1}\n]}',
        b'{"x":"events":[\n{"a":1}\n]}',
        b'{"events":[\n{"a":1}\n],"events":[]}',
        b'{"events":[\n{"a":1},\n]}',
        b'{"events":[\n{"a":1}\n{"a":2}\n]}',
        b'{"events":[\n{"a":1}\n]}\n{}',
        b'{"events":[\n{"a":1}\n]',
        b'{"events":[\n{"a":1}',
        b'{"events":[\n',
        b'{"events":[',
        b'{"events":[\n{"a":1,"a":2}\n]}',
        b'{"events":[\n{"a":NaN}\n]}',
        b'{"events":{}}',
        b'["events"]',
        b"{}",
        b"",
    ],
)
def test_what_is_no_trajectory_is_refused(data: bytes) -> None:
    with pytest.raises(DataError) as caught:
        whole(data, place="demo.json")
    assert caught.value.code == "TE202"
    assert caught.value.place.startswith("demo.json")


@pytest.mark.parametrize(
    ("data", "code", "place"),
    [
        (b'{"events":[\n{"a":1},\n' + b"[" * 300 + b"\n]}", "TE204", "demo.json:3"),
        (b'{"events":[\n{"a":"\xff"}\n]}', "TE209", "demo.json:2"),
        (b'{"events":["\xff"]}', "TE209", "demo.json"),
    ],
)
def test_other_faults_keep_their_code_and_line(data: bytes, code: str, place: str) -> None:
    with pytest.raises(DataError) as caught:
        whole(data, place="demo.json")
    assert (caught.value.code, caught.value.place) == (code, place)


def test_a_layout_that_cannot_stream_has_a_size_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b'{"events": [{"a":1}]}'
    monkeypatch.setattr(framed, "MAX_WHOLE", len(data))
    assert whole(data) == (False, {}, [{"a": 1}])
    assert whole(data + b"\n" * 9, size=len(data)) == (False, {}, [{"a": 1}])
    with pytest.raises(DataError) as caught:
        whole(data + b"\n")
    assert caught.value.code == "TE203"


def test_a_whole_document_costs_little_more_than_its_values() -> None:
    data = b'{"events":[' + b"{}," * 100_000 + b"{}]}"
    tracemalloc.start()
    try:
        count = sum(1 for _ in read(io.BytesIO(data)).events)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 100_001
    assert peak < 40 * len(data)


def test_a_line_over_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b'{"events":[\n{"a":"' + b"x" * 100 + b'"}\n]}'
    monkeypatch.setattr(framed, "lines", partial(jsonl.lines, limit=50))
    with pytest.raises(DataError) as caught:
        whole(data)
    assert caught.value.code == "TE203"


def test_only_the_first_bytes_count() -> None:
    data = written({"z": 1}, [{"a": 1}])
    assert whole(data + b"more", size=len(data)) == (True, {"z": 1}, [{"a": 1}])


@pytest.mark.parametrize(
    ("line", "framed_one"),
    [
        (b'{"events":[', True),
        (b'{"a":1,"events":[', True),
        (b'{"events": [', False),
        (b"{", False),
        (b"", False),
    ],
)
def test_the_first_line_tells(line: bytes, framed_one: bool) -> None:
    assert is_framed(line) is framed_one
