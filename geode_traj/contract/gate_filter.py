"""A first look at bytes: could the gate classes have a hit in them, could writing them as JSON have made one?

Both filters are one pass of a finite automaton over UTF-8 (about 2 µs a kilobyte). They may say yes too often
and never say no wrongly: word boundaries are left out, and every byte of a non-ASCII character counts as
whatever would match, since these depend on Unicode.
"""

from __future__ import annotations

from functools import reduce
from typing import Final

import re2

_WIDE: Final = r"\x80-\xff"  # a byte of a character beyond ASCII
_SPACE: Final = r"\x09-\x0d\x1c-\x20"  # the white space within ASCII
_FOLDED: Final = {
    "i": r"(?:[iI]|\xc4[\xb0\xb1])",  # U+0130 and U+0131 match i in any case
    "k": r"(?:[kK]|\xe2\x84\xaa)",  # U+212A
    "s": r"(?:[sS]|\xc5\xbf)",  # U+017F
}


def _any_case(word: str) -> str:
    return "".join(_FOLDED.get(letter, f"[{letter}{letter.upper()}]") for letter in word)


def _unlike(word: str) -> str:
    """Return a pattern for the first bytes of a text that does not begin with `word`; it may match more."""
    return reduce(
        lambda rest, letter: rf"[^{letter}]|\z|{letter}(?:{rest})", reversed(word[:-1]), f"[^{word[-1]}]|\\z"
    )


def _compile(*patterns: str) -> re2._Regexp:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # bytes, not characters
    options.never_capture = True
    return re2.compile("|".join(patterns).encode(), options)


_QUERY_NAME: Final = "[?&](?:{}[_-]?{}|(?:{}[_-]?)?{}|{})=".format(
    *map(_any_case, ("api", "key", "access", "token", "secret"))
)
_DOMAIN: Final = rf"@[A-Za-z0-9.{_WIDE}-]+\.[A-Za-z{_WIDE}][A-Za-z{_WIDE}]"

_HIT: Final = _compile(
    rf"/(?:home|Users)/(?:[^/R{_SPACE}]|R(?:{_unlike('EDACTED/')}))",
    r":\\Users\\",
    rf"[A-Za-z0-9._%+{_WIDE}-]{_DOMAIN}",
    r"gh[opsu]_[A-Za-z0-9_]{20}",
    r"sk-[A-Za-z0-9_-]{20}",
    rf"(?i:bearer)[{_SPACE}{_WIDE}]+[A-Za-z0-9._~+/={_WIDE}-]{{12}}",
    r"AKIA[0-9A-Z]{16}",
    rf"{_QUERY_NAME}[^&{_SPACE}]{{8}}",
    r"[0-9a-f]{32}\.[A-Za-z0-9]{16}",
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8}",
    r"xox[bp]-[A-Za-z0-9-]|xapp-[A-Za-z0-9-]",
)
# What only escaping or quoting makes is a hit that holds an escape or the closing quote.
_WRITTEN_HIT: Final = _compile(
    r'/(?:home|Users)/(?:["\\]|REDACTED")',
    rf"\\[bfnrtu][A-Za-z0-9._%+{_WIDE}-]*{_DOMAIN}",
    rf"\\b(?i:earer)[ {_WIDE}]",
    _QUERY_NAME,
    r"\\[bfu][0-9a-f]{28,35}\.[A-Za-z0-9]{16}",
    r"\\u00[01]eyJ",
)


def may_hit(text: str | bytes) -> bool:
    """Return False only where `text` (UTF-8 where bytes) surely has no hit of any gate class."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return _HIT.search(data) is not None


def may_be_written_hit(encoded: bytes) -> bool:
    """Return False only where no string of this canonical JSON has a hit that its decoded text lacks."""
    return _WRITTEN_HIT.search(encoded) is not None
