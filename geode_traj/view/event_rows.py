"""One event as rows of text: what was found in it marked or masked, any part of it without the rest.

A finding of the high band is never shown unless it is the one that somebody asked to see: a label with its
value number and class stands there, and a mask that tells nothing of its length. Where a finding cannot be
placed, nothing of the event is shown.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any, Final, NamedTuple

from geode_traj.codec import pointer
from geode_traj.review.folder import Found
from geode_traj.view.cells import LINE_END, Cell, Row, Style, cell, cells, columns, row, wrap

MASK: Final = "******"
MASKED_BAND: Final = "high"
_UNPLACED: Final = "(what was found here cannot be placed: nothing of it is shown)"
_SHORT: Final = 40
_GAP: Final = "   "
_MAX_ROWS: Final = 400
_MAX_TRIES: Final = 1 << 20


class Sight(NamedTuple):
    """How an event is looked at: the finding in question, and whether it is revealed."""

    current: int | None = None
    revealed: bool = False


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value without parts, or a key in which something was found: its pointer, its text, the findings."""

    pointer: str
    text: str
    found: Sequence[Found] = ()
    is_text: bool = True
    in_key: bool = False

    def label(self) -> str:
        """Return what stands before the text; an equals sign says that the value is no text."""
        name = f"key of {self.pointer}" if self.in_key else self.pointer
        return f"{name}: " if self.is_text else f"{name} = "


class Place(NamedTuple):
    """A place in an event: a leaf, and a character of its text."""

    leaf: int = 0
    at: int = 0


BEGINNING: Final = Place()
PLAIN: Final = Sight()


class EventLine(NamedTuple):
    """One row of an event: where it begins, and whether the finding in question is on it."""

    row: Row
    place: Place
    current: bool


class Window(NamedTuple):
    """The rows around a finding, which of them is the first of the finding, and whether that is all."""

    lines: list[EventLine]
    first: int
    whole: bool


class _Key(NamedTuple):
    text: str
    found: list[Found]


class _Piece(NamedTuple):
    start: int
    end: int
    current: bool
    masked: bool
    label: str


def leaves(value: Any, found: Sequence[Found]) -> tuple[list[Leaf], bool]:
    """Return the leaves of an event in order, and whether every finding has its place there."""
    placed: dict[str, list[Found]] = {}
    keyed: dict[str, dict[str, list[Found]]] = {}
    for one in found:
        if one.in_key:
            keyed.setdefault(one.pointer.rpartition("/")[0], {}).setdefault(one.pointer, []).append(one)
        else:
            placed.setdefault(one.pointer, []).append(one)
    out: list[Leaf] = []
    met: set[str] = set()
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        where, item = stack.pop()
        if isinstance(item, _Key):
            out.append(Leaf(where, item.text, item.found, in_key=True))
            continue
        here = placed.get(where, ())
        if isinstance(item, str):
            out.append(Leaf(where, item, here))
        elif here or not isinstance(item, dict | list) or not item:
            out.append(Leaf(where, json.dumps(item, ensure_ascii=False), here, is_text=False))
        elif isinstance(item, list):
            stack.extend((_below(where, str(i)), item[i]) for i in reversed(range(len(item))))
        else:
            stack.extend(reversed(list(_members(where, item, keyed.get(where, {})))))
        met.add(where)
    # Two keys that are shown alike, or a pointer that was cut, lead to several leaves: it is masked in all.
    in_keys = {one.id for leaf in out if leaf.in_key for one in leaf.found}
    return out, all(one.id in in_keys if one.in_key else one.pointer in met for one in found)


def _members(
    where: str, item: Mapping[str, Any], found: Mapping[str, list[Found]]
) -> Iterator[tuple[str, Any]]:
    """Yield what stands under each key, before it the key itself if something may have been found in that.

    A finding in a key names the key by what is left of it, so that it may fit several: it is in all of them.
    """
    groups = [group for same in found.values() for group in _apart(same)]
    if len(groups) * len(item) > _MAX_TRIES:
        groups = []
    for key, child in item.items():
        inside = [one for group in groups if _fits(group, key) for one in group]
        name = pointer.split(inside[0].pointer)[-1] if inside else key
        if inside:
            yield _below(where, name), _Key(key, inside)
        yield _below(where, name), child


def _apart(found: Sequence[Found]) -> Iterator[list[Found]]:
    """Yield findings that one pointer leads to, those of each key for themselves: they come in order."""
    group: list[Found] = []
    for one in found:
        if group and one.span and group[-1].span and one.span[0] < group[-1].span[1]:
            yield group
            group = []
        group.append(one)
    yield group


def _fits(group: Sequence[Found], key: str) -> bool:
    ends = [one.span[1] if one.span else 0 for one in group]
    return max(ends) <= len(key) and _without(key, group) == pointer.split(group[0].pointer)[-1]


def _without(key: str, found: Sequence[Found]) -> str:
    """Return a key as pointers show it (`scan.finding.without`)."""
    out, position = "", 0
    for one in found:
        start, end = one.span or (0, len(key))
        out += f"{key[position:start]}[REDACTED:{one.cls}]"
        position = end
    return out + key[position:]


def _below(where: str, step: str) -> str:
    """Return the pointer of what is below, cut like those of findings (`codec.pointer.shown`)."""
    whole = pointer.below(where, step)
    return whole if len(whole) <= pointer.MAX_SHOWN else whole[: pointer.MAX_SHOWN - 1] + "…"


@dataclass(slots=True)
class EventRows:
    """An event laid out for looking at; `found` is what was found in it."""

    value: Any
    found: Sequence[Found]
    leaves: list[Leaf] = field(init=False)
    placed: bool = field(init=False)

    def __post_init__(self) -> None:
        self.leaves, self.placed = leaves(self.value, self.found)

    def lines(self, width: int, start: Place = BEGINNING, sight: Sight = PLAIN) -> Iterator[EventLine]:
        """Yield the rows from a place on; several short values share one."""
        if not self.placed and not sight.revealed:
            yield EventLine(row(cells(_UNPLACED, "mask")), BEGINNING, False)
            return
        flow: list[Cell] = []
        first = used = 0
        for index in range(start.leaf, len(self.leaves)):
            leaf = self.leaves[index]
            at = start.at if index == start.leaf else 0
            short = [] if at else _short(leaf, width)
            taken = sum(one.columns for one in short)
            if flow and (not short or used + len(_GAP) + taken > width):
                yield EventLine(row(flow), Place(first), False)
                flow, used = [], 0
            if short:
                first = first if flow else index
                gap = _GAP if flow else ""
                flow += [*cells(gap), *short]
                used += len(gap) + taken
                continue
            yield from _leaf_lines(leaf, index, at, width, sight)
        if flow:
            yield EventLine(row(flow), Place(first), False)

    def window(self, found: Found, around: int, width: int, *, revealed: bool = False) -> Window:
        """Return the rows around a finding, `around` on each side."""
        index = next((i for i, leaf in enumerate(self.leaves) if found in leaf.found), 0)
        there = Place(index, found.span[0] if found.span else 0)
        start = self._before(there._replace(at=max(0, there.at - around * width)), around, width)
        before: deque[EventLine] = deque(maxlen=around)
        rest: list[EventLine] = []
        cut = False
        after = 0
        for line in self.lines(width, start, Sight(found.id, revealed)):
            if not rest and not line.current and line.place <= there:
                cut = cut or len(before) == around
                before.append(line)
                continue
            after += not line.current
            if after > around or len(rest) >= _MAX_ROWS:
                cut = True
                break
            rest.append(line)
        return Window([*before, *rest], len(before) if rest else 0, start == BEGINNING and not cut)

    def _before(self, place: Place, around: int, width: int) -> Place:
        """Return a place far enough before another for `around` rows in between."""
        if place.at:
            return place
        room = around * width
        index = place.leaf
        while index and room > 0 and place.leaf - index < 8 * around:
            index -= 1
            room -= len(self.leaves[index].text)
        return Place(index, max(0, -room) if self.leaves and not _short(self.leaves[index], width) else 0)

    def snippet(self, found: Found, width: int) -> Row:
        """Return one row of the text around a finding."""
        leaf = next((leaf for leaf in self.leaves if found in leaf.found), None)
        if leaf is None or not self.placed:
            return row(cells(_UNPLACED[:width], "mask"))
        start = max(0, (found.span or (0, 0))[0] - width // 4)
        line: list[Cell] = []
        used = 0
        for one in _cells(leaf, start, Sight(found.id)):
            shown = Cell("\\n", 2, one.style, one.at) if one.text == LINE_END else one
            used += shown.columns
            if used > width:
                break
            line.append(shown)
        return row(line)


def _short(leaf: Leaf, width: int) -> list[Cell]:
    """Return the cells of a leaf that may share a row with others, none where it may not."""
    if leaf.found or len(leaf.text) > _SHORT or len(leaf.pointer) > width or LINE_END in leaf.text:
        return []
    both = [*_label(leaf), *_cells(leaf, 0, PLAIN)]
    return both if sum(one.columns for one in both) <= width else []


def _label(leaf: Leaf) -> list[Cell]:
    return [*(cell(" " if char == LINE_END else char, "dim", 0) for char in leaf.label())]


def _leaf_lines(leaf: Leaf, index: int, at: int, width: int, sight: Sight) -> Iterator[EventLine]:
    label = _label(leaf) if not at else []
    if label and (LINE_END in leaf.text or columns(leaf.label()) + len(leaf.text) > width):
        label.append(Cell(LINE_END, 0, "", 0))
    for line in wrap(chain(label, _cells(leaf, at, sight)), width):
        current = any(span.style == "mark" for span in line.row)
        yield EventLine(line.row, Place(index, line.at), current)


def _cells(leaf: Leaf, start: int, sight: Sight) -> Iterator[Cell]:
    """Yield the cells of a leaf's text from a character on."""
    pieces = _pieces(leaf, sight)
    first = bisect_right(pieces, start, key=lambda piece: piece.end)
    before: _Piece | None = None
    for number, piece in enumerate(pieces[first:], start=first):
        begin = max(piece.start, start)
        after = pieces[number + 1] if number + 1 < len(pieces) else None
        goes_on = before is not None and before.current == piece.current
        if piece.current and not goes_on:
            yield from cells(f"⟦{piece.label}: ", "mark", begin)
        if piece.masked:
            if not (before and before.masked and goes_on and (piece.current or before.label == piece.label)):
                shown = MASK if piece.current else f"⟦{piece.label}: {MASK}⟧"
                yield from cells(shown, "mark" if piece.current else "mask", begin)
        else:
            style: Style = "mark" if piece.current else ""
            for at in range(begin, piece.end):
                yield cell(leaf.text[at], style, at)
        if piece.current and not (after and after.current):
            yield from cells("⟧", "mark", piece.end - 1)
        before = piece


def _pieces(leaf: Leaf, sight: Sight) -> list[_Piece]:
    """Return a leaf's text in pieces, each of them all marked or not, all masked or not."""
    length = len(leaf.text)
    edges: dict[int, list[tuple[Found, int]]] = {0: [], length: []}
    for one in leaf.found:
        start, end = one.span if one.span and leaf.is_text else (0, length)
        if one.id != sight.current and one.band != MASKED_BAND:
            continue
        for at, step in ((min(start, length), 1), (min(end, length), -1)):
            edges.setdefault(at, []).append((one, step))
    out: list[_Piece] = []
    current = masks = 0
    label = ""
    places = sorted(edges)
    for start, end in pairwise(places):
        for one, step in edges[start]:
            if one.id == sight.current:
                current += step
            masks += step * (one.band == MASKED_BAND)
            if step > 0 and (one.id == sight.current or not current):
                label = f"v{one.value} {one.cls}"
        shown = current > 0 and sight.revealed
        out.append(_Piece(start, end, current > 0, masks > 0 and not shown, label))
    return out
