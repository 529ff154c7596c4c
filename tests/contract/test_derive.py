"""Derived turns and calls: given ones stay, missing ones are found by order, and each says how."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.contract.derive import Derived, Deriver
from geode_traj.contract.kinds import CALLS, RESULTS, SESSION_SCOPED
from geode_traj.contract.quality import Quality
from geode_traj.model.event import Row

KINDS = {
    "start": "session.started",
    "end": "session.ended",
    "user": "message.user",
    "says": "message.assistant",
    "call": "tool.called",
    "result": "tool.completed",
    "cost": "usage.recorded",
}
SPAN, OF_CALL, BY_ORDER, BY_TOOL = "user_message_span", "turn_of_call", "call_order", "open_call_of_tool"


def row(text: str) -> tuple[Row, dict[str, Any]]:
    """Return the row that a text names: what, then tool, #call, @turn, g2 (generation), s=session, copied."""
    what, *words = text.split()
    fields = {"#": "", "@": "", "g": "1", "s": "s"}
    payload: dict[str, Any] = {}
    for word in words:
        if word[0] in "#@" or (word[0] == "g" and word[1:].isdigit()):
            fields[word[0]] = word[1:]
        elif word.startswith("s="):
            fields["s"] = word[2:]
        elif word == "copied":
            payload["copied_context"] = True
        else:
            payload["tool"] = {"5": 5, "[]": []}.get(word, word)
    kind = KINDS.get(what, what)
    ids = (fields["s"], int(fields["g"]), fields["@"], fields["#"])
    return Row(0, "", 0.0, *ids, None, kind, "", "", "", "", "", "", ""), payload


def derive(rows: list[tuple[Row, dict[str, Any]]]) -> list[Derived]:
    deriver = Deriver()
    out = [deriver.feed(row, payload) for row, payload in rows]
    marks = Counter(rule for one in out for name, rule in one.marks.items() if name != "ambiguous")
    assert deriver.counts == marks
    return out


# Each row, and what it becomes: its turn, its call, the rules that gave them ("?": ambiguous).
CASES = {
    "turns run from user message to user message": """
        start               :
        cost                : turn-1-0 span
        user                : turn-1-1 span
        says                : turn-1-1 span
        cost                : turn-1-1 span
        user                : turn-1-2 span
        says                : turn-1-2 span
        end                 :
    """,
    "generations count their own turns and calls": """
        user                : turn-1-1 span
        call t              : turn-1-1 call-1-1 span order
        user g2             : turn-2-1 span
        call t g2           : turn-2-1 call-2-1 span order
        says                : turn-1-1 span
    """,
    "the user message's own id names the whole turn": """
        user @t-9           : t-9
        says                : t-9 span
        says @t-7           : t-7
        user                : turn-1-2 span
        says                : turn-1-2 span
    """,
    "copied context opens no turn": """
        user                : turn-1-1 span
        user copied         : turn-1-1 span
        says                : turn-1-1 span
    """,
    "old names of kinds are kinds": """
        user_message        : turn-1-1 span
        tool_call t         : turn-1-1 call-1-1 span order
        tool_result t       : turn-1-1 call-1-1 of_call by_tool
    """,
    "results without ids pair by order of the tool's calls": """
        call a              : turn-1-0 call-1-1 span order
        call b              : turn-1-0 call-1-2 span order
        result b            : turn-1-0 call-1-2 of_call by_tool
        result a            : turn-1-0 call-1-1 of_call by_tool
    """,
    "two open calls of one tool are ambiguous, the last one is not": """
        call t              : turn-1-0 call-1-1 span order
        call t              : turn-1-0 call-1-2 span order
        result t            : turn-1-0 call-1-1 of_call by_tool ?
        result t            : turn-1-0 call-1-2 of_call by_tool
        result t            : turn-1-0 span
    """,
    "a call with an id is answered by a result without": """
        call t #c1          : turn-1-0 c1 span
        result t            : turn-1-0 c1 of_call by_tool
    """,
    "a result with an id takes no other call": """
        call t #c1          : turn-1-0 c1 span
        call t #c2          : turn-1-0 c2 span
        result t #c2        : turn-1-0 c2 of_call
        result t            : turn-1-0 c1 of_call by_tool
    """,
    "a late result goes to its call's turn": """
        user                : turn-1-1 span
        call t #c1          : turn-1-1 c1 span
        user                : turn-1-2 span
        result t #c1        : turn-1-1 c1 of_call
        says                : turn-1-2 span
    """,
    "a late result of an earlier generation": """
        user                : turn-1-1 span
        call t              : turn-1-1 call-1-1 span order
        start g2            :
        user g2             : turn-2-1 span
        result t g2         : turn-1-1 call-1-1 of_call by_tool
    """,
    "a native turn of a result gives way and is kept": """
        user @t-1           : t-1
        call t #c1 @t-1     : t-1 c1
        result t #c1 @t-2   : t-1 c1 of_call native=t-2
    """,
    "native turns that agree are nobody's derivation": """
        user @t-1           : t-1
        call t #c1 @t-1     : t-1 c1
        result t #c1 @t-1   : t-1 c1
    """,
    "a reused id pairs by occurrence": """
        call t #c           : turn-1-0 c span
        result t #c         : turn-1-0 c of_call
        user                : turn-1-1 span
        call t #c           : turn-1-1 c span
        result t #c         : turn-1-1 c of_call
    """,
    "of a reused open id the one in the result's turn is meant": """
        user                : turn-1-1 span
        call t #c           : turn-1-1 c span
        user                : turn-1-2 span
        call t #c           : turn-1-2 c span
        result t #c         : turn-1-2 c of_call
        result t #c         : turn-1-1 c of_call
    """,
    "a result without call or id is invented nothing": """
        result t            : turn-1-0 span
        call t              : turn-1-0 call-1-1 span order
        result u            : turn-1-0 span
    """,
    "a result whose id no call has keeps it": """
        call t #c1          : turn-1-0 c1 span
        result t #other     : turn-1-0 other span
    """,
    "a result before its call answers nothing": """
        result t #c1        : turn-1-0 c1 span
        call t #c1          : turn-1-0 c1 span
    """,
    "sessions share nothing": """
        call t              : turn-1-0 call-1-1 span order
        result t s=other    : turn-1-0 span
        call t s=other      : turn-1-0 call-1-1 span order
        result t s=other    : turn-1-0 call-1-1 of_call by_tool
    """,
    "a tool that is no text is no tool": """
        call 5              : turn-1-0 call-1-1 span order
        result []           : turn-1-0 call-1-1 of_call by_tool
    """,
}
WORDS = {"span": ("turn_id", SPAN), "of_call": ("turn_id", OF_CALL), "order": ("call_id", BY_ORDER)}
WORDS |= {"by_tool": ("call_id", BY_TOOL), "?": ("ambiguous", True)}  # type: ignore[dict-item]


@pytest.mark.parametrize("name", CASES)
def test_cases(name: str) -> None:
    lines = [line.partition(":")[::2] for line in CASES[name].strip().splitlines()]
    shown = []
    for one in derive([row(text) for text, _ in lines]):
        words = [word for word, (key, rule) in WORDS.items() if one.marks.get(key) == rule]
        native = [f"native={one.native_turn_id}"] if one.native_turn_id is not None else []
        shown.append([one.turn_id, one.call_id, *words, *native])
    assert [sorted(filter(None, words)) for words in shown] == [sorted(text.split()) for _, text in lines]
    ids = [text.split() for _, text in lines]
    assert all(words[0] == (wanted[0] if wanted else "") for words, wanted in zip(shown, ids, strict=True))


ROWS = st.lists(
    st.builds(
        lambda what, turn, ident, tool, generation: row(f"{what} {turn} {ident} {tool} g{generation}"),
        st.sampled_from([*KINDS]),
        st.sampled_from(["", "", "@t1", "@t2"]),
        st.sampled_from(["", "", "#c1", "#c2"]),
        st.sampled_from(["a", "b"]),
        st.integers(1, 2),
    ),
    max_size=16,
)


@given(ROWS)
def test_what_was_given_stays_and_what_was_paired_counts_as_paired(rows: list) -> None:
    quality, native = Quality(), Quality()
    out = derive(rows)
    for (given_row, _), one in zip(rows, out, strict=True):
        if given_row.turn_id and given_row.kind not in RESULTS:
            assert one.turn_id == given_row.turn_id
        if given_row.call_id:
            assert one.call_id == given_row.call_id
        assert bool(one.turn_id) is (given_row.kind not in SESSION_SCOPED or bool(given_row.turn_id))
        assert one.call_id or given_row.kind not in CALLS
        for name, value, stored in (
            ("turn_id", one.turn_id, given_row.turn_id),
            ("call_id", one.call_id, given_row.call_id),
        ):
            assert (value != stored) <= (name in one.marks)  # nothing is derived without a word
        quality.feed(given_row.kind, "s", one.turn_id, one.call_id, issue=False)
        native.feed(given_row.kind, "s", given_row.turn_id, given_row.call_id, issue=False)
    assert quality.turn_missing == 0
    assert quality.paired >= native.paired  # derivation never tears apart
    answered = sum("call_id" in one.marks for (r, _), one in zip(rows, out, strict=True) if r.kind in RESULTS)
    assert quality.paired >= answered


@given(ROWS)
def test_the_same_rows_give_the_same_ids(rows: list) -> None:
    assert derive(rows) == derive(rows)


@pytest.mark.parametrize("shape", ["open", "answered-last", "one-id", "two-turns"])
def test_many_calls_take_linear_time(shape: str) -> None:
    many = 100_000
    ident = "#c" if shape in ("one-id", "two-turns") else ""
    rows = [row(f"call t {ident}")] * many
    if shape == "two-turns":
        rows = [*rows[: many // 2], row("user"), *rows[many // 2 :]]
    if shape != "open":
        rows += [row(f"result t {ident}")] * many
    began = time.process_time()
    out = derive(rows)
    assert time.process_time() - began < 5
    if shape == "answered-last":
        assert [one.call_id for one in out[many:]] == [one.call_id for one in out[:many]]
