"""One message, written up to three times: as a model item, as an event, and as a completed item.

Versions differ in which they write, and in the order. The first that a file brings is the message; another
encoding of the same text, with nothing else said or done between the two, only repeats it. So what a line
means never depends on a later one, and a file that grows is read alike.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import Final

_MOST: Final = 1024


@dataclass(frozen=True, slots=True)
class Said:
    """Who speaks (user, assistant, or reasoning), what, and in which encoding (item, event, completed)."""

    speaker: str
    texts: tuple[str, ...]
    encoding: str


class Repeats:
    """Remembers what was said last."""

    def __init__(self) -> None:
        self._speaker = ""
        self._met: dict[bytes, Counter[str]] = {}

    def interrupt(self) -> None:
        """Something else happened: what was said before it is not repeated after it."""
        self._speaker = ""
        self._met.clear()

    def repeats(self, said: Said) -> bool:
        """Tell whether this only says again, in another encoding, what was said last; remember it."""
        if said.speaker != self._speaker or len(self._met) > _MOST:
            self.interrupt()
            self._speaker = said.speaker
        counts = [self._met.setdefault(_digest(text), Counter()) for text in said.texts]
        again = bool(counts) and all(met[said.encoding] < max(met.values(), default=0) for met in counts)
        for met in counts:
            met[said.encoding] += 1
        return again


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:16]
