"""Text from strangers is shown, never obeyed."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.codec.text import clip, neutralise


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb\r\tc\x00", "a\\nb\\r\\tc\\x00"),
        ("\u202etxt.exe", "\\u202etxt.exe"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("line\u2028sep\u2029\x85", "line\\u2028sep\\u2029\\x85"),
        ("\x9b31m", "\\x9b31m"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("half \ud83d", "half \\ud83d"),
        ("한글 é 😀 plain", "한글 é 😀 plain"),
    ],
)
def test_hidden_characters_are_written_out(text: str, shown: str) -> None:
    assert neutralise(text) == shown


@given(st.text(st.characters()))
def test_nothing_hidden_is_left_and_nothing_visible_is_changed(text: str) -> None:
    shown = neutralise(text)
    shown.encode()
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
    assert neutralise(shown) == shown
    plain = [c for c in text if unicodedata.category(c)[0] in "LNPS" or c == " "]
    if len(plain) == len(text) and not any(c in "\u3164\u115f\u1160\uffa0" for c in text):
        assert shown == text


@pytest.mark.parametrize(
    "name", ["LEFT-TO-RIGHT OVERRIDE", "RIGHT-TO-LEFT ISOLATE", "ARABIC LETTER MARK", "WORD JOINER"]
)
def test_bidirectional_and_joining_controls(name: str) -> None:
    assert unicodedata.lookup(name) not in neutralise(f"a{unicodedata.lookup(name)}b")


@given(st.text(st.characters()), st.integers(1, 30))
def test_clipped_text_fits(text: str, width: int) -> None:
    short = clip(text, width)
    assert len(short) <= width
    assert short == neutralise(text) or short.endswith("…")
