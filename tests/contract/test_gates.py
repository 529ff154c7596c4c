"""The classes defined literally, as `re` patterns, slow on hostile text; the product must equal them."""

import re
import time
from collections import Counter
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geode_traj.contract.gates import GATE_CLASSES, GateCounter, count_hits, find_hits, may_hit
from geode_traj.errors import DataError
from tests.reference import gates as reference

DEFINITIONS = {
    "absolute_home": (
        r"(?:/Users/|/home/)(?!REDACTED(?:/|\Z))[^/\s]+|[A-Za-z]:\\Users\\(?!REDACTED(?:\\|\Z))[^\\\s]+",
    ),
    "email": (r"(?i)\b[A-Z0-9._%+-]+@[A-Z0-9.-]+\.[A-Z]{2,}\b",),
    "github_token": (r"\bgh[opsu]_[A-Za-z0-9_]{20,}\b",),
    "openai_key": (r"\bsk-[A-Za-z0-9_-]{20,}\b",),
    "bearer": (r"(?i)\bBearer\s+[A-Za-z0-9._~+/=-]{12,}\b",),
    "aws_access_key": (r"\bAKIA[0-9A-Z]{16}\b",),
    "url_query_secret": (r"(?i)[?&](?:api[_-]?key|access[_-]?token|token|secret)=[^&\s]{8,}",),
    "known_secret": (
        r"sk-ant-[A-Za-z0-9_-]{20,}",
        r"sk-proj-[A-Za-z0-9_-]{20,}",
        r"sk-[A-Za-z0-9]{20,}",
        r"[0-9a-f]{32}\.[A-Za-z0-9]{16,}",
        r"ghp_[A-Za-z0-9]{36,}",
        r"gho_[A-Za-z0-9]{36,}",
        r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+",
        r"xoxb-[A-Za-z0-9-]+",
        r"xoxp-[A-Za-z0-9-]+",
        r"xapp-[A-Za-z0-9-]+",
    ),
}


def spans(cls: str, text: str) -> list[tuple[int, int]]:
    return sorted({m.span() for pattern in DEFINITIONS[cls] for m in re.finditer(pattern, text)})


ODD = "İıſKéß٣一\u00a0\u2028\u0085\x1c\x1f_\u0301\U0001d54f\ud800"
MARKS = r"""
@ . .. .co .com + % a@b.cc ~ " , - _ a Z9 /home/ /Users/ /home REDACTED / \ C:\Users\ :\Users\ gh o_ ghp_ ghs_
gho_ sk- sk-ant- sk-proj- eyJ Bearer bEARER earer AKIA xoxb- xoxp- xapp- ? & = ?token= &api_key= ?apikey=
&ACCESS-TOKEN= ?accesstoken= &secret= ?apı-Key= &ſecret= ?toKen= aaaaaaaa.bbbbbbbb.c
"""
RUNS = [unit * n for unit, n in {"f": 7, "0a": 8, "b1": 10, "C3": 8, "d": 31, "e": 32, "x": 36}.items()]
MARK = st.sampled_from([*MARKS.split(), *RUNS, *ODD, "Bearer ", " ", "\n", "\t"])
TEXT = st.lists(MARK | st.characters(), max_size=12).map("".join)


@given(TEXT)
@example("x@a.bc-y@d.ef")
@example("eyJeyJ" + "a" * 8 + ".eyJ" + "b" * 8 + "." + "c" * 8 + ".d")
@example(".".join(["a" * 32] * 3 + ["b" * 16]))
@example("/home/home/home/x C:\\Users\\y/home/z")
def test_hits_are_those_of_the_definitions(text: str) -> None:
    hits = find_hits(text)
    assert [hit.start for hit in hits] == sorted(hit.start for hit in hits)
    for cls in GATE_CLASSES:
        assert [(hit.start, hit.end) for hit in hits if hit.cls == cls] == spans(cls, text), cls
    counts = count_hits(text)
    assert counts == reference.gate_hits(text)
    assert tuple(counts) == GATE_CLASSES


@given(TEXT)
def test_a_filtered_text_has_no_hit(text: str) -> None:
    if find_hits(text):
        assert may_hit(text)
        assert may_hit(text.encode("utf-8", "surrogatepass"))


@given(TEXT)
def test_pivots_are_the_characters_that_canonical_writing_escapes(text: str) -> None:
    for hit in find_hits(text):
        matched = text[hit.start : hit.end]
        match hit.cls:
            case "email":
                assert hit.pivot == hit.start + matched.index("@")
            case "url_query_secret":
                assert hit.pivot == hit.start + matched.index("=")
            case "absolute_home" if matched.startswith("/"):
                assert hit.pivot == hit.start + matched.index("/", 1)
            case _:
                assert hit.pivot is None


@given(
    st.lists(TEXT | st.sampled_from(["\n", "Bearer\n", "\n \n", "/home/REDACTED", "a" * 12 + ".Bearer\n"])),
    st.data(),
)
def test_counting_in_pieces_is_counting_the_whole(parts: list[str], data: st.DataObject) -> None:
    whole = "".join(parts).encode("utf-8", "surrogatepass")
    ends = [at + 1 for at, byte in enumerate(whole) if byte == 10]
    anywhere = st.integers(0, len(whole))
    cuts = sorted(data.draw(st.sets(st.sampled_from(ends) | anywhere if ends else anywhere, max_size=8)))
    counter = GateCounter()
    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        counter.feed(whole[start:end])
    assert counter.result() == count_hits(whole.decode("utf-8", "surrogatepass"))
    assert counter.result() == counter.result()


def test_text_pieces_and_partial_results() -> None:
    counter = GateCounter()
    token = "a1" * 8
    counter.feed("Bear" + "er\n\n")
    counter.feed(token + '"}\n/home/REDACTED')
    assert counter.result() == {**dict.fromkeys(GATE_CLASSES, 0), "bearer": 1}
    counter.feed("\n")
    assert counter.result()["absolute_home"] == 1


def test_bytes_that_are_not_utf8_are_refused() -> None:
    with pytest.raises(DataError) as caught:
        GateCounter().feed(b"\xff/home/x\n")
    assert caught.value.code == "TE209"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\\n@pytest.fixture", {"email": 1}),
        ("icon a@2x.png", {"email": 1}),
        ("https://host/home/page", {"absolute_home": 1}),
        ("/home/${USER}/", {"absolute_home": 1}),
        ("Bear" + "er authentication", {"bearer": 1}),
        ("task-" + "a" * 20, {"known_secret": 1}),
        ("C:\\\\Users\\\\name", {}),
        ("C:\\Users\\name", {"absolute_home": 1}),
        ("/home/REDACTED/x /Users/REDACTED", {}),
        ("/home/REDACTED\n", {"absolute_home": 1}),
        ("/home/REDACTED2/x", {"absolute_home": 1}),
        ("C:\\Users\\REDACTED\\x", {}),
        ("gh" + "r_" + "a" * 36, {}),
        ("é" + "AK" + "IA" + "A" * 16, {}),
        ("sk-" + "ant-" + "a" * 20, {"openai_key": 1, "known_secret": 1}),
        ("?token=1234567", {}),
        ("?token=12345678", {"url_query_secret": 1}),
    ],
)
def test_vectors(text: str, expected: dict[str, int]) -> None:
    assert {cls: n for cls, n in count_hits(text).items() if n} == expected


HOSTILE = [
    *r"a. a@ a@a. .a @.a - ab %a eyJ eyJaaaaaaaa. ?token= &token=a /home/ /home C:\Users\ sk-".split(),
    *r"sk-ant- gho_ AKIA xoxb- a@b.co- é. ı@ı. \n@a.bc 0123456789abcdef".split(),
    *("Bearer ", "bearer\n", "\u00a0", "a@b.cc\t", "e" * 32 + "."),
]
HOSTILE_ENDS = ["", "@b.co", "@b.c", "_", "é", ".x.y", "=" * 20]


@pytest.mark.parametrize("unit", HOSTILE, ids=repr)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    size = 1 << 16
    for text in [unit * (size // len(unit)) + end for end in HOSTILE_ENDS] + [
        "x@" + unit * (size // len(unit))
    ]:
        best = min(timed(partial(find_hits, text)) for _ in range(2))
        assert best < 0.1, text[-20:]
        assert min(timed(partial(may_hit, text)) for _ in range(2)) < 0.05


def timed(action: partial) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def test_a_long_line_with_many_classes_counts_each() -> None:
    line = "mail demo@example.org from /home/demo_user/x with ?token=abcdefgh1 "
    assert Counter(hit.cls for hit in find_hits(line * 500)) == {
        "email": 500,
        "absolute_home": 500,
        "url_query_secret": 500,
    }
