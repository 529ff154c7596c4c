"""Marks: what was replaced in a text under work, or is kept there, and how they move while it is edited."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from geode_traj.scan import fields, media
from geode_traj.scan.listed import UNNUMBERED, Standing, placeholder
from geode_traj.scan.matching import HOME, HOME_NAME, Span

Number = Callable[[str, str], int]

_SEPARATORS: Final = ("/", "\\", "%2F", "%5C")


@dataclass(slots=True)
class Mark:
    """A replacement in a text under work, or what is `kept`: its place, and what was found there."""

    start: int
    end: int
    span: Span
    numbered: bool
    n: int = UNNUMBERED
    earlier: bool = False
    kept: bool = False


Edit = tuple[int, int, str]
"""Characters start..end of a text, and what they become."""


def standing(one: Standing, *, renumber: bool = False) -> Mark:
    """Return the mark of an earlier redaction; no secret begins like the value that stands for its own."""
    span = Span(one.start, one.end, one.rule, one.cls, "high", f"\0earlier {one.n}")
    return Mark(one.start, one.end, span, renumber and one.n != UNNUMBERED, one.n, earlier=True)


def numbered(text: str, marks: list[Mark], number: Number) -> tuple[str, list[Mark]]:
    """Put the numbers into the placeholders, in the order of the text."""
    marks.sort(key=lambda mark: mark.start)
    edits: list[Edit] = []
    for mark in marks:
        if mark.numbered:
            mark.n = number(mark.span.cls, mark.span.value)
            edits.append((mark.start, mark.end, placeholder(mark.span.cls, mark.n)))
    text, moved = _applied(text, edits)
    for mark in marks:
        mark.start, mark.end = moved(mark.start), moved(mark.end)
    return text, marks


def outside(spans: list[Span], marks: Iterable[Mark]) -> list[Span]:
    """Return the spans that do not lie inside what is kept."""
    kept = [mark for mark in marks if mark.kept]
    if not kept:
        return spans
    starts = [mark.start for mark in kept]
    ends = [0, *(mark.end for mark in kept)]
    return [span for span in spans if ends[bisect_right(starts, span.start)] < span.end]


def replaced(text: str, marks: list[Mark], spans: list[Span]) -> tuple[str, list[Mark]]:
    """Replace `spans` in `text`; a mark that a span touches is swallowed by it, the others move along."""
    edits: list[Edit] = []
    stay: list[Mark] = []
    new: list[tuple[Mark, int]] = []
    for start, end, span, touched in _unions(marks, spans):
        if span is None:
            stay += touched
        else:
            shown, tail, counted = _replacement(text, start, end, span)
            edits.append((start, end, shown + tail))
            new.append((Mark(start, end, span, counted), len(shown)))
    text, moved = _applied(text, edits)
    for mark in stay:
        mark.start, mark.end = moved(mark.start), moved(mark.end)
    for mark, length in new:
        mark.start = moved(mark.start)
        mark.end = mark.start + length
    return text, [*stay, *(mark for mark, _ in new)]


def _unions(marks: list[Mark], spans: list[Span]) -> Iterator[tuple[int, int, Span | None, list[Mark]]]:
    """Yield what overlaps as one: its place, the span that names it (None: only marks), its marks."""
    parts: list[tuple[int, int, Span | Mark]] = [(mark.start, mark.end, mark) for mark in marks]
    parts += ((span.start, span.end, span) for span in spans)
    parts.sort(key=lambda part: (part[0], -part[1]))
    low, high, named = 0, -1, None
    touched: list[Mark] = []
    for start, end, what in parts:
        if start >= high:
            if high >= 0:
                yield low, high, named, touched
            low, high, named, touched = start, end, None, []
        high = max(high, end)
        if isinstance(what, Mark):
            touched.append(what)
        else:
            named = what
    if high >= 0:
        yield low, high, named, touched


def _applied(text: str, edits: list[Edit]) -> tuple[str, Callable[[int], int]]:
    """Return a text after `edits`, left to right and apart, and what tells where a place in it is then."""
    out: list[str] = []
    starts: list[int] = []
    before, after = [0], [0]
    length = 0
    for start, end, new in edits:
        out += (text[before[-1] : start], new)
        length += start - before[-1] + len(new)
        starts.append(start)
        before.append(end)
        after.append(length)
    out.append(text[before[-1] :])

    def moved(place: int) -> int:
        last = bisect_right(before, place) - 1
        there = after[last] + place - before[last]
        inside = last < len(starts) and starts[last] < place
        return min(there, after[last + 1]) if inside else there

    return "".join(out), moved


def _replacement(text: str, start: int, end: int, what: Span) -> tuple[str, str, bool]:
    """Return the new text, what must follow it, and whether it carries a number."""
    if what.cls == HOME and not what.blob:
        return HOME_NAME, _separator(text, start, end, exact=what.view is None), False
    if what.cls == "sensitive_field":
        return f"{what.quote}{fields.MARKER}{what.quote}", "", False
    if what.cls == media.CLASS and (picture := media.cleaned(text[start:end])) is not None:
        return picture, "", False
    return placeholder(what.cls, UNNUMBERED), "", True


def _separator(text: str, start: int, end: int, *, exact: bool) -> str:
    """Return the separator that must follow a home directory's name, "" where one does.

    `exact`: the one that stands before the name, as the gate wants; in a view any will do, encoded or not.
    """
    before = text[start - 1 : start]
    after = text[end : end + 3].upper()
    if before == "-" or after.startswith(before if exact and before else _SEPARATORS):
        return ""
    first = start
    while first and text[first - 1] == "\\":
        first -= 1
    return text[first:start] or "/"
