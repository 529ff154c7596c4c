"""The eight gate classes of a published release, over raw text (record contract §8).

Each class means what a Python `re` pattern over `str` means: Unicode word boundaries and white space, and, in
any case, U+0130, U+0131, U+017F and U+212A for letters. Patterns that are linear are used as they are. Those
of an address and of a web token are not: addresses are found from the `@` outwards, web tokens one run at a
time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from geode_traj.contract.gate_filter import may_hit
from geode_traj.errors import DataError

__all__ = ["GATE_CLASSES", "GateCounter", "GateHit", "count_hits", "find_hits", "may_hit"]

GATE_CLASSES: Final = (
    "absolute_home",
    "email",
    "github_token",
    "openai_key",
    "bearer",
    "aws_access_key",
    "url_query_secret",
    "known_secret",
)

QUERY_NAME: Final = r"[?&](?:api[_-]?key|access[_-]?token|token|secret)="
# `re` finds a pattern quickest by its leading literal, so `\bsk-` is said as `sk-(?<!\wsk-)`, and so on.
BEARER_WORD: Final = r"[Bb](?<!\w[Bb])(?i:earer)"
BEARER_VALUE: Final = r"(?i:\s+[A-Z0-9._~+/=-]{12,})\b"
EMAIL_DOMAIN: Final = re.compile(r"@[A-Z0-9.-]+\.[A-Z]{2,}\b", re.IGNORECASE)

_HOME_MARKS: Final = ("/Users/", "/home/", ":\\Users\\")
_HOME: Final = re.compile(
    r"(/Users/|/home/)(?!REDACTED(?:/|\Z))[^/\s]+|[A-Za-z]:\\Users\\(?!REDACTED(?:\\|\Z))[^\\\s]+"
)
_LOCAL_RUN: Final = re.compile(r"[A-Z0-9._%+-]*", re.IGNORECASE)
_BOUNDARY: Final = re.compile(r"\b")
_QUERY: Final = re.compile(rf"({QUERY_NAME})[^&\s]{{8,}}", re.IGNORECASE)
_PLAIN: Final = {
    "github_token": re.compile(r"gh(?<!\wgh)[opsu]_[A-Za-z0-9_]{20,}\b"),
    "openai_key": re.compile(r"sk-(?<!\wsk-)[A-Za-z0-9_-]{20,}\b"),
    "bearer": re.compile(BEARER_WORD + BEARER_VALUE),
    "aws_access_key": re.compile(r"AKIA(?<!\wAKIA)[0-9A-Z]{16}\b"),
}
_KNOWN_PLAIN: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"sk-ant-[A-Za-z0-9_-]{20,}",
        r"sk-proj-[A-Za-z0-9_-]{20,}",
        r"sk-[A-Za-z0-9]{20,}",
        r"ghp_[A-Za-z0-9]{36,}",
        r"gho_[A-Za-z0-9]{36,}",
        r"xoxb-[A-Za-z0-9-]+",
        r"xoxp-[A-Za-z0-9-]+",
        r"xapp-[A-Za-z0-9-]+",
    )
)
_HEX_TAIL: Final = re.compile(r"\.(?<=[0-9a-f]{32}\.)[A-Za-z0-9]{16,}")
# All starts in one run share what follows the run: when the first fails they all do, so the run is skipped.
_JWT: Final = re.compile(r"eyJ(?:([A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]++)|[A-Za-z0-9_-]*+)")
_BEARER_AT_END: Final = re.compile(BEARER_WORD + r"\Z")
# A line that ends so, as those of a trajectory file do, leaves no "Bearer" waiting for its value.
_CLOSED_ENDS: Final = frozenset({b"}\n", b",\n", b"[\n", b"]\n", b'"\n'})

_Span = tuple[int, int, int | None]


@dataclass(frozen=True, slots=True)
class GateHit:
    """One match: its class, its span in characters, and its pivot.

    `pivot` is the index of the `@` of an address, of the `/` that ends `/home/` or `/Users/`, of the `=` of a
    query parameter; `None` for everything else.
    """

    cls: str
    start: int
    end: int
    pivot: int | None


def find_hits(text: str) -> list[GateHit]:
    """Return every hit in `text`, sorted by start, in time linear in its length.

    Hits of one class do not overlap, except that each form of a known secret is looked for by itself; hits of
    different classes may overlap.
    """
    hits = [GateHit(cls, *span) for cls, spans in _FINDERS.items() for span in spans(text)]
    hits.sort(key=attrgetter("start", "end"))
    return hits


def count_hits(text: str) -> dict[str, int]:
    """Return the number of hits of each of the eight classes; `known_secret` is 1 where there is any."""
    counts = dict.fromkeys(GATE_CLASSES, 0)
    _add(counts, find_hits(text))
    return counts


def email_start(text: str, at: int, floor: int) -> int | None:
    """Return where the address begins whose `@` is at `at`; `None` where nothing before it can be its name.

    That is the first word boundary in the run of name characters before the `@`, at `floor` or later. To keep
    this linear over a text, `floor` lies behind the `@` before.
    """
    run = _LOCAL_RUN.match(text[floor:at][::-1])
    boundary = _BOUNDARY.search(text, at - (run.end() if run else 0), at)
    return boundary.start() if boundary and boundary.start() < at else None


def _emails(text: str) -> Iterator[_Span]:
    done = 0
    for domain in EMAIL_DOMAIN.finditer(text):
        at = domain.start()
        start = email_start(text, at, max(done, text.rfind("@", done, at) + 1))
        if start is not None:
            done = domain.end()
            yield start, done, at


def _homes(text: str) -> Iterator[_Span]:
    if any(mark in text for mark in _HOME_MARKS):
        for found in _HOME.finditer(text):
            yield *found.span(), found.end(1) - 1 if found[1] else None


def _query_secrets(text: str) -> Iterator[_Span]:
    for found in _QUERY.finditer(text):
        yield *found.span(), found.end(1) - 1


def _plain(pattern: re.Pattern[str]) -> Callable[[str], Iterator[_Span]]:
    return lambda text: ((*found.span(), None) for found in pattern.finditer(text))


def _known_secrets(text: str) -> Iterator[_Span]:
    spans = {found.span() for pattern in _KNOWN_PLAIN for found in pattern.finditer(text)}
    spans.update(found.span() for found in _JWT.finditer(text) if found[1])
    done = 0
    for found in _HEX_TAIL.finditer(text):
        if found.start() - 32 >= done:
            done = found.end()
            spans.add((found.start() - 32, done))
    return ((*span, None) for span in spans)


_FINDERS: Final[dict[str, Callable[[str], Iterator[_Span]]]] = {
    "absolute_home": _homes,
    "email": _emails,
    **{cls: _plain(pattern) for cls, pattern in _PLAIN.items()},
    "url_query_secret": _query_secrets,
    "known_secret": _known_secrets,
}


def _add(counts: dict[str, int], hits: list[GateHit]) -> None:
    for hit in hits:
        counts[hit.cls] = 1 if hit.cls == "known_secret" else counts[hit.cls] + 1


class GateCounter:
    """`count_hits` of a text that arrives in pieces; quickest when each piece is a line.

    No match holds a line break, but for the white space after `Bearer`, and of all ends only the text's own
    exempts a home path. So whole lines are counted as they come and an unfinished one waits for its end; what
    is carried from line to line is whether the last one left a `Bearer` and white space. Memory is one line.
    """

    def __init__(self) -> None:
        self._counts = dict.fromkeys(GATE_CLASSES, 0)
        self._unfinished: list[bytes] = []
        self._bearer_waits = False

    def feed(self, piece: str | bytes) -> None:
        """Take the next piece of the text; bytes are UTF-8, cut anywhere.

        Raises `DataError` TE209 for bytes that are not UTF-8, as far as they had to be looked at.
        """
        data = piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else piece
        cut = data.rfind(b"\n") + 1
        if cut:
            self._unfinished.append(data[:cut])
            lines = b"".join(self._unfinished)
            self._unfinished.clear()
            self._bearer_waits = self._count(lines, self._counts)
        if cut < len(data):
            self._unfinished.append(data[cut:])

    def result(self) -> dict[str, int]:
        """Return the counts of all eight classes over what was fed so far, taken as the whole text."""
        counts = dict(self._counts)
        self._count(b"".join(self._unfinished), counts)
        return counts

    def _count(self, data: bytes, counts: dict[str, int]) -> bool:
        """Add what `data` holds to `counts`; return whether a `Bearer` waits for its value at the end."""
        closed = data[-2:] in _CLOSED_ENDS
        if closed and not self._bearer_waits and not may_hit(data):
            return False
        try:
            text = data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise DataError("TE209") from error
        if self._bearer_waits:
            text = f"Bearer {text}"
        hits = find_hits(text)
        _add(counts, hits)
        if closed:
            return False
        words = text.rstrip()
        start = max(len(words) - len("Bearer"), *(hit.end for hit in hits if hit.cls == "bearer"), 0)
        return words != text and _BEARER_AT_END.match(words, start) is not None
