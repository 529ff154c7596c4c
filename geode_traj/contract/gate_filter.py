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


_MEMORY: Final = 24 << 20
"""Bytes that the automaton of one look may grow to; where it needs more, it is thrown away and built anew."""


class Look:
    """A question or several to some bytes, answered in one pass: which of the patterns do they hold?"""

    def __init__(self, *patterns: bytes) -> None:
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1  # bytes, not characters
        options.never_capture = True
        options.log_errors = False
        options.max_mem = _MEMORY
        automaton = re2.Set.SearchSet(options)
        for pattern in patterns:
            automaton.Add(pattern)
        automaton.Compile()
        self._match: Final = automaton.Match

    def __call__(self, data: bytes) -> list[int] | tuple[()]:
        """Return the indices of the patterns found."""
        return self._match(data) or ()


def _any_of(*patterns: str) -> bytes:
    return "|".join(patterns).encode()


_QUERY_NAME: Final = "[?&](?:{}[_-]?{}|(?:{}[_-]?)?{}|{})=".format(
    *map(_any_case, ("api", "key", "access", "token", "secret"))
)
_DOMAIN: Final = rf"@[A-Za-z0-9.{_WIDE}-]+\.[A-Za-z{_WIDE}][A-Za-z{_WIDE}]"

_HIT: Final = Look(
    _any_of(
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
)
# What only escaping or quoting makes is a hit that holds an escape or the closing quote.
WRITTEN_HIT: Final = _any_of(
    r'/(?:home|Users)/(?:["\\]|REDACTED")',
    rf"\\[bfnrtu][A-Za-z0-9._%+{_WIDE}-]*{_DOMAIN}",
    rf"\\b(?i:earer)[ {_WIDE}]",
    _QUERY_NAME,
    r"\\[bfu][0-9a-f]{28,35}\.[A-Za-z0-9]{16}",
    r"\\u00[01]eyJ",
)
_WRITTEN: Final = Look(WRITTEN_HIT)


def may_hit(text: str | bytes) -> bool:
    """Return False only where `text` (UTF-8 where bytes) surely has no hit of any gate class."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return bool(_HIT(data))


def may_be_written_hit(encoded: bytes) -> bool:
    """Return False only where no string of this canonical JSON has a hit that its decoded text lacks."""
    return bool(_WRITTEN(encoded))
