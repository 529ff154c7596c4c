"""A sitting at a review: keys in, journal entries and screens out."""

import shutil

import pytest

from geode_traj.codec.text import neutralise
from geode_traj.contract import review_folder
from geode_traj.errors import WorldError
from geode_traj.review import decide
from geode_traj.review.folder import open_review
from geode_traj.review.state import State
from geode_traj.review.summary import summary
from geode_traj.view.cells import columns
from geode_traj.view.event_rows import MASK
from geode_traj.view.review_screens import draw
from tests.review.conftest import Build
from tests.support import review_page
from tests.support.reviews import AT, begun, policy
from tests.support.sittings import ADDRESS, OTHER, PHONE, REVIEWER, TOKEN, screen, sitting, small


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return small(tmp_path_factory.mktemp("small"))


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "review")


def press(who, keys):
    """Press keys, looking at the screen after each as a person does."""
    shown = screen(who)
    for key in keys:
        who.press({"\r": "enter", "\x1b": "esc"}.get(key, key))
        shown = screen(who)
    return "\n".join(shown)


def entries(folder, kind):
    return [entry.body for entry in open_review(folder).journal.entries if entry.kind == kind]


def trajectory(folder, *contents, name="one.json"):
    given = folder / "given"
    given.mkdir(exist_ok=True)
    build = Build(given)
    return build.write(build.doc([build.event({"content": content}) for content in contents]), name)


@pytest.mark.parametrize("size", review_page.SIZES, ids=lambda size: "{}x{}".format(*size))
def test_the_screens_are_the_golden_ones(size):
    expected = (review_page.GOLDEN / "{}x{}.txt".format(*size)).read_text("utf-8")
    assert review_page.golden(*size) == expected


@pytest.mark.parametrize(
    ("keys", "body"),
    [
        ("a2", {"action": "approve", "reason": "synthetic", "findings": [[1, 1]]}),
        ("r", {"action": "redact", "findings": [[1, 1]]}),
        ("s", {"action": "later", "findings": [[1, 1]]}),
        ("RR", {"action": "redact", "findings": [[1, 1], [4, 4], [6, 6]]}),
        ("AA4", {"action": "approve", "reason": "consent", "findings": [[1, 1], [4, 4], [6, 6]]}),
        ("mher own\rr", {"action": "redact", "findings": [[1, 1]], "note": "her own"}),
        ("Nr", {"action": "redact", "findings": [[2, 2]]}),
        ("pr", {"action": "redact", "findings": [[6, 6]]}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_decision_is_an_entry(folder, keys, body):
    press(sitting(folder), keys)
    assert entries(folder, "decision") == [{"reviewer": REVIEWER, **body}]


@pytest.mark.parametrize(
    "keys", ["aq", "a\x1b", "Rr", "AAx", "R\x1b", "x\x1b", "m\x1br"[:2], "a9", "a0", "?a"]
)
def test_what_is_not_confirmed_decides_nothing(folder, keys):
    press(sitting(folder), keys)
    assert entries(folder, "decision") == entries(folder, "rejection") == []


def test_a_held_key_and_a_paste_decide_nothing(folder):
    who = sitting(folder)
    for key in "arsxARu1":
        who.press(key, repeated=True)
    who.press("paste")
    assert "decides nothing" in screen(who)[-3]
    assert len(open_review(folder).journal.entries) == 1


def test_what_policy_has_fixed_is_shown_and_cannot_be_decided(folder):
    who = sitting(folder)
    press(who, "nn")
    for keys in ("a", "r", "s", "A", "R", "m"):
        assert "the policy has fixed" in press(who, keys).splitlines()[-3]
    assert entries(folder, "decision") == []


def test_what_is_masked_shows_while_it_is_asked_for_and_the_journal_keeps_that(folder):
    who = sitting(folder)
    begins = TOKEN[:12]
    assert begins not in press(who, "n")
    assert begins not in press(who, "v") and "not masked" in screen(who)[-3]
    assert begins not in press(who, "n") and MASK in "".join(screen(who))
    assert begins in press(who, "v") and begins in press(who, "v")
    assert begins not in press(who, "c")
    assert entries(folder, "revealed") == [{"reviewer": REVIEWER, "finding": 3}]
    assert begins in press(who, "v")
    who.settle()
    who.settle()
    assert begins not in "\n".join(screen(who))


def test_undo_goes_back_to_what_it_undoes(folder):
    who = sitting(folder)
    press(who, "a1r")
    assert who.queue.left == 3
    assert "finding 2 of 6" in press(who, "u")
    assert "finding 1 of 6" in press(who, "u")
    assert who.queue.left == 5
    assert "TE101" in press(who, "u")


def test_a_trajectory_is_left_out_and_taken_back(folder):
    who = sitting(folder)
    press(who, "x1")
    assert entries(folder, "rejection")[0]["path"] == "booking.json"
    assert who.found.path == "office.json" and who.queue.left == 2
    assert "left out" in press(who, "pr").splitlines()[-3]
    press(who, "u")
    assert who.queue.left == 5


def test_the_next_sitting_begins_where_the_last_one_ended(folder):
    press(sitting(folder), "a1")
    assert sitting(folder).found.id == 2
    assert sitting(folder, "Second Reviewer").found.id == 2


def test_two_people_see_what_the_other_decides(tmp_path):
    text = '[bands]\nreview = "two"\n'
    folder = small(tmp_path, text)
    one, two = sitting(folder), sitting(folder, "Second Reviewer")
    assert "an approval needs two people" in screen(one)[3]
    press(one, "a1")
    assert "1 of 2 approved it" in press(two, "c")
    press(two, "a1")
    press(one, "c")
    assert one.queue.left == two.queue.left == 4
    press(one, "pu")
    assert "1 of 2 approved it" in press(two, "pc")


def test_what_no_release_may_hold_cannot_be_approved(tmp_path):
    path = trajectory(tmp_path, f"curl -u bob:{TOKEN}")
    begun([path], tmp_path / "review", under=policy('[bands]\nhigh = "person"\n'))
    who = sitting(tmp_path / "review")
    assert "which no release may" in press(who, "a1") and who.failed
    assert who.queue.left == 1
    assert "nothing waits" in press(who, "r")


@pytest.mark.parametrize("what", ["journal", "candidate", "cut candidate"])
def test_what_goes_wrong_is_said_on_the_screen(folder, what):
    who = sitting(folder)
    if what == "journal":
        with (folder / review_folder.JOURNAL).open("ab") as stream:
            stream.write(b"{}\n")
    elif what == "candidate":
        shutil.rmtree(folder / review_folder.CANDIDATE)
    else:
        (folder / review_folder.CANDIDATE / "booking.json").write_bytes(b'{"events":[\n')
    said = press(who, "n")
    assert ("TE404" if what == "journal" else "TE2") in said
    assert "a approve" in said


def test_a_private_note_is_refused_and_a_harmless_one_kept(folder):
    who = sitting(folder)
    said = press(who, f"m{OTHER}\r")
    assert "TE308" in said and OTHER in said
    who.press("ctrl-u")
    press(who, "ask hes\x1b")
    assert who.note == ""
    press(who, "mfine\r")
    assert "note: fine" in screen(who)[3]
    who.press("backspace")
    press(who, "r")
    assert entries(folder, "decision")[0]["note"] == "fine" and who.note == ""


def test_events_that_were_on_the_screen_count_as_seen(tmp_path):
    folder = small(tmp_path, "[coverage]\npercent = 100\nclean_percent = 100\n")
    who = sitting(folder)
    press(who, "RRrr")
    assert not who.finished and who.queue.left == 0
    screen(who)
    who.settle()
    assert who.queue.seen_percent("time.json") == 0
    for name in ("booking.json", "office.json", "time.json"):
        press(who, " g")
        while who.at != name:
            press(who, "t")
        while "this is the end" not in press(who, " "):
            pass
        who.settle()
        assert who.queue.seen_percent(name) == 100
    press(who, "q")
    assert who.left and who.finished and summary(State(open_review(folder)))["ready"]


def test_a_jump_sees_nothing_of_what_it_passes_over(folder):
    who = sitting(folder)
    press(who, "n jj  ")
    who.settle()
    assert who.state.covered("booking.json") < 4
    pages = who.pages
    press(who, "gjjj  b")  # event 3 is longer than a page: its end alone is not all of it
    assert pages.path == "booking.json"
    who.settle()
    assert not who.state.seen["booking.json"][3]


def test_a_review_without_findings_is_paged_through_and_left_out(tmp_path):
    begun([trajectory(tmp_path, "good morning")], tmp_path / "review")
    who = sitting(tmp_path / "review")
    assert "around the events" in "\n".join(screen(who)) and who.finished
    assert "left out" in press(who, "x3")
    assert "is not left out any more" in press(who, "u")
    for key in "nNpaArRsmcv":
        press(who, key)
    press(who, "q")
    assert who.left


def test_contexts_of_a_value_are_shown_before_it_is_decided(tmp_path):
    begun([trajectory(tmp_path, *[f"{n}: call {PHONE}" for n in range(30)])], tmp_path / "review")
    who = sitting(tmp_path / "review")
    first = press(who, "R")
    assert "v1: 1 to 8 of 30" in first and first.count(PHONE) == 8
    assert "v1: 9 to 16 of 30" in press(who, " ")
    assert "30 findings: replaced" in press(who, "R")


def test_a_name_is_needed(folder):
    with pytest.raises(WorldError, match="reviewer"):
        sitting(folder, " ")
    with pytest.raises(WorldError, match="policy"):
        sitting(folder, "Policy")


def test_no_size_of_a_window_breaks_a_screen(folder):
    who = sitting(folder)
    for keys in ("", "a", "\x1bR", "\x1bm", "\x1b?", "\x1b ", " "):
        press(who, keys)
        for width, height in ((1, 1), (39, 14), (40, 14), (41, 15), (300, 90)):
            rows = draw(who, width, height)
            assert len(rows) == height
            for row in rows:
                said = "".join(span.text for span in row)
                assert columns(said) <= width and neutralise(said) == said


def test_the_queue_counts_like_the_state(folder):
    who = sitting(folder)
    for keys in ("a1", "s", "R", "R", "u", "x1", "u", "r", "nn", "u", "u"):
        press(who, keys)
        other = State(open_review(folder))
        assert who.queue.left == len(list(other.undecided()))
    decide.decide(other, other.review.findings, "redact", reviewer="Second Reviewer", at=AT)
    press(who, "c")
    assert who.queue.left == 0 and who.finished
    assert ADDRESS in press(who, "N") or who.found
