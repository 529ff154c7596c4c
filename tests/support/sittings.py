"""Reviews to sit at: a small one that shows every kind of finding, and long ones; screens as text."""

import re
from collections.abc import Iterator
from pathlib import Path

from geode_traj.review.folder import open_review
from geode_traj.view.review_screens import draw
from geode_traj.view.review_tty import Sitting
from tests.review.conftest import Build
from tests.support.reviews import AT, begun, policy
from tests.support.secrets import make

REVIEWER = "Demo Reviewer"
PHONE = "+82 10" + "-2345-6789"
OTHER = "(415) 555" + "-2671"
ADDRESS = "93.184" + ".216.34"
TOKEN = make("github_token")
_LOG = "\n".join(f"2026-01-31T09:30:{n:02} worker {n % 4}: fetched page {n} of 40" for n in range(40))


def small(folder: Path, text: str = "") -> Path:
    """Make a review of two trajectories in which people must decide, and a third without a finding."""
    given = folder / "given"
    given.mkdir()
    build = Build(given)
    said = f"Please book the room and call me back.\n이름은 홍길동, 전화는 {PHONE} 입니다.\nThank you!"
    result = f"{_LOG}\nconnecting to server {ADDRESS} with {TOKEN}\n\x1b[2J\x1b[Hdone \u202eyllaer\n{_LOG}"
    build.write(
        build.doc(
            [
                build.event({"content": said}),
                build.event({"content": "I am looking it up now."}, kind="message.assistant", actor="agent"),
                build.event(
                    {"tool_name": "shell", "result": result},
                    kind="tool.call.completed",
                    actor="tool",
                    call_id="c-1",
                ),
                build.event({"content": f"I left word at {PHONE}."}, kind="message.assistant", actor="agent"),
            ]
        ),
        "booking.json",
    )
    build.write(build.doc([build.event({"content": f"My office is {OTHER}, home {PHONE}."})]), "office.json")
    build.write(build.doc([build.event({"content": "What is the time?"})]), "time.json")
    out = folder / "review"
    begun(sorted(given.iterdir()), out, under=policy(text))
    return out


def number(n: int) -> str:
    """Return an invented telephone number, another one for each `n` below 10,000."""
    return "(415) 555" + f"-{n:04}"


def long(folder: Path, findings: int) -> Path:
    """Make a review of one trajectory with that many findings, five to a message, some of them repeated."""
    given = folder / "given"
    given.mkdir()
    build = Build(given)
    numbers = [number(2000 + (n if n % 8 else 0)) for n in range(findings)]
    texts = [
        "\n".join(
            f"Line {at} of the list: call {one} after noon" for at, one in enumerate(numbers[n : n + 5])
        )
        for n in range(0, findings, 5)
    ]
    build.write(build.doc([build.event({"content": text}) for text in texts]), "list.json")
    out = folder / "review"
    begun([given / "list.json"], out)
    return out


def sitting(folder: Path, reviewer: str = REVIEWER) -> Sitting:
    """Sit down at a review."""
    return Sitting(open_review(folder), reviewer, lambda: AT)


def screen(who: Sitting, width: int = 80, height: int = 24) -> list[str]:
    """Return the rows of a screen, without their styles; underlined text is in the brackets it stands in."""
    return ["".join(span.text for span in row).rstrip() for row in draw(who, width, height)]


STEPS = {
    "finding": "",
    "approve": "a",
    "approved": "1",
    "same": "uR",
    "replaced": "R",
    "fixed": "n",
    "note": "pm" + "her office, ",
    "private": f"{PHONE}\r",
    "keys": "\x1b?",
    "page": "\x1b ",
    "paged": "   ",
    "reject": "tx",
    "rejected": "2",
    "done": "\x1br",
}
"""A sitting at the small review: the name of each screen, and what is typed before it."""

_NAMED = {" ": " ", "\r": "enter", "\x1b": "esc"}
_VARIES = ((re.compile(r"(?<=review )[0-9a-f]{8}"), "0a1b2c3d"), (re.compile(r"\d+ %(?=.* seen)"), "25 %"))
"""What differs: the name of a review, and whether it was written down yet what was on the screen."""


def walk(folder: Path, width: int, height: int) -> Iterator[tuple[str, list[str]]]:
    """Yield the screens of that sitting, each with its name."""
    who = sitting(folder)
    screen(who, width, height)
    for name, keys in STEPS.items():
        for key in keys:
            who.press(_NAMED.get(key, key))
            shown = screen(who, width, height)
        yield name, known(shown if keys else screen(who, width, height))


def known(lines: list[str]) -> list[str]:
    """Return a screen as it is for every review."""
    for pattern, shown in _VARIES:
        lines = [pattern.sub(shown, line) for line in lines]
    return lines
