"""One look at an event's bytes for signs of what some check has to look into.

Reading on costs more than looking, so a check of payloads names the sign without which it has nothing to
find; for almost every event there is none. A sign may be there without reason, it is never missing.
"""

from __future__ import annotations

from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.contract.bounds import MAX_TEXT
from geode_traj.contract.gate_filter import Look
from geode_traj.contract.issues import ISSUE_SIGNS

ISSUE: Final = 1
"""A marker of record contract §4 may be there."""
CUT: Final = 2
"""A text may hold the mark that some tool leaves where it cuts."""
TAIL: Final = 4
"""A text ends in half a character."""
BASE64: Final = 8
BIG: Final = 16
"""An integer may need more than 64 bits."""
NUL: Final = 32
EXPONENT: Final = 64
"""A number is written with an exponent, or would be."""
BOUND: Final = 128
"""A text may be exactly as long as some writer allows."""
ALL: Final = 255

LENGTHS: Final = frozenset(
    {10_000, 16_000, 16_384, 20_000, 24_000, 30_000, 32_768, 50_000, 65_536, MAX_TEXT, 262_144}
)
"""Characters at which agents and their recorders cut."""

_NUMBER: Final = rb"[:,\[][ \t]*-?[0-9]"
_SIGNS: Final = Look(  # of the lowest bits, in their order
    ISSUE_SIGNS,
    rb"(?i:truncated|clipped|elided|omitted)[^\"]{0,120}\"|<response clipped>"
    rb"|(?:lines|characters|chars|bytes|tokens) (?:truncated|omitted|elided)",
    rb"(?:\xef\xbf\xbd|\\\\u[dD][89abAB][0-9a-fA-F][0-9a-fA-F])\"",
    rb"base64",
    _NUMBER + rb"{19}",
    rb"\\u0000",
    _NUMBER + rb"[0-9.]*[eE]|" + _NUMBER + rb"{17}|" + _NUMBER + rb"[0.]{5}",
)
_SHORTEST: Final = min(LENGTHS)


def look(value: Any, data: bytes | None) -> tuple[int, bytes | None]:
    """Return the signs of an event, and its canonical bytes where they had to be made.

    `data` is its text where there is one. Text with escapes may hide what it says, so it is written again
    without them.
    """
    encoded = None
    if data is None or b"\\u" in data:
        try:
            data = encoded = dumps(value)
        except (ValueError, TypeError, RecursionError):  # values that no JSON gave
            return ALL, None
    signs = 0
    for index in _SIGNS(data):
        signs |= 1 << index
    if len(data) > _SHORTEST:
        signs |= BOUND
    return signs, encoded
