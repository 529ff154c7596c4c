"""Conversations made at random, as lines that an importer reads."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.migrate.pipeline import START

_TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20).filter(lambda text: text.strip())
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | _TEXT,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(_TEXT, below, max_size=3),
    max_leaves=6,
)
_CALL = st.fixed_dictionaries(
    {"tool": st.sampled_from(["read", "write"]), "input": st.dictionaries(_TEXT, _JSON, max_size=3)}
)
_STEP = st.one_of(
    st.tuples(st.just("user"), _TEXT),
    st.tuples(st.just("assistant"), _TEXT),
    st.tuples(st.just("calls"), st.lists(st.tuples(_CALL, st.none() | _TEXT), min_size=1, max_size=3)),
)


@st.composite
def conversations(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return the lines of a session: messages, and calls some of which are answered."""
    lines: list[dict[str, Any]] = [{"event": "session_start", "session_id": "s1", "model": "m", "ts": START}]
    number = 0
    for what, given in draw(st.lists(_STEP, min_size=1, max_size=6)):
        if what != "calls":
            lines.append({"event": f"{what}_message", "text": given})
            continue
        results = []
        for call, result in given:
            number += 1
            lines.append({"event": "tool_call", "call_id": f"c{number}", **call})
            if result is not None:
                answer = {"tool": call["tool"], "status": "ok", "summary": result}
                results.append({"event": "tool_result", "call_id": f"c{number}", **answer})
        lines += results
    return [{"ts": START + n, **line} for n, line in enumerate(lines)]
