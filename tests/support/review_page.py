"""The screens of a sitting at a review: those on docs/review-tty.md, and those that tests hold the model to.

`python -m tests.support.review_page` writes both anew: the page from a real sitting in a pseudo-terminal,
`fixtures/review-tty` from the model at two sizes.
"""

import re
import shutil
import tempfile
from pathlib import Path

from tests.support.reviews import AT
from tests.support.sittings import REVIEWER, STEPS, known, small, walk
from tests.support.terminal import Session

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "review-tty.md"
GOLDEN = ROOT / "fixtures" / "review-tty"
SIZES = ((80, 24), (120, 40))
_SCREEN = re.compile(r"(?<=<!-- screen: )([a-z]+)( -->\n```text\n).*?(?=```)", re.DOTALL)


def written() -> str:
    """Return the page with the screens of a sitting now."""
    with tempfile.TemporaryDirectory() as folder:
        screens = sat(small(Path(folder)))
    return _SCREEN.sub(lambda found: f"{found[1]}{found[2]}{screens[found[1]]}", PAGE.read_text("utf-8"))


def sat(folder: Path) -> dict[str, str]:
    """Go through the steps at a terminal of 80 by 24, key by key, and return what was seen after each."""
    screens = {}
    expected = walk(Path(shutil.copytree(folder, folder.with_name("again"))), 80, 24)
    with Session(["review", "tty", str(folder), "--reviewer", REVIEWER, "--at", AT]) as session:
        for (name, lines), keys in zip(expected, STEPS.values(), strict=True):
            for key in keys:
                session.type(key)
                session.settle()
            seen = known(session.wait(lambda shown, lines=lines: known(shown) == lines))
            screens[name] = "".join(f"{line}\n" for line in seen)
    return screens


def golden(width: int, height: int) -> str:
    """Return the screens of the model, one below the other, each under its name."""
    with tempfile.TemporaryDirectory() as folder:
        screens = [
            "\n".join([f"=== {name}", *lines, ""]) for name, lines in walk(small(Path(folder)), width, height)
        ]
    return "\n".join(screens)


if __name__ == "__main__":
    PAGE.write_text(written(), "utf-8")
    GOLDEN.mkdir(exist_ok=True)
    for size in SIZES:
        (GOLDEN / "{}x{}.txt".format(*size)).write_text(golden(*size), "utf-8")
