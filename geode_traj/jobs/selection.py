"""Which codes a verification is asked for: `GT401`, or families, `GT4` for GT401 to GT499."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from geode_traj.errors import WorldError
from geode_traj.model.finding import Finding
from geode_traj.verify.registry import all_checks

UNREADABLE: Final = "GT101"
# Beside the registered checks: what the caller asks for, and what the engine itself finds.
_OTHERS: Final = ("GT001", "GT002", UNREADABLE, "GT102", "GT103", "GT205")
_WORD: Final = re.compile(r"GT(\d{1,2}|\d{3,4})(?:XX)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Selection:
    """Codes and family numbers; what cannot be read (GT101) is always told."""

    words: tuple[str, ...]
    codes: frozenset[str]

    def part(self, findings: Iterable[Finding]) -> tuple[tuple[Finding, ...], dict[str, int]]:
        """Split findings into those selected and the counts of the others by code."""
        kept, left = [], Counter[str]()
        for found in findings:
            if found.code in self.codes:
                kept.append(found)
            else:
                left[found.code] += 1
        return tuple(kept), dict(sorted(left.items()))


def parse(text: str) -> Selection:
    """Read codes and families separated by commas; raise `WorldError` TE101 for what names no check."""
    known = {*all_checks(), *_OTHERS}
    words = tuple(dict.fromkeys(word.strip().upper() for word in text.split(",") if word.strip()))
    codes = {UNREADABLE}
    for word in words:
        digits = _WORD.fullmatch(word)
        family = digits is not None and len(digits[1]) <= 2
        found = {
            code for code in known if code == word or (family and digits and _family(code) == int(digits[1]))
        }
        if not found:
            raise WorldError("TE101", what="--select", why=f"{word} names no check; see `checks`")
        codes |= found
    if not words:
        raise WorldError("TE101", what="--select", why="give codes or families, as GT401,GT7")
    return Selection(words, frozenset(codes))


def _family(code: str) -> int:
    return int(code[2:]) // 100
