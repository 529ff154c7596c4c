from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import GITHUB, OPENAI, scanner

from geode_traj.scan.chunks import MAX_JOINED, OVERLAP, Streams, may_hold, pieces
from geode_traj.scan.matching import Span
from geode_traj.scan.numbering import Numbering
from geode_traj.scan.redact import Redactor
from geode_traj.scan.rules import Profile

Found = dict[tuple[int, str], list[Span]]
Shape = Callable[[str], dict[str, Any]]


def streamed(events: Iterable[Any], profile: Profile = "import") -> Found:
    streams = Streams(scanner(profile))
    out: Found = {}
    found = [one for ordinal, event in enumerate(events) for one in streams.feed(ordinal, *_event(event))]
    for ordinal, where, span in (*found, *streams.end()):
        out.setdefault((ordinal, where), []).append(span)
    return out


def _event(event: Any) -> tuple[str, str, str, Any]:
    return event if isinstance(event, tuple) else ("", "", "", event)


def deltas(texts: Iterable[str]) -> list[dict[str, Any]]:
    return [{"type": "text_delta", "delta": text} for text in texts]


SHAPES: dict[str, tuple[Shape, str]] = {
    "hermes": (lambda t: {"event": "message.delta", "run_id": "r", "delta": t}, "/delta"),
    "imported": (lambda t: {"operation": "message.delta", "delta": t, "source": "a"}, "/delta"),
    "reasoning": (lambda t: {"operation": "reasoning.delta", "reasoning": {"text": t}}, "/reasoning/text"),
    "chat": (
        lambda t: {"chunk": {"id": "x", "choices": [{"index": 0, "delta": {"content": t}}]}},
        "/chunk/choices/0/delta/content",
    ),
    "chat call": (
        lambda t: {
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 1, "function": {"arguments": t}}]}}],
        },
        "/choices/0/delta/tool_calls/0/function/arguments",
    ),
    "messages": (
        lambda t: {
            "type": "stream_event",
            "session_id": "s",
            "event": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": t}},
        },
        "/event/delta/text",
    ),
    "responses": (lambda t: {"type": "response.output_text.delta", "item_id": "m", "delta": t}, "/delta"),
    "client protocol": (
        lambda t: {
            "method": "session/update",
            "params": {"update": {"sessionUpdate": "agent_message_chunk", "content": {"text": t}}},
        },
        "/params/update/content/text",
    ),
    "item": (lambda t: {"method": "item/x/delta", "params": {"itemId": "i", "delta": t}}, "/params/delta"),
    "camel": (lambda t: {"type": "message_delta", "data": {"deltaContent": t}}, "/data/deltaContent"),
    "task": (lambda t: {"stream": "stdout", "sequence": 1, "text": t}, "/text"),
    "record": (
        lambda t: {"kind": "legacy.imported", "payload": {"operation": "reasoning.delta", "text": [t]}},
        "/payload/text/0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_of_a_piece(name: str) -> None:
    shape, where = SHAPES[name]
    events = [shape(f"see {GITHUB[:11]}"), {"type": "ping"}, shape(GITHUB[11:20]), shape(f"{GITHUB[20:]} .")]
    found = streamed(events)
    assert {place: [span[:2] for span in spans] for place, spans in found.items()} == {
        (0, where): [(4, 15)],
        (2, where): [(0, 9)],
        (3, where): [(0, len(GITHUB) - 20)],
    }
    assert {span.value for spans in found.values() for span in spans} == {GITHUB}
    assert all(may_hold(json.dumps(shape("")).encode()) for shape, _ in SHAPES.values())


def apart(**ids: object) -> Callable[[str], dict[str, Any]]:
    return lambda text: {"type": "x.delta", **ids, "delta": text}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (apart(run_id="a"), apart(run_id="b")),
        (apart(index=0), apart(index=1)),
        (apart(type="text_delta"), apart(type="thinking_delta")),
        (apart(), lambda text: {"type": "x.delta", "delta": {"text": text}}),
        (apart(), lambda text: ("legacy.imported", "t1", "", apart()(text))),
        (lambda t: ("k", "", "c1", {"delta": t}), lambda t: ("k", "", "c2", {"delta": t})),
        (
            lambda t: {"choices": [{"delta": {"content": t}}], "id": "a"},
            lambda t: {"choices": [{"delta": {"content": t}}], "id": "b"},
        ),
    ],
)  # fmt: skip
def test_blocks_run_beside_each_other(one: Shape, other: Shape) -> None:
    assert streamed([one(GITHUB[:20]), other(GITHUB[20:])]) == {}
    events = [one(GITHUB[:20]), other("word"), one(GITHUB[20:]), other("s")]
    assert [ordinal for ordinal, _ in streamed(events)] == [0, 2]


WHOLE = [
    {"type": "message", "content": GITHUB[:20]},
    {"kind": "tool.completed", "call_id": "c", "payload": {"result": GITHUB[:20]}},
    {"role": "assistant", "id": "x", "content": [{"type": "text", "text": GITHUB[:20]}]},
    {"delta": {"type": GITHUB[:20], "message_id": GITHUB[:20]}},
    {"operation": "message.delta", "event_id": GITHUB[:20], "source": GITHUB[:20]},
]


@pytest.mark.parametrize("event", WHOLE)
def test_what_is_no_piece_stands_alone(event: dict[str, Any]) -> None:
    rest = json.loads(json.dumps(event).replace(GITHUB[:20], GITHUB[20:]))
    assert streamed([event, rest]) == {}


def test_an_end_ends_the_block_of_its_ids() -> None:
    def piece(text: str) -> dict[str, Any]:
        return {"type": "content_block_delta", "index": 0, "delta": {"text": text}}

    for end, cut in ((0, True), (1, False)):
        events = [piece(GITHUB[:20]), {"type": "content_block_stop", "index": end}, piece(GITHUB[20:])]
        assert bool(streamed(events)) is not cut


def test_a_document_is_a_stream_too() -> None:
    found = streamed([{"events": [SHAPES["chat"][0](part) for part in (GITHUB[:9], GITHUB[9:])]}])
    assert [where for _, where in found] == [f"/events/{i}/chunk/choices/0/delta/content" for i in (0, 1)]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.sampled_from(("import", "publish")))
def test_every_piece_of_a_secret_is_found(sizes: list[int], profile: Profile) -> None:
    text, texts, place = f"see {GITHUB} there", [], 0
    for size in sizes:
        texts.append(text[place : place + size])
        place += size
    texts.append(text[place:])
    found = streamed(deltas(texts), profile)
    parts = "".join(
        chunk[span.start : span.end]
        for number, chunk in enumerate(texts)
        for span in found.get((number, "/delta"), ())
    )
    alone = any(GITHUB in chunk for chunk in texts)
    assert parts == ("" if alone else GITHUB)
    assert {span.value for spans in found.values() for span in spans} <= {GITHUB}


@pytest.mark.parametrize("before", [MAX_JOINED - n for n in (5, 9, 20, 45, OVERLAP, OVERLAP + 3)])
def test_long_blocks_are_joined_in_stretches(before: int) -> None:
    text = "word " * (before // 5) + "-" * (before % 5) + f" {GITHUB} " + "word " * 9000
    texts = [text[at : at + 7] for at in range(0, len(text), 7)]
    found = streamed(deltas(texts))
    parts = [texts[at][span.start : span.end] for (at, _), spans in sorted(found.items()) for span in spans]
    assert "".join(parts) == GITHUB


def test_of_a_long_piece_the_ends_take_part() -> None:
    middle = "word " * (OVERLAP * 2)
    texts = [GITHUB[:9], f"{GITHUB[9:]} {middle} {OPENAI[:20]}", OPENAI[20:]]
    found = streamed(deltas(texts))
    parts = [texts[at][span.start : span.end] for (at, _), spans in sorted(found.items()) for span in spans]
    assert parts == [GITHUB[:9], GITHUB[9:], OPENAI[:20], OPENAI[20:]]


class Cuts:
    """A guide that knows what streams have cut in one event."""

    def __init__(self, found: Found, ordinal: int) -> None:
        self._found, self._ordinal = found, ordinal

    def more(self, pointer: str, *, in_key: bool) -> Sequence[Span]:
        return () if in_key else self._found.get((self._ordinal, pointer), ())

    def keeps(self, pointer: str, span: Span, *, in_key: bool) -> bool:
        return False


HIDDEN = (
    GITHUB,
    f'{{"password":"hunter2{OPENAI[-9:]}","x":1}}',
    "cd /home/demo_user/src && ls",
    f"Authorization: Bearer {OPENAI}",
    "-----BEGIN RSA PRIVATE KEY-----\\n" + "Ab1+" * 40 + "\\n-----END RSA PRIVATE KEY-----",
    "mail anna.b@mail.example.net now",
)


@given(st.sampled_from(HIDDEN), st.lists(st.integers(1, 30), min_size=1, max_size=12))
def test_nothing_is_found_again_after_redaction(text: str, sizes: list[int]) -> None:
    texts, place = [], 0
    for size in sizes:
        texts.append(text[place : place + size])
        place += size
    events = deltas([*texts, text[place:]])
    redactor = Redactor(scanner("publish"), Numbering(b"k" * 32).number)
    for _ in range(4):
        found = streamed(events, "publish")
        redacted = [redactor.redact(event, guide=Cuts(found, at)) for at, event in enumerate(events)]
        if not any(done for _, done in redacted):
            break
        events = [event for event, _ in redacted]
    else:
        raise AssertionError(events)


def test_memory_has_a_bound() -> None:
    streams = Streams(scanner("import"))
    tracemalloc.start()
    try:
        for ordinal in range(4_000):
            event = {"type": "text_delta", "run_id": ordinal % 3_000, "delta": "word " * 1_000 + str(ordinal)}
            assert not list(streams.feed(ordinal, "", "", "", event))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 << 20


def test_depth_is_no_matter() -> None:
    value: Any = {"delta": GITHUB[9:]}
    for _ in range(20_000):
        value = [{"a": value}]
    assert len(list(pieces(value))) == 1
