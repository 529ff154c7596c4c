r"""Canonical bytes in which escaping makes no gate hit (record contract §8).

JSON's own marks can turn clean text into a hit: a decorator after a line break is written `\n@pytest.fixture`, which
reads as an address; a string that ends in `/home/` is followed by a quote, which reads as a user's name. The encoded form
of each string is therefore chosen so that it holds no hit which the string itself lacks: the character on which such
a hit hinges is written as `\uXXXX`. Hits that the string does hold stay as they are; they are redacted or refused,
never disguised. Escapes, JSON's own as well as these, can also *hide* a hit (`\nghp_…` has no word boundary), so a gate looks
at decoded strings too.

The form of a string depends on that string alone. Only two classes have matches that run on past the closing quote: a home
path, for which the quote is enough, and a query parameter, for which whatever may follow is taken to be long enough.
So the guarantee holds for any frame around an encoded value: a comma and a line break, a bracket, another field.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from geode_traj.codec.canonical import dumps
from geode_traj.contract.gate_filter import may_be_written_hit
from geode_traj.contract.gates import BEARER_VALUE, BEARER_WORD, EMAIL_DOMAIN, QUERY_NAME, email_start

_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"')
_ESCAPE: Final = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|.)")
# Each matches at the character on which a hit hinges, or up to it, and looks ahead: overlapping hits are all seen.
_HOME: Final = re.compile(r"/(?:(?<=/home/)|(?<=/Users/))(?!REDACTED(?:/|\Z))(?=[^/\s])")
_HEX_PAIR: Final = re.compile(r"\.(?<=[0-9a-f]{32}\.)(?=[A-Za-z0-9]{16})")
_BEARER: Final = re.compile(rf"{BEARER_WORD}(?={BEARER_VALUE})")
_QUERY: Final = re.compile(rf"{QUERY_NAME}(?=[^&\s]{{8}})", re.IGNORECASE)
_QUERY_WRITTEN: Final = re.compile(rf"{QUERY_NAME}(?=[^&\s]{{8}}|[^&\s]*\Z)", re.IGNORECASE)


def encode(value: object) -> bytes:
    """Return `value` as canonical JSON on one line, in which no gate hit is of the writing's own making.

    `json.loads` gives the equal value back. Differs from `codec.canonical.dumps` only in strings and keys that need
    it. Linear in the size of the value.
    """
    raw = dumps(value)
    return _STRING.sub(_safe_string, raw) if may_be_written_hit(raw) else raw


def _safe_string(found: re.Match[bytes]) -> bytes:
    return _escape(found[0].decode()).encode() if may_be_written_hit(found[0]) else found[0]


def _escape(written: str) -> str:
    """Return a JSON string, quotes included, with each hinge escaped that its decoded text does not have.

    Escapes add characters of their own, so this is repeated; a few times at most, as no escape written here can
    bring about another of its kind to its right.
    """
    own = set(_hinges(json.loads(written), _QUERY))
    while True:
        places = list(_hinges(written, _QUERY_WRITTEN))
        made = [at for at, index in zip(places, _decoded(written, places), strict=True) if index not in own]
        if not made:
            return written
        written = "".join(_rewritten(written, sorted(made)))


def _hinges(text: str, query: re.Pattern[str]) -> Iterator[int]:
    """Yield the index of each character on which a hit hinges, whatever else matches around it.

    The character tells the class: `@` address, `/` home path, `=` query parameter, `.` known secret (32 hex digits
    and a tail), white space bearer. In the other classes, and the other known secrets, a match holds no character
    that an escape could stand for or be made of.
    """
    yield from (found.start() for found in _HOME.finditer(text))
    yield from (found.start() for found in _HEX_PAIR.finditer(text))
    yield from (found.end() for found in _BEARER.finditer(text))
    yield from (found.end() - 1 for found in query.finditer(text))
    for domain in EMAIL_DOMAIN.finditer(text):
        at = domain.start()
        if email_start(text, at, text.rfind("@", 0, at) + 1) is not None:
            yield at


def _decoded(written: str, places: list[int]) -> Iterator[int]:
    """Yield, for places in a JSON string outside its escapes, the index each has in the decoded text."""
    escapes = [found.span() for found in _ESCAPE.finditer(written)]
    starts = [start for start, _ in escapes]
    surplus = list(accumulate((end - start - 1 for start, end in escapes), initial=1))
    return (at - surplus[bisect(starts, at)] for at in places)


def _rewritten(written: str, places: list[int]) -> Iterator[str]:
    done = 0
    for at in places:
        yield written[done:at]
        # A capital E is no digit of the lower-case hex run that may come next, so it makes no new hit with it.
        yield r"\u002E" if written[at] == "." else f"\\u{ord(written[at]):04x}"
        done = at + 1
    yield written[done:]
