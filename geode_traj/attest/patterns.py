"""Pattern lists as OpenSSH matches them (ssh_config(5), PATTERNS): `*`, `?`, commas, and `!` to exclude."""

from __future__ import annotations

from collections.abc import Iterable


def matches(text: str, pattern: str) -> bool:
    """Tell whether `pattern` fits all of `text`: `*` is any run, `?` one character; no other wildcard.

    Only the last `*` is ever tried again, so the work is at most the product of the two lengths.
    """
    at = here = 0
    star, resume = -1, 0
    while at < len(text):
        if here < len(pattern) and pattern[here] == "*":
            star, resume = here, at
            here += 1
        elif here < len(pattern) and pattern[here] in ("?", text[at]):
            at, here = at + 1, here + 1
        elif star >= 0:
            resume += 1
            at, here = resume, star + 1
        else:
            return False
    return not pattern[here:].strip("*")


def listed(text: str, patterns: Iterable[str]) -> bool:
    """Tell whether a pattern fits `text` and no `!` pattern does."""
    found = False
    for pattern in patterns:
        if pattern.startswith("!"):
            if matches(text, pattern[1:]):
                return False
        else:
            found = found or matches(text, pattern)
    return found
