"""Findings against plants: what is found, found whole, and found where nothing is."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from tests.bench.secrets.corpus import Corpus, Part, Plant

_GRAM: Final = 8
MB: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Found:
    """What a tool says: a line (from 1), and the place in a text of it, or only what it takes for the secret.

    `rule`, `band` and `cls` (empty where it has no classes) are the tool's own words.
    """

    line: int
    rule: str
    value: str = ""
    pointer: str | None = None
    span: tuple[int, int] | None = None
    in_key: bool = False
    band: str = ""
    cls: str = ""


@dataclass(slots=True)
class Score:
    """How many plants of each kind and form were met and covered, and the findings that meet none."""

    size: int
    planted: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    met: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    whole: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    false: list[Found] = field(default_factory=list)

    def share(self, group: str | None = None, *, encoded: bool = False, whole: bool = False) -> float:
        """Return the percentage found of the plants in clear (of one group), or of the encoded ones."""
        chosen = [key for key in self.planted if bool(key[2]) == encoded and group in (None, key[1])]
        got = self.whole if whole else self.met
        total = sum(self.planted[key] for key in chosen)
        return 100 * sum(got[key] for key in chosen) / total if total else 0.0

    def credentials(self) -> float:
        """Return the percentage found of the plants in clear that are no personal data."""
        chosen = [key for key in self.planted if not key[2] and key[1] != "personal"]
        return 100 * sum(self.met[key] for key in chosen) / max(1, sum(self.planted[key] for key in chosen))

    def by(self, what: Literal["kind", "form"], group: str | None = None) -> dict[str, tuple[int, int, int]]:
        """Return how many were planted, met and covered, by kind (in clear, of one group) or by form."""
        found: dict[str, tuple[int, int, int]] = {}
        for key, count in self.planted.items():
            kind, of, form = key
            name = form if what == "form" else kind
            if bool(form) == (what == "form") and group in (None, of):
                one = found.get(name, (0, 0, 0))
                found[name] = (one[0] + count, one[1] + self.met[key], one[2] + self.whole[key])
        return found

    @property
    def false_rate(self) -> float:
        """Findings that meet no plant, for each 10 MB."""
        return len(self.false) * 10 * MB / self.size


def score(corpus: Corpus, findings: Iterable[Found]) -> Score:
    """Hold the findings in a corpus against its plants."""
    result = Score(len(corpus.data))
    places: dict[int, list[tuple[int, Plant, Part]]] = defaultdict(list)
    for number, plant in enumerate(corpus.plants):
        result.planted[_key(plant)] += 1
        for part in plant.parts:
            places[part.line].append((number, plant, part))
    covered: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    seen = set()
    for one in findings:
        if one in seen:
            continue
        seen.add(one)
        met = False
        for number, plant, part in places[one.line]:
            for span in _overlaps(one, plant, part):
                met = True
                covered[number, part.line].append(span)
            met = met or any(one.value and (one.value in text or text in one.value) for text in plant.beside)
        if not met:
            result.false.append(one)
    for number, plant in enumerate(corpus.plants):
        ways = [_covers(covered.get((number, part.line), []), part) for part in plant.parts]
        result.met[_key(plant)] += any(covered.get((number, part.line)) for part in plant.parts)
        result.whole[_key(plant)] += all(ways)
    return result


def _key(plant: Plant) -> tuple[str, str, str]:
    return plant.kind, plant.group, plant.form


def _overlaps(one: Found, plant: Plant, part: Part) -> Iterator[tuple[int, int]]:
    """Yield the characters of a part's text that a finding meets."""
    if one.pointer is not None:
        if part.in_key != one.in_key or not (one.in_key or one.pointer == part.pointer):
            return
        start, end = one.span or (part.start, part.end)
        if start < part.end and part.start < end:
            yield start, end
        return
    value = one.value
    told = (
        part.text,
        json.dumps(part.text)[1:-1],
        json.dumps(part.text, ensure_ascii=False)[1:-1],
        plant.secret,
    )
    if not value:
        return
    if any(text in value for text in told):
        yield part.start, part.end
    elif any(value in text for text in told) or _shares(value, told):
        at = part.text.find(value)
        yield (part.start + at, part.start + at + len(value)) if at >= 0 else (part.start, part.start + 1)


def _shares(value: str, told: tuple[str, ...]) -> bool:
    """Tell whether a value that goes beyond a secret on one side has a piece of it."""
    grams = (value[place : place + _GRAM] for place in range(0, max(1, len(value) - _GRAM + 1)))
    return any(len(gram) == _GRAM and any(gram in text for text in told) for gram in grams)


def _covers(spans: list[tuple[int, int]], part: Part) -> bool:
    place = part.start
    for start, end in sorted(spans):
        if start > place:
            return False
        place = max(place, end)
    return place >= part.end
