"""For every value: equal when read back, and no raw hit, in any frame, that the decoded strings lack."""

import json
import re
import time
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geode_traj.codec.canonical import dumps
from geode_traj.contract import encoding
from geode_traj.contract.encoding import encode
from geode_traj.contract.gate_filter import may_be_written_hit
from geode_traj.contract.gates import count_hits, find_hits
from tests.reference.gates import GATES, KNOWN_SECRET, gate_hits

STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
PIVOTS = {"email": "@", "absolute_home": "/", "url_query_secret": "="}
FRAMES = ["{}", "{},\n", '{{"events":[\n{},\n{{}}\n],"z":"a/b c"}}', '[{},"xxxxxxxxxxxx"]', "{}}}]}}}}}}}}"]

CONTROL = st.sampled_from(list('\b\f\n\r\t\x00\x0b\x1c\x1f\x7f"\\'))
WORDS = """
@ . .. @a.bc @aa.bb x abc é ı & = / /home/ /Users/ /home REDACTED C:\\Users\\name ?token= &secret=
?api_key= _ - yJ eyJ
"""
LONG = {"a": 12, "f": 31, "0": 28, "c": 28, "ab": 16, "yJaaaaaaaa.bbbbbbbb.c": 1, ".aaaaaaaa": 2}
TOKENS = [
    "earer ",
    "Bearer ",
    "earer\u2003",
    " ",
    "gho" + "_" + "a" * 36,
    "sk" + "-" + "a" * 20,
    "AK" + "IA" + "A" * 16,
]
PIECE = st.sampled_from([*WORDS.split(), *(unit * times for unit, times in LONG.items()), *TOKENS])
STRINGS = st.lists(PIECE | CONTROL, max_size=9).map("".join) | st.text(
    st.characters(exclude_categories=["Cs"])
)
VALUES = st.recursive(
    STRINGS | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STRINGS, inner, max_size=4),
    max_leaves=6,
)


def holds(cls: str, text: str, place: int) -> bool:
    """Tell whether some match in `text`, overlapping ones included, hinges on the character there."""
    pattern = GATES.get(cls, KNOWN_SECRET)
    if cls not in PIVOTS:
        return pattern.match(text, place) is not None
    found = (pattern.match(text, start) for start in range(place))
    return any(m is not None and text.find(PIVOTS[cls], m.start() + 1) == place for m in found)


def uncounted(raw: str) -> Iterator[str]:
    """Yield the class of each raw hit that is no hit, at the same character, of a decoded string."""
    for hit in find_hits(raw):
        place = hit.start if hit.pivot is None else hit.pivot
        token = next((m for m in STRING.finditer(raw) if m.start() < place < m.end() - 1), None)
        head = raw[token.start() : place] + '"' if token else ""
        if not STRING.fullmatch(head) or not holds(hit.cls, json.loads(token[0]), len(json.loads(head))):
            yield hit.cls


@given(VALUES)
@example("\n@a.bc@x.yy")
@example("\n@aa.bb@cc.dd@ee.ff@gg.hh")
@example("?token=@aa.bb")
@example("?token=\n@a.bc&")
@example(["?token=", "?token=\n", {"?token=": "?token=\b"}])
@example("\n@" + ".".join(["c" * 28] * 5) + ".com")
@example("\bearer " + "a" * 12 + ".Bearer " + "b" * 12)
@example("?token=\bearer " + "a" * 12)
@example("Bearer a/home/REDACTED")
@example("C:\\Users\\name/home/@")
@example("Bearer \r" + "a" * 12 + ".Bearer " + "b" * 12)
@example("/home/home/home/\n/Users/REDACTED")
def test_no_hit_is_of_the_writings_own_making(value: object) -> None:
    raw = encode(value).decode()
    assert json.loads(raw) == value
    assert "\n" not in raw
    assert encode(json.loads(raw)) == raw.encode()
    for frame in FRAMES:
        assert list(uncounted(frame.format(raw))) == []


@given(VALUES)
def test_values_that_make_no_hit_are_written_plainly(value: object) -> None:
    raw = dumps(value)
    if not any(
        gate_hits(f"{token}{'x' * 8}")[cls] for token in STRING.findall(raw.decode()) for cls in gate_hits("")
    ):
        assert encode(value) == raw


@given(VALUES)
def test_the_quick_look_misses_nothing(value: object) -> None:
    raw = dumps(value)
    slowly = STRING.sub(lambda token: encoding._escape(token[0]), raw.decode()).encode()
    assert encode(value) == slowly
    assert may_be_written_hit(raw) or slowly == raw


ADDRESS = "demo_user" + "@" + "example.org"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("\n@pytest.fixture", r"\n\u0040pytest.fixture"),
        ("\x1f@pytest.fixture", r"\u001f\u0040pytest.fixture"),
        ("x @pytest.fixture", "x @pytest.fixture"),
        ("cd /home/", r"cd /home\u002f"),
        ("/Users/\nx", r"/Users\u002f\nx"),
        ("/home/REDACTED", r"/home\u002fREDACTED"),
        ("/home/REDACTED/x", "/home/REDACTED/x"),
        ("?token=", r"?token\u003d"),
        ("?token=abc\n", r"?token\u003dabc\n"),
        ("?token=abc x", "?token=abc x"),
        ("?token=@aa.bb", r"?token\u003d\u0040aa.bb"),
        ("?token=\n@a.bc&", r"?token\u003d\n\u0040a.bc&"),
        ("\f" + "0" * 31 + "." + "a" * 16, r"\f" + "0" * 31 + r"\u002E" + "a" * 16),
        ("\x1eyJ" + "a" * 8 + ".bbbbbbbb.c", r"\u001ey\u004a" + "a" * 8 + ".bbbbbbbb.c"),
        ("\bearer " + "a" * 12, r"\bearer\u0020" + "a" * 12),
        # what the text itself holds is left for redaction
        (ADDRESS, ADDRESS),
        ("\n" + ADDRESS, r"\n" + ADDRESS),
        ("\n@a.bc" + ADDRESS[1:], r"\n@a.bc" + ADDRESS[1:]),
        ("/home/demo_user", "/home/demo_user"),
        ("?token=abcdefgh", "?token=abcdefgh"),
    ],
)
def test_vectors(text: str, written: str) -> None:
    assert encode(text) == f'"{written}"'.encode()
    assert encode({text: [text]}) == f'{{"{written}":["{written}"]}}'.encode()


def test_a_decoded_hit_is_never_disguised() -> None:
    for secret in (ADDRESS, "/home/demo_user", "?token=abcdefgh", "sk-" + "a" * 20, "Bearer " + "a" * 12):
        value = {"content": f"\n@pytest.fixture {secret} /home/"}
        assert count_hits(encode(value).decode()) == count_hits(secret)


HOSTILE = r"""
\n@a.bc ?token=\n /home/\n /home \x1fCC.CC. \bearer\u2003abcdefghijklm. \n@CC.DD. @ \n \\ "
&token=@aa.bb\u2003
&token=\n@a.bc CC.
\x1eyJ \x1eyJaaaaaaaa. eyJ u001eyJ \\u001eyJ
"""


def hostile_units() -> list[str]:
    text = HOSTILE.replace("CC", "c" * 28).replace("DD", "d" * 28)
    return [unit.encode("latin-1", "backslashreplace").decode("unicode_escape") for unit in text.split()]


@pytest.mark.parametrize("unit", hostile_units(), ids=repr)
def test_hostile_values_take_linear_time(unit: str) -> None:
    many = (1 << 16) // len(unit)
    for value in ("\n@" + unit * many, [unit] * many):
        start = time.process_time()
        encode(value)
        assert time.process_time() - start < 1.0
