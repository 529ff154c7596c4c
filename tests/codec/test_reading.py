"""Strict JSON is strict; transcripts are read whatever they hold, and told what they held."""

import json
import math
import time
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geode_traj.codec.canonical import dumps
from geode_traj.codec.reading import MAX_DEPTH, loads, tolerant
from geode_traj.errors import DataError

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=10,
)
LAYOUTS = st.sampled_from([{}, {"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False}])
ODD = st.sampled_from(
    r"""NaN Infinity -Infinity 1e999 "\ud83d" "\ude00\ud83d" "\ud83d\ude00" 01 1. +1 tru "\x" [1,] {"a":1,} -
    -0 1E5 "\u12" /**/1""".split()
) | st.sampled_from(['"\t"', "\ufeff1"])


def python(data: bytes) -> object:
    return json.loads(data.decode("utf-8", "surrogateescape"))


def depth(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


@given(VALUES, LAYOUTS)
def test_both_readers_equal_the_standard_library(value: object, layout: dict) -> None:
    data = json.dumps(value, **layout).encode()
    for read in (loads(data), tolerant(data).value):
        assert read == value
        assert dumps(read) == dumps(value)  # 1 is not 1.0, -0.0 is not 0
    assert not tolerant(data).escaped and not tolerant(data).nonfinite


@given(VALUES, st.integers(0, 60), ODD | st.binary(max_size=3), st.booleans())
@example([], 0, b"\xef\xbb\xbf", True)
def test_the_tolerant_reader_takes_what_python_takes(value: object, at: int, odd: object, cut: bool) -> None:
    data = json.dumps(value).encode()
    odd = odd.encode() if isinstance(odd, str) else odd
    data = data[:at] + odd + (b"" if cut else data[at:])
    try:
        python(data)
        readable = True
    except ValueError:
        readable = False
    if readable:
        dumps(tolerant(data).value)  # and what it gives can be written
    else:
        with pytest.raises(ValueError):
            tolerant(data)


@pytest.mark.parametrize(
    ("data", "value", "escaped"),
    [
        (b'{"a":"x\xff\xfe"}', {"a": "x\\xff\\xfe"}, ["/a"]),
        (b'{"a":"\\ud83d"}', {"a": "\\ud83d"}, ["/a"]),
        (b'{"a":"\\uDC80 \xff"}', {"a": "\\udc80 \\xff"}, ["/a"]),
        (b'{"a":"\\ud83d\\ude00 \xff"}', {"a": "\U0001f600 \\xff"}, ["/a"]),
        (b'{"a":"\\ud83d\\ud83d\\ude00"}', {"a": "\\ud83d\U0001f600"}, ["/a"]),
        (b'{"a":"\\ude00\\ud83d"}', {"a": "\\ude00\\ud83d"}, ["/a"]),
        (b'{"a":"\\\\ud83d \\\\xff"}', {"a": "\\ud83d \\xff"}, []),
        (b'{"a":["ok",{"b/c":"\xc3("}]}', {"a": ["ok", {"b/c": "\\xc3("}]}, ["/a/1/b~1c"]),
        (b'{"k\xff":1}', {"k\\xff": 1}, ["/k\\xff"]),
        (b'{"k\\ud83d":"v\\ud83d"}', {"k\\ud83d": "v\\ud83d"}, ["/k\\ud83d", "/k\\ud83d"]),
        (b'{"k\\ud83d":{"l":"\xff"}}', {"k\\ud83d": {"l": "\\xff"}}, ["/k\\ud83d", "/k\\ud83d/l"]),
        (b'{"a":"\xed\xa0\xbd"}', {"a": "\\xed\\xa0\\xbd"}, ["/a"]),
        (b'{"a":"\\udb80\\udc00ab","b":"\xff\\ud800"}', {"a": "\U000f0000ab", "b": "\\xff\\ud800"}, ["/b"]),
        (b'"\\ud800"', "\\ud800", [""]),
    ],
)
def test_what_utf8_cannot_hold_is_written_as_its_escape(
    data: bytes, value: object, escaped: list[str]
) -> None:
    read = tolerant(data)
    assert (read.value, list(read.escaped)) == (value, escaped)
    dumps(read.value)
    dumps(list(read.escaped))


@given(
    st.lists(
        st.binary(max_size=4) | st.sampled_from([b"\\ud83d", b"\\udcff", b"\\\\", b"\\u0041"]), max_size=6
    )
)
def test_any_bytes_in_a_string_are_read_or_refused(parts: list[bytes]) -> None:
    data = b'{"a":"' + b"".join(parts).replace(b'"', b"") + b'"}'
    try:
        expected = python(data)
    except ValueError:
        with pytest.raises(ValueError):
            tolerant(data)
        return
    read = tolerant(data)
    assert json.loads(dumps(read.value)) == read.value
    clean = not any("\ud800" <= c <= "\udfff" for c in expected["a"])  # type: ignore[index]
    assert (not read.escaped) is clean
    if clean:
        assert read.value == expected


def test_numbers_that_are_none_become_words() -> None:
    read = tolerant(b'{"a":NaN,"b":[Infinity,-Infinity,1e999,-1e999],"c":1e308}')
    assert read.value == {"a": "nan", "b": ["inf", "-inf", "inf", "-inf"], "c": 1e308}
    assert read.nonfinite == ["/a", "/b/0", "/b/1", "/b/2", "/b/3"]


def test_of_a_repeated_key_the_last_counts_and_none_is_lost() -> None:
    read = tolerant(b'{"a":1,"b":{"c":[1],"c":NaN,"c":2},"a":"x","a":null}')
    assert read.value == {"a": None, "b": {"c": 2}}
    assert read.duplicates == {"/a": [1, "x"], "/b/c": [[1], "nan"]}


def test_keys_that_only_become_equal_are_repeated_keys() -> None:
    read = tolerant(b'{"a\xff":1,"a\\\\xff":2}')
    assert read.value == {"a\\xff": 2}
    assert read.duplicates == {"/a\\xff": [1]}


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "TE202"),
        (b"{} {}", "TE202"),
        (b'{"a":1,"a":1}', "TE202"),
        (b'{"a":NaN}', "TE202"),
        (b'{"a":[1e999]}', "TE202"),
        (b'{"a":"\\ud83d"}', "TE202"),
        (b'\xef\xbb\xbf{"a":1}', "TE202"),
        (b'{"a":"\xff"}', "TE209"),
        (b"[" * 300 + b"]" * 300, "TE204"),
        (b"[" * 100_000, "TE204"),
    ],
)
def test_the_strict_reader_refuses(data: bytes, code: str) -> None:
    with pytest.raises(DataError) as caught:
        loads(data, place="demo.json")
    assert caught.value.code == code
    assert caught.value.place == "demo.json"


def test_a_refusal_never_quotes_the_payload() -> None:
    with pytest.raises(DataError) as caught:
        loads(b'{"quiet-harbour":1,"quiet-harbour":2}')
    assert "quiet" not in str(caught.value)


@pytest.mark.parametrize("leaf", [b"1", b"NaN", b'"\xff"', b'"\\ud800"', b'{"a":1,"a":2}'])
def test_one_depth_for_every_leaf(leaf: bytes) -> None:
    levels = MAX_DEPTH - leaf.count(b"{")
    assert depth(tolerant(b"[" * levels + leaf + b"]" * levels).value) == MAX_DEPTH
    with pytest.raises(RecursionError):
        tolerant(b"[" * (levels + 1) + leaf + b"]" * (levels + 1))


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":"' + b'\\"' * 400_000 + b"\xff",
        b'{"a":"' + "".join(map(chr, range(0xF0000, 0x10FFFE))).encode() + b'\xff"}',
        b'{"a":"' + b"\xff" * 400_000 + b'"}',
        b'{"a":"' + b"\\ud83d" * 200_000 + b'"}',
        b"[" + b'"\xff",' * 100_000 + b"1]",
        b'{"n":' + b"9" * 400_000 + b"}",
        b"NaN" + b"[" * 400_000,
        b"{" + b'"a":1,' * 200_000 + b'"a":2}',
    ],
    ids=["open", "every-mark", "bad-bytes", "surrogates", "many", "digits", "deep", "repeats"],
)
def test_hostile_lines_take_linear_time(data: bytes) -> None:
    began = time.process_time()
    with suppress(ValueError, RecursionError):
        tolerant(data)
    assert time.process_time() - began < 3


def test_big_integers_stay_exact() -> None:
    huge = 123456789012345678901234567890
    assert tolerant(b'{"a":%d}' % huge).value == loads(b'{"a":%d}' % huge) == {"a": huge}
    assert math.isfinite(tolerant(b'{"a":1e308}').value["a"])


def test_a_long_key_costs_nothing_for_each_item_below_it() -> None:
    def seconds(key: int) -> float:
        data = b'{"%s":[NaN%s]}' % (b"k" * key, b",1" * 40_000)
        start = time.process_time()
        assert tolerant(data).nonfinite == [f"/{'k' * key}/0"]
        return time.process_time() - start

    assert min(seconds(1_000_000) for _ in range(2)) < 5 * min(seconds(2) for _ in range(2)) + 0.05
