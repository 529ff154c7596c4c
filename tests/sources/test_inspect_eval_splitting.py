"""Taking JSON apart where it stands gives what parsing it whole gives, however it comes in blocks."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geode_traj.sources.inspect_eval import splitting
from geode_traj.sources.inspect_eval.splitting import Broken, Span

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(['"', "\\", "{["])
)
VALUES = st.recursive(SCALARS, lambda one: st.lists(one) | st.dictionaries(st.text(), one), max_leaves=30)
LAYOUTS = st.sampled_from([(None, (",", ":")), (None, (" , ", " : ")), (1, None)])


def whole(data: bytes) -> tuple[io.BytesIO, Span]:
    return io.BytesIO(data), Span(0, len(data))


def same(a: Any, b: Any) -> bool:
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


@given(st.dictionaries(st.text(), VALUES), LAYOUTS, st.booleans(), st.sampled_from([1, 2, 3, 7, 64, 1 << 20]))
@settings(deadline=None)
def test_members_are_those_of_the_parsed_object(
    value: dict[str, Any], layout: Any, ascii_only: bool, block: int
) -> None:
    indent, separators = layout
    data = json.dumps(value, indent=indent, separators=separators, ensure_ascii=ascii_only).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splitting, "_BLOCK", block)
        stream, span = whole(b" \n" + data + b" ")
        found = [(one.key, splitting.read(stream, one.value)) for one in splitting.members(stream, span)]
    assert [key for key, _ in found] == list(value)
    assert all(same(json.loads(text), value[key]) for key, text in found)


@given(VALUES, st.sampled_from([1, 20, 100, 1 << 20]))
@settings(deadline=None)
def test_parts_hold_all_of_a_value(value: Any, piece: int) -> None:
    value = {"a": json.loads(json.dumps(value), parse_constant=str)}
    stream, span = whole(json.dumps(value).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splitting, "PIECE", piece)
        parts = list(splitting.parts(stream, span, ""))
    held = sorted(json.dumps(leaf) for part in parts for leaf in flat(part.read.value))
    assert held == sorted(json.dumps(leaf) for leaf in flat(value))


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in flat(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in flat(item)]
    return [value]


TORN = [
    b"",
    b"{",
    b'{"a"',
    b'{"a":',
    b'{"a":1',
    b'{"a":1,',
    b'{"a":"x',
    b'{"a":"x\\',
    b'{"a":[1,{"b":"',
    b'{"a":[[[',
]
MALFORMED = [b"[]", b"1", b'{"a" 1}', b'{"a":}', b'{"a":1 2}', b"{1:2}", b"{,}", b'{"a":,}', b"{]"]
HOSTILE = [b"[" * 300_000, b'["' + b'\\"' * 300_000, b'[1,"' * 200_000, b'{"a":' * 200_000, b"[1," * 300_000]


@pytest.mark.parametrize("data", TORN)
def test_what_ends_too_early_is_torn(data: bytes) -> None:
    with pytest.raises(Broken) as error:
        list(splitting.members(*whole(data)))
    assert error.value.torn


@pytest.mark.parametrize("data", MALFORMED)
def test_what_is_no_object_is_malformed(data: bytes) -> None:
    with pytest.raises(Broken) as error:
        list(splitting.members(*whole(data)))
    assert not error.value.torn


@pytest.mark.parametrize("data", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_passed_in_linear_time(data: bytes) -> None:
    with pytest.raises(Broken):
        splitting.value_at(io.BytesIO(data), 0, len(data))
