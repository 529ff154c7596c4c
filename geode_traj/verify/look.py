"""One walk over an event: its texts in one piece, and signs of what some check has to look into.

Looking costs more than reading, so a check of payloads names the sign without which it has nothing to find;
for almost every event there is none. A sign may be there without reason, it is never missing.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from geode_traj.codec.canonical import is_plain
from geode_traj.contract.bounds import MAX_ITEMS, MAX_TEXT
from geode_traj.contract.gate_filter import Look
from geode_traj.contract.issues import ISSUE_SIGNS

ISSUE: Final = 1
"""A marker of record contract §4 may be there."""
CUT: Final = 2
"""A text may hold the mark that some tool leaves where it cuts."""
TAIL: Final = 4
"""A text ends in half a character."""
BASE64: Final = 8
BOUND: Final = 16
"""A text or a list is exactly as long as some writer allows."""
BIG: Final = 32
"""An integer needs more than 64 bits."""
NUL: Final = 64

LENGTHS: Final = frozenset(
    {10_000, 16_000, 16_384, 20_000, 24_000, 30_000, 32_768, 50_000, 65_536, MAX_TEXT, 262_144}
)
"""Characters at which agents and their recorders cut."""

_END: Final = rb"(?:\x00|\z)"
_SIGNS: Final = Look(
    ISSUE_SIGNS,
    rb"(?i:truncated|clipped|elided|omitted)[^\x00]{0,120}"
    + _END
    + rb"|(?:lines|characters|chars|bytes|tokens) (?:truncated|omitted|elided)|<response clipped>",
    rb"(?:\xef\xbf\xbd|\\u[dD][89abAB][0-9a-fA-F][0-9a-fA-F])" + _END,
    rb"base64",
)
_SHORTEST: Final = min(LENGTHS)
_LOWEST, _HIGHEST = -(1 << 63), (1 << 64) - 1


class Seen(NamedTuple):
    """What the walk saw: all texts and keys joined by NUL, the signs, whether all floats are plain.

    What plain means, `codec.canonical.is_plain` tells.
    """

    texts: list[str]
    joined: bytes
    signs: int
    plain: bool


def look(value: Any) -> Seen:
    """Walk a JSON value once, in any depth."""
    texts: list[str] = []
    stack: list[Any] = [value]
    signs = 0
    plain = True
    while stack:
        item = stack.pop()
        kind = type(item)  # exact types only, several times as fast as isinstance; this runs per event
        if kind is str:
            texts.append(item)
        elif kind is dict:
            texts.extend(item)
            stack.extend(item.values())
        elif kind is list:
            stack.extend(item)
            if len(item) == MAX_ITEMS:
                signs |= BOUND
        elif kind is int:
            if not _LOWEST <= item <= _HIGHEST:
                signs |= BIG
        elif kind is float and plain:
            plain = is_plain(item)
    joined = "\0".join(texts).encode("utf-8", "surrogatepass")
    for index in _SIGNS(joined):
        signs |= 1 << index
    if len(joined) >= _SHORTEST and not LENGTHS.isdisjoint(map(len, texts)):
        signs |= BOUND
    if joined.count(b"\0") >= max(1, len(texts)):
        signs |= NUL
    return Seen(texts, joined, signs, plain)
