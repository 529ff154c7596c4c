"""The terminal: bytes as keys, screens as bytes, and a real sitting in a pseudo-terminal."""

import os
import pty
import shutil
import signal
import termios
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.cli.tty import Keys, Painter, Terminal
from geode_traj.review.folder import open_review
from geode_traj.review.state import State
from geode_traj.view.cells import Span
from tests.support import review_page
from tests.support.sittings import REVIEWER, long, small
from tests.support.terminal import Session
from tests.support.transcripts import call

FINDINGS = 400


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return small(tmp_path_factory.mktemp("small"), "")


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "review")


def at(folder, **options):
    return Session(["review", "tty", str(folder), "--reviewer", REVIEWER], **options)


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"aR5 ", ["a", "R", "5", " "]),
        (b"\x1b[A\x1bOB\x1b[5~\x1b[6~", ["up", "down", "pgup", "pgdn"]),
        (b"\r\n\x7f\x15", ["enter", "enter", "backspace", "ctrl-u"]),
        ("é가🙂".encode(), ["é", "가", "🙂"]),
        (b"\x1b[200~rrr\nq\x1b[201~n", ["paste", "n"]),
        (b"\x1b[200~\x1b[201\x1b[201~n", ["paste", "n"]),
        (b"\x1ba\x1b[1;5A\x1b[99;99;99Xb", ["b"]),
        (b"\x00\x01\x02\x9b\xff\xfex", ["x"]),
        (b"r" * 30, ["paste"]),
        (b"\x1b[" + b"1" * 70 + b"x", ["1"] * 8 + ["x"]),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_bytes_are_keys_however_they_come(data, keys):
    assert Keys().feed(data) == keys
    single = Keys()
    one_by_one = [key for byte in data for key in single.feed(bytes([byte]))]
    assert one_by_one == (list("r" * 30) if data == b"r" * 30 else keys)


def test_the_escape_key_is_told_by_what_does_not_follow():
    keys = Keys()
    assert keys.feed(b"\x1b") == [] and keys.waits
    assert keys.flush() == ["esc"] and not keys.waits
    assert keys.feed(b"\x1b[") == [] and keys.flush() == []
    assert keys.feed(b"\x1b[200~aaa") == [] and keys.flush() == []
    assert keys.feed(b"rr\x1b[201~r") == ["paste", "r"]


@given(st.lists(st.binary(max_size=40), max_size=10))
def test_no_bytes_break_the_keys(pieces):
    keys = Keys()
    for piece in pieces:
        assert all(key.isprintable() for key in keys.feed(piece))
    keys.flush()


def test_only_rows_that_changed_are_written_and_nothing_in_them_is_obeyed():
    written = []
    painter = Painter(written.append, colour=False)
    painter.paint([(Span("one"),), (Span("two", "mark"),)])
    painter.paint([(Span("one"),), (Span("t\x1b[2J\n\u202ewo", "mark"),)])
    painter.paint([(Span("one"),), (Span("t\x1b[2J\n\u202ewo", "mark"),)])
    assert len(written) == 2
    assert written[1] == b"\x1b[2;1H\x1b[0m\x1b[K\x1b[1;4mt\\x1b[2J\\n\\u202ewo\x1b[0m"


def test_the_terminal_is_given_back_after_an_error():
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    with pytest.raises(RuntimeError), Terminal(slave, slave) as terminal, terminal.heeding():
        assert termios.tcgetattr(slave) != before
        raise RuntimeError
    assert termios.tcgetattr(slave) == before
    assert signal.getsignal(signal.SIGWINCH) == signal.SIG_DFL
    written = b""
    while not written.endswith(b"\x1b[?25h\x1b[?1049l"):
        written += os.read(master, 1000)
    os.close(master)
    os.close(slave)


def test_without_a_terminal_it_says_what_to_use(folder):
    stdout, stderr, code = call(["review", "tty", str(folder), "--reviewer", REVIEWER])
    assert (stdout, code) == (b"", 2) and b"review decide" in stderr
    assert call(["review", "tty", str(folder)])[2] == 2


@pytest.mark.parametrize("end", ["\x03", signal.SIGTERM], ids=["ctrl-c", "killed"])
def test_an_interruption_gives_the_terminal_back(folder, end):
    with at(folder) as session:
        session.wait_for("finding 1 of")
        if isinstance(end, str):
            session.type(end)
        else:
            session.process.send_signal(end)
        assert session.ended() == 130
        assert bytes(session.sent).count(b"\x1b[?1049l") == 1
    # What was on the screen is written down all the same.
    assert State(open_review(folder)).covered("booking.json") == 1


def test_the_screen_follows_the_window(folder):
    with at(folder) as session:
        session.wait_for("finding 1 of")
        session.resize(120, 40)
        lines = session.wait(lambda lines: len(lines[4]) == 120)
        assert "? keys" in lines[39]
        session.resize(30, 10)
        session.wait_for("make the window")
        session.type("q")
        assert session.ended() == 4


@pytest.mark.parametrize("colour", [True, False])
def test_a_finding_is_marked_without_colour_too(folder, colour):
    with at(folder, env={} if colour else {"NO_COLOR": "1"}) as session:
        lines = session.wait_for("⟦v1 phone_number")
        row = next(n for n, line in enumerate(lines) if "⟦v1" in line)
        mark = next(cell for cell in session.screen.buffer[row].values() if cell.data == "⟦")
        assert lines[row].startswith(">") and mark.underscore and mark.bold
        colours = {cell.fg for line in session.screen.buffer.values() for cell in line.values()}
        assert (colours == {"default"}) is not colour
        session.type("q")
        session.ended()


def test_text_cannot_reach_out_of_its_row(folder):
    with at(folder) as session:
        session.wait_for("finding 1 of")
        session.type("n")
        lines = session.wait_for("finding 2 of")
        assert "\\x1b[2J\\x1b[Hdone \\u202eyllaer" in "".join(lines)
        assert lines[0].startswith("review ") and "q leave" in lines[23]
        session.type("q")
        session.ended()


def test_the_page_shows_what_is_seen():
    assert review_page.written() == review_page.PAGE.read_text("utf-8")


class Clerk:
    """Decides finding after finding from the keyboard, waiting for what the screen says of each."""

    def __init__(self, session):
        self.session = session
        self.acknowledged = {}

    def number(self):
        """The finding on the screen."""
        lines = self.session.wait(lambda lines: lines[1].startswith("finding "))
        return int(lines[1].split()[1])

    def decide(self):
        """Decide the finding on the screen; approve and redact in turns, as no key may come twice at once."""
        number = self.number()
        self.session.type("r" if number % 2 else f"a{number % 5 + 1}")
        self.told(f"finding {number}: ")
        self.acknowledged[number] = "redact" if number % 2 else "approve"
        return number

    def told(self, text):
        return self.session.wait(lambda lines: lines[-3].startswith(text))[-3]


def test_four_hundred_findings_in_one_sitting(tmp_path):
    folder = long(tmp_path, FINDINGS)
    began = time.monotonic()
    with at(folder) as session:
        clerk = Clerk(session)
        assert clerk.number() == 1
        session.type("R")  # every eighth finding has the same value
        assert "1 to 8 of 50" in "".join(session.wait_for("R again"))
        session.type("R")
        clerk.told("50 findings: replaced; 350 left")
        while len(clerk.acknowledged) < 200:
            number = clerk.decide()
            if number % 50 == 1:
                session.type("u")
                clerk.told("undone: ")
                assert clerk.number() == number
                session.type("s" if number % 100 == 1 else "a1")
                clerk.told(f"finding {number}: ")
                clerk.acknowledged[number] = "later" if number % 100 == 1 else "approve"
        session.type("x")
        session.wait_for("leave the whole of list.json out")
        session.type("1")
        clerk.told("list.json is left out")
        session.type("u")
        clerk.told("undone: ")
        session.type("r")
        session.kill()  # while a decision is under way
    state = State(open_review(folder))
    for number, action in clerk.acknowledged.items():
        outcome = state.outcome(state.review.findings[number - 1])
        assert outcome.kind == ("undecided" if action == "later" else action), number
    before = len(list(state.undecided()))
    with at(folder) as session:
        again = Clerk(session)
        assert again.number() == next(state.undecided()).id
        for _ in range(before):
            again.decide()
        assert "nothing waits for you" in session.lines()[-3]
        session.type("q")
        assert session.ended() == 0
    seconds = time.monotonic() - began
    print(f"\n{FINDINGS} findings in {seconds:.1f} s, {FINDINGS / seconds:.0f} a second")
    assert not any(State(open_review(folder)).undecided())
