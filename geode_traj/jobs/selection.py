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

# Beside the registered checks: what options ask for, which is told whatever is selected.
_ASKED: Final = ("GT001", "GT002")
_WORD: Final = re.compile(r"GT(\d{1,2}|\d{3,4})(?:XX)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Selection:
    """The words that were given, and the codes that they name."""

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
    known = {*all_checks(), *_ASKED}
    words = tuple(dict.fromkeys(word.strip().upper() for word in text.split(",") if word.strip()))
    codes = set(_ASKED)
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
