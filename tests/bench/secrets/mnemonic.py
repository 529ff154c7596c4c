"""Recovery phrases with a valid checksum, from the first words of the English list of BIP 39 alone."""

from __future__ import annotations

import hashlib
import random
from typing import Final

_FIRST: Final = """abandon ability able about above absent absorb abstract absurd abuse access accident
    account
    accuse achieve acid acoustic acquire across act action actor actress actual adapt add addict
    address adjust admit adult advance advice aerobic affair afford afraid again age agent agree
    ahead aim air airport aisle alarm album alcohol alert alien all alley allow almost alone alpha
    already also alter always amateur amazing among amount amused analyst anchor ancient anger
    angle angry animal ankle announce annual another answer antenna antique anxiety any apart
    apology appear apple approve april arch arctic area arena argue arm armed armor army around
    arrange arrest arrive arrow art artefact artist artwork ask aspect assault asset assist assume
    asthma athlete atom attack attend attitude attract auction audit august aunt author auto autumn
    average avocado avoid awake aware away awesome awful awkward axis""".split()
_WORD_BITS: Final = 11
_FREE_BITS: Final = 7  # of the twelfth word; the other four are the checksum


def phrase(rng: random.Random) -> str:
    """Return twelve words; their 128 bits are not evenly drawn, which no scanner can tell."""
    words = [rng.randrange(len(_FIRST)) for _ in range(11)]
    last = rng.randrange(len(_FIRST) >> 4)
    entropy = 0
    for word in words:
        entropy = entropy << _WORD_BITS | word
    entropy = entropy << _FREE_BITS | last
    checksum = hashlib.sha256(entropy.to_bytes(16, "big")).digest()[0] >> 4
    return " ".join(_FIRST[number] for number in (*words, last << 4 | checksum))
