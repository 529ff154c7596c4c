"""Runs rules over one text and settles what they found into spans that do not overlap."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from geode_traj.scan.rules import Band, Rule

HOME: Final = "absolute_home"
"""The one class whose spans are names inside a path: they are replaced by a name, not by a placeholder."""

HOME_NAME: Final = "REDACTED"
"""What stands for a name in a home path: the gate admits nothing else there (record contract §8)."""

_BANDS: Final[tuple[Band, ...]] = ("high", "review", "note")
_CONTINUATION: Final = 0xC0
_LEFTOVER: Final = 4
_SPACE: Final = frozenset(" \t\v\f")
_CROWD: Final = 768
_REMEMBERED: Final = 256
_STRETCH: Final = 1 << 16
"""So many findings of one rule within so many bytes are no text any more: what follows them there is one
finding, unexamined, or a hostile line would take its time."""


class Span(NamedTuple):
    """A finding in one text: characters `start`..`end`, the rule, its class and band, the view it showed in.

    `value` is the secret as decoded, for numbering only; no repr shows it. `blob`: the span is an encoded
    run of which the secret is a part. `quote`: the span is a JSON value that is no string, in text where
    quotes are written so. `vague`: of findings of the same characters the least vague one names them; one
    below 0 (a known value) also names what is longer. A named tuple, not a dataclass: a hostile line holds
    thousands.
    """

    start: int
    end: int
    rule: str
    cls: str
    band: Band
    value: str
    view: str | None = None
    vague: int = 0
    blob: bool = False
    quote: str = ""

    def __repr__(self) -> str:
        return f"Span({self.start}, {self.end}, {self.rule!r}, {self.band!r}, view={self.view!r})"


def run(rules: Iterable[Rule], text: str, data: bytes) -> list[Span]:
    """Return what `rules` find in `text`, whose UTF-8 (surrogates passed) is `data`; spans may overlap."""
    wide = len(data) != len(text)
    cut = _cut_wide(data) if wide else text.__getitem__
    found = [(start, end, rule) for rule in rules for start, end in _run(rule, data, cut, wide=wide)]
    if wide:
        chars = characters(data, {offset for start, end, _ in found for offset in (start, end)})
        found = [(chars[start], chars[end], rule) for start, end, rule in found]
    return [
        Span(start, end, rule.id, rule.cls, _band(rule, text[start:end]), text[start:end], vague=rule.vague)
        for start, end, rule in found
    ]


def _band(rule: Rule, secret: str) -> Band:
    return rule.band if rule.sure is None or rule.sure(secret) else "review"


def leftover(secret: str) -> bool:
    """Tell whether `secret` is only a masked placeholder (NULs) and crumbs beside it."""
    return "\0" in secret and sum(map(str.isalnum, secret)) < _LEFTOVER


def uncovered(found: Iterable[Span], candidates: Iterable[Span]) -> Iterator[Span]:
    """Yield the candidates that share no character with any span of `found`."""
    starts: list[int] = []
    ends: list[int] = []
    for span in sorted(found, key=lambda span: span.start):
        if ends and span.start < ends[-1]:
            ends[-1] = max(ends[-1], span.end)
        else:
            starts.append(span.start)
            ends.append(span.end)
    for span in candidates:
        before = bisect_right(starts, span.end - 1) - 1
        if before < 0 or ends[before] <= span.start:
            yield span


def settled(found: Iterable[Span], text: str) -> list[Span]:
    """Merge overlapping spans into their unions, each named by the finding that says most, left to right."""
    out: list[Span] = []
    group: list[Span] = []
    end = -1
    for span in sorted(found, key=lambda span: (span.start, -span.end)):
        if span.start >= end and group:
            out.append(_merged(group, end, text))
            group = []
        group.append(span)
        end = max(end, span.end)
    if group:
        out.append(_merged(group, end, text))
    return out


def _merged(group: list[Span], end: int, text: str) -> Span:
    if len(group) == 1:
        return group[0]
    start = group[0].start
    best = min(group, key=lambda span: _rank(span, start, end))
    whole = best.start == start and best.end == end
    value = best.value if whole or best.vague < 0 else text[start:end]
    band = best.band if best.band == "high" else min((span.band for span in group), key=_BANDS.index)
    blob = any(span.blob for span in group)
    if whole and band == best.band and blob == best.blob:
        return best
    return best._replace(start=start, end=end, band=band, blob=blob, value=value)


def _rank(span: Span, start: int, end: int) -> tuple[object, ...]:
    """Order the findings of one union `start`..`end`: the first names it."""
    part = span.start != start or span.end != end
    # A name in a home path must stay one; where it is only a part of the union, the union is no name.
    home = span.cls == HOME
    return (span.vague >= 0, part, home == part, span.vague, span.start - span.end, span.rule)


def _cut_wide(data: bytes) -> Callable[[slice], str]:
    return lambda part: data[part].decode("utf-8", "surrogatepass")


def _run(rule: Rule, data: bytes, cut: Callable[[slice], str], *, wide: bool) -> Iterator[tuple[int, int]]:
    """Yield the byte spans of the secrets one rule finds, widened to whole characters.

    `cut` gives the text of a slice of `data`; `wide`: some character is longer than a byte.
    """
    matcher = rule.matcher()
    closer = rule.closer()
    groups = range(2, rule.groups() + 1)
    matches = matcher.finditer(data)
    crowd = stretch = 0
    while (match := next(matches, None)) is not None:
        begin, (low, high) = match.start(), match.span(1)
        if low < 0:
            low, high = next(span for span in map(match.span, groups) if span[0] >= 0)
        if closer is not None:
            closed = closer.search(data, high)
            high = closed.end() if closed else len(data)
            matches = matcher.finditer(data, high)
        if low >= stretch:
            crowd, stretch = 0, low + _STRETCH
        start, end = _whole(data, low, high) if wide else (low, high)
        if crowd >= _CROWD:
            for other in matches:
                if other.start() >= stretch:
                    break
                end = other.end()
            yield _whole(data, start, end)
            matches = matcher.finditer(data, end)
            continue
        secret = cut(slice(start, end))
        if "\0" in secret and leftover(secret):
            continue
        if rule.accept is not None:
            before = _whole(data, begin, low)[0] if wide else begin
            accepts = _accepts if end - before <= _REMEMBERED else _accepts.__wrapped__
            if not accepts(rule.accept, secret, cut(slice(before, end))):
                if rule.nested and not _SPACE.isdisjoint(secret):
                    matches = matcher.finditer(data, low)
                continue
        crowd += 1
        if rule.within is not None:
            yield from ((start + a, start + b) for a, b in rule.within(secret))
        else:
            yield start, end


@lru_cache(maxsize=1 << 12)
def _accepts(accept: Callable[[str, str], bool], secret: str, match: str) -> bool:
    """Ask a rule's check; the same dates, versions and tokens come again, and in every view of a text."""
    return accept(secret, match)


def _whole(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Widen a byte span so that it cuts no character."""
    while start and data[start] & _CONTINUATION == 0x80:
        start -= 1
    while end < len(data) and data[end] & _CONTINUATION == 0x80:
        end += 1
    return start, end


def characters(data: bytes, offsets: Iterable[int]) -> dict[int, int]:
    """Return the character offset of each byte offset of UTF-8, all of them at character boundaries."""
    chars: dict[int, int] = {}
    seen = count = 0
    for offset in sorted(offsets):
        count += len(data[seen:offset].decode("utf-8", "surrogatepass"))
        seen = offset
        chars[offset] = count
    return chars
