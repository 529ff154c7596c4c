from __future__ import annotations

import base64
import json
import re
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.scan.views.encoded import Reader
from geode_traj.scan.views.walk import DECODERS, applicable, utf8, views

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


PIECES = st.sampled_from(
    [
        *"a Z 0 9 f deadbeef 41 0x41 20 , 104, 103 \\ \\n \\u0041 \\x41 \\101 \\e[ % %41 %e9 & &#38;".split(),
        *"&lt; ; = =3D =41 + - -- --- . .. || << ' \" ` b' > | │ → # * // [INFO] [ ] : 12:".split(),
        *"a.py:3: web-1 Apr é 😀 2026-04-11 2026-04-11T09:14:02Z stdout /srv/app".split(),
        *("H4sIAAAAAAAA", "bmVlZGxlLTEgYQ", "bmVlZGxlLTEg" * 4, "C--bmVlZGxlLTEgYQ"),
        *("00000000: 6e65 6564 6c65 2d31 ", "\n11 11:11:11 ", "\\\n", "\x1b]0;a\x07"),
        *"\n|\r\n|\n+ | |  |\t|\0|\0\0|\x08|\x1b[31m|\x1b|\x9b1m|\u200b|\xad|\ufeff|\u0661|\ud800".split("|"),
    ]
)
TEXTS = st.lists(PIECES, max_size=40).map("".join)


@given(TEXTS)
def test_no_decoder_is_missed(text: str) -> None:
    chosen = applicable(utf8(text))
    for decoder in DECODERS:
        made, trail = decoder.decode(text, Reader())
        assert decoder.text is None or decoder.text(text) == made
        if decoder.name != "quoted-printable":  # whose code is too common to be believed without its `=`
            assert decoder in chosen or not len(trail), decoder.name


_RUN = "[A-Za-z0-9+/_]++(?:-[A-Za-z0-9+/_]++)*+"
PLAIN = {
    "base64": rf"(?<![A-Za-z0-9+/_])(?=[A-Za-z0-9+/_-]{{16}}){_RUN}"
    rf"(?:(?<=[A-Za-z0-9+/_]{{40}})\\?\r?\n[ \t]*+(?=[A-Za-z0-9+/_-]{{16}}){_RUN})*+(?:-(?!-))?={{0,2}}",
    "hex": r"(?<![0-9A-Fa-f])(?:0x)?(?:(?:[0-9A-Fa-f]{2}){12,}+"
    r"|[0-9A-Fa-f]{2}(?:[ :,\t\r\n]{1,3}(?:0x)?[0-9A-Fa-f]{2}){11,}+)",
    "joined": r"(?<=[A-Za-z0-9_./+=-])\\?\r?\n[ \t]*+(?=[A-Za-z0-9_./+=-])",
    "unseen": "[\x1b\x9b](?:(?<=\x9b)|\\[)[0-?]*+[ -/]*+[@-~]?"
    "|\x1b\\][^\x07\x1b\r\n]{0,2048}+(?:\x07|\x1b\\\\)?|(?<!\0)\0(?!\0)|\x1b[@-Z\\\\^_=>78]?|.?\x08|[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]++",
}
"""The same matches as those of the decoders, said simply and found slowly."""


@pytest.mark.parametrize("name", PLAIN)
@given(text=TEXTS)
def test_decoders_replace_what_they_are_meant_to(name: str, text: str) -> None:
    reader = Reader()
    read = {"base64": reader.base64, "hex": reader.hex}
    plain = re.sub(
        PLAIN[name], lambda match: read[name](match.group()) or match.group() if name in read else "", text
    )
    (decoder,) = (decoder for decoder in DECODERS if decoder.name == name)
    found, _ = decoder.decode(text, Reader())
    if name != "base64" or "--" not in text:  # where runs of one or two digits may say something
        assert found == plain
