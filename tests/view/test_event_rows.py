"""Events as rows: nothing that is masked shows, nothing a terminal obeys is left, nothing is passed over."""

import json
import re
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.codec import pointer
from geode_traj.codec.text import neutralise
from geode_traj.review.folder import Found
from geode_traj.scan.engine import Scanner
from geode_traj.scan.finding import scan_value
from geode_traj.scan.numbering import Numbering
from geode_traj.view.cells import Span, columns, fit
from geode_traj.view.event_rows import BEGINNING, MASK, PLAIN, EventRows, Place, Sight
from tests.support.secrets import make

TOKEN = make("github_token")
SCANNER = Scanner("publish")
HOSTILE = "".join(map(chr, [*range(32), *range(127, 160), 0x200B, 0x202E, 0x2066, 0xFEFF, 0x1D173, 0xE0001]))


def event(value) -> EventRows:
    """An event with what a scan finds in it."""
    numbering = Numbering(bytes(32))
    found = [
        Found(
            n,
            "a.json",
            1,
            one.pointer,
            one.span,
            one.in_key,
            one.rule,
            one.cls,
            one.band,
            one.view,
            one.value_number,
        )
        for n, one in enumerate(scan_value(value, SCANNER, numbering.number), start=1)
    ]
    return EventRows(value, found)


def shown(rows: EventRows, width=60, start=BEGINNING, sight=PLAIN) -> list[str]:
    return ["".join(span.text for span in line.row) for line in rows.lines(width, start, sight)]


def planted(secret):
    texts = st.text(st.sampled_from("ab \n\t가é\x1b~/"), max_size=30)
    holding = st.builds(lambda before, after: f"{before} {secret} {after}", texts, texts)
    words = texts | holding | st.just(secret)
    return st.recursive(
        words | st.integers() | st.none(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
        max_leaves=12,
    )


@given(planted(TOKEN), st.integers(40, 130))
def test_a_masked_secret_is_on_no_screen(value, width):
    rows = event(value)
    assert rows.placed
    everything = "".join(shown(rows, width))
    for one in rows.found:
        window = rows.window(one, 20, width)
        everything += "".join(span.text for line in window.lines for span in line.row)
        everything += "".join(span.text for span in rows.snippet(one, width))
    plain = re.sub(r"[^\w]", "", everything)
    assert not any(TOKEN[at : at + 12] in plain for at in range(0, len(TOKEN) - 12))


@pytest.mark.parametrize(
    "value",
    [
        {TOKEN: {TOKEN: TOKEN}, f"x{TOKEN}": TOKEN},
        {"k" * 600: {"l" * 600: {TOKEN: 1, "b": TOKEN, "c": TOKEN}}},
        [{"password": TOKEN}, {"password": {"a": [TOKEN, {TOKEN: 1}]}}, {"password": 1234567}],
        {f"{n} {make('github_oauth')}": TOKEN for n in range(3)},
        {"": 1, "z" * len(TOKEN): 1, TOKEN: 1, "y" * len(TOKEN): 1},
    ],
    ids=["alike keys", "cut pointers", "sensitive fields", "many keys", "a key that only looks like it"],
)
def test_secrets_in_awkward_places_are_masked(value):
    text = "".join(shown(event(value), 200))
    assert TOKEN[:12] not in text and "1234567" not in text


def test_what_cannot_be_placed_hides_the_whole_event():
    rows = EventRows(
        {"a": "secret one"}, [Found(1, "a.json", 1, "/b", (0, 3), False, "r", "c", "high", None, 1)]
    )
    assert not rows.placed
    assert "secret" not in "".join(shown(rows)) and "cannot be placed" in "".join(shown(rows))
    assert "secret one" in "".join(shown(rows, sight=Sight(1, True)))


def test_the_mask_tells_no_length_and_reveals_only_what_was_asked_for():
    text = f"key {TOKEN} and {make('github_oauth')} end"
    rows = event({"content": text})
    first, _ = rows.found
    hidden = "".join(shown(rows, 300, sight=Sight(first.id)))
    assert hidden.count(MASK) == 2
    revealed = "".join(shown(rows, 300, sight=Sight(first.id, True)))
    assert TOKEN in revealed and make("github_oauth") not in revealed
    longer = event({"content": f"key {make('anthropic_key')} end"})
    assert len("".join(shown(longer)).split("key: ")[-1]) <= len(f"{MASK}⟧ end")


@given(st.text(st.sampled_from(HOSTILE + "ab 가\u0301\u0e33é🙂"), max_size=300), st.integers(40, 90))
def test_nothing_that_a_terminal_obeys_is_left_and_no_row_is_too_wide(text, width):
    rows = event({"content": text, text[:20]: [text]})
    for line in rows.lines(width):
        said = "".join(span.text for span in line.row)
        assert neutralise(said) == said
        assert columns(said) <= max(width, 10)


@given(st.lists(st.text(st.sampled_from("ab \n\t가"), max_size=90), min_size=1, max_size=6), st.data())
def test_a_page_goes_on_where_the_one_before_ended(texts, data):
    rows = event({f"k{n}": text for n, text in enumerate(texts)})
    lines = list(rows.lines(40))
    at = data.draw(st.integers(0, len(lines) - 1))
    here = lines[at].place
    if here.at:  # the beginning of a value shows its name again
        assert list(rows.lines(40, here)) == lines[at:]
    else:
        first = next(n for n, line in enumerate(lines) if line.place == here)
        assert list(rows.lines(40, here)) == lines[first:]


def test_a_window_has_twenty_rows_on_each_side_and_knows_whether_that_is_all():
    number = "(415) 555" + "-2671"
    log = "\n".join(f"row {n}" for n in range(60))
    rows = event({"content": f"{log}\ncall {number} now\n{log}", "after": "x"})
    (found,) = rows.found
    window = rows.window(found, 20, 60)
    assert window.first == 20 and len(window.lines) == 41 and not window.whole
    assert [line.current for line in window.lines] == [False] * 20 + [True] + [False] * 20
    wide = rows.window(found, 320, 60)
    assert wide.whole and len(wide.lines) == len(list(rows.lines(60)))


def test_a_long_text_is_read_from_where_it_is_looked_at():
    number = "(415) 555" + "-2671"
    rows = event({"content": f"{'x' * 3_000_000} call {number} now {'y' * 3_000_000}"})
    (found,) = rows.found
    window = rows.window(found, 20, 80)
    assert 21 <= len(window.lines) <= 43 and any(line.current for line in window.lines)
    assert len(list(islice(rows.lines(80, Place(0, 5_000_000)), 20))) == 20


def test_pointers_and_values_are_told_apart_from_text():
    said = " ".join(shown(event({"a": "null", "b": None, "c": [], "d/e": {"f": 1.5}})))
    assert "/a: null" in said and "/b = null" in said and "/c = []" in said and "/d~1e/f = 1.5" in said
    assert pointer.join(["d/e", "f"]) in said


def test_a_row_that_is_cut_says_so():
    assert fit([Span("가나다라마")], 6) == (Span("가나…"),)
    assert fit([Span("a\x1b[2Jb")], 20) == (Span("a\\x1b[2Jb"),)
    assert json.dumps(fit([Span("abc", "title")], 3)) == json.dumps([["abc", "title"]])
