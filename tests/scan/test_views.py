from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.scan.views.walk import views

TEXT = st.text(max_size=40).filter(str.isprintable)
MARK = "needle-1"


@pytest.mark.parametrize(
    ("encoded", "name"),
    [
        (json.dumps("a\n\u00e9" + MARK), "json"),
        (json.dumps(json.dumps("a\n" + MARK)), "json/json"),
        (quote("é a b " + MARK + "%"), "percent"),
        ("x " + base64.b64encode(("é " + MARK + " é").encode()).decode() + " y", "base64"),
        ("need\n  le-1", "joined"),
    ],
)
def test_views_show_what_is_encoded(encoded: str, name: str) -> None:
    (view,) = [view for view in views(encoded, deep=True) if view.name == name]
    at = view.text.index(MARK)
    start, end = view.place(at, at + len(MARK))
    assert encoded[start : start + 2] in ("ne", "w6")
    assert encoded[start:end].replace("\n  ", "") in (MARK, encoded[2:-2])


@given(TEXT, TEXT)
def test_json_view_leads_back_to_each_character(left: str, right: str) -> None:
    text = json.dumps(left + "\n" + MARK + right)
    view = next(views(text, deep=False))
    for at in range(len(view.text)):
        start, end = view.place(at, at + 1)
        piece = text[start:end]
        assert piece == view.text[at] or json.loads(f'"{piece}"') == view.text[at]
    at = view.text.index(MARK)
    start, end = view.place(at, at + len(MARK))
    assert text[start:end] == MARK


@pytest.mark.parametrize(
    "text", ["plain", "50% off", "a/b/c/d/e/f/g/h/i/j/k/l", "camelCaseIdentifierName", "\\d+ \\w"]
)
def test_plain_text_has_no_views(text: str) -> None:
    assert list(views(text, deep=True)) == []


def test_binary_in_base64_is_no_text() -> None:
    blob = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256))).decode()
    assert [v for v in views(f"data:image/png;base64,{blob}", deep=True) if MARK in v.text] == []


@given(st.text(max_size=60))
def test_views_of_any_text_stay_inside_it(text: str) -> None:
    for view in views(text, deep=True):
        start, end = view.place(0, len(view.text)) if view.text else (0, 0)
        assert 0 <= start <= end <= len(text)
        assert view.text != text
