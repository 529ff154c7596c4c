r"""Canonical bytes in which escaping makes no gate hit (record contract §8).

JSON's own marks can turn clean text into a hit: a decorator after a line break is written `\n@pytest.fixture`
and reads as an address; a string that ends in `/home/` is followed by a quote, which reads as a user's name.
So each string is written such that it holds no hit which the string itself lacks: the character on which such
a hit hinges becomes `\u0040`, `\u002f`, `\u003d`, or the like. A hit that the string does hold, whatever else
matches around it, is left as it is: it is redacted or refused, never disguised. Escapes, JSON's own as well
as these, can also *hide* a hit from a look at the raw text (`\nghp_…` has no word boundary), so a gate looks
at decoded strings too.

How a string is written depends on that string alone. Only two classes have matches that run on past the
closing quote: for a home path the quote is enough, and what follows a query parameter is taken to be long
enough. So the guarantee holds in any frame: a comma and a line break, a bracket, another field.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from geode_traj.codec.canonical import dumps
from geode_traj.contract.gate_filter import WRITTEN_HIT, Look, may_be_written_hit
from geode_traj.contract.gates import BEARER_VALUE, BEARER_WORD, EMAIL_DOMAIN, QUERY_NAME, email_start
from geode_traj.contract.issues import ISSUE_SIGNS

_LOOK: Final = Look(WRITTEN_HIT, ISSUE_SIGNS)
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"')
_ESCAPE: Final = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|.)")
# Each matches at the character on which a hit hinges, or up to it, then looks ahead: overlapping hits count.
_HOME: Final = re.compile(r"/(?:(?<=/home/)|(?<=/Users/))(?!REDACTED(?:/|\Z))(?=[^/\s])")
_HEX_PAIR: Final = re.compile(r"\.(?<=[0-9a-f]{32}\.)(?=[A-Za-z0-9]{16})")
_BEARER: Final = re.compile(rf"{BEARER_WORD}(?={BEARER_VALUE})")
_JWT_RUN: Final = re.compile(r"eyJ[A-Za-z0-9_-]*+(?=(\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-])?)")
_QUERY: Final = re.compile(rf"{QUERY_NAME}(?=[^&\s]{{8}})", re.IGNORECASE)
_QUERY_WRITTEN: Final = re.compile(rf"{QUERY_NAME}(?=[^&\s]{{8}}|[^&\s]*\Z)", re.IGNORECASE)


def encode(value: object) -> bytes:
    """Return `value` as canonical JSON on one line, in which no gate hit is of the writing's own making.

    `json.loads` gives the equal value back. The bytes differ from those of `codec.canonical.dumps` only in
    strings and keys that need it. Linear in the size of the value.
    """
    return encode_seen(value)[0]


def encode_seen(value: object) -> tuple[bytes, bool]:
    """Return `encode(value)`, and whether a payload in it may have an issue (`issues.has_issue`).

    One pass over the bytes answers both questions.
    """
    raw = dumps(value)
    seen = _LOOK(raw)
    return _STRING.sub(_safe_string, raw) if 0 in seen else raw, 1 in seen


def _safe_string(found: re.Match[bytes]) -> bytes:
    return _escape(found[0].decode()).encode() if may_be_written_hit(found[0]) else found[0]


def _escape(written: str) -> str:
    """Return a JSON string, quotes included, with each hinge escaped that its decoded text does not have.

    An escape adds characters, which can make another hit beside it, so this is repeated until none is left.
    That takes a few rounds: no escape makes a hit that hinges on a further character of its own kind.
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

    The character tells the class: `@` email, `/` absolute_home, `=` url_query_secret, white space bearer, `.`
    and `J` known_secret (the dot of a hex pair, the third letter of a web token). All other matches begin
    with a letter that ends no escape and hold no backslash, so the decoded text has them too.
    """
    yield from (found.start() for found in _HOME.finditer(text))
    yield from (found.start() for found in _HEX_PAIR.finditer(text))
    yield from (found.end() for found in _BEARER.finditer(text))
    yield from (found.end() - 1 for found in query.finditer(text))
    for run in _JWT_RUN.finditer(text):
        at = run.start() if run[1] else -1
        while 0 <= at <= run.end() - len("eyJ") - 8:
            yield at + 2
            at = text.find("eyJ", at + 1, run.end())
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
        # A capital E is no lower-case hex digit, so it cannot make a longer run of those that may come next.
        yield r"\u002E" if written[at] == "." else f"\\u{ord(written[at]):04x}"
        done = at + 1
    yield written[done:]
