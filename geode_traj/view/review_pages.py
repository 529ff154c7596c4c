"""A trajectory page by page: what makes sure that somebody has seen it.

An event counts as seen when all of its rows were on the screen: pages follow each other without a gap, and
whoever jumps starts anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from geode_traj.errors import TrajError
from geode_traj.view.cells import Row, Span, fit
from geode_traj.view.event_rows import BEGINNING, EventLine, EventRows, Place

Load = Callable[[str, int | None], EventRows]


class Top(NamedTuple):
    """Where a page begins: an event's ordinal (0: what stands around the events), and a place in it."""

    ordinal: int
    place: Place = BEGINNING


class Page(NamedTuple):
    """The rows of a page, and its events: from which to which it shows, and which are seen whole by now."""

    rows: list[Row]
    first: int
    last: int
    whole: list[int]


class Pages:
    """The pages of one trajectory of `events` events."""

    def __init__(self, path: str, events: int, load: Load, ordinal: int = 0) -> None:
        self.path: Final = path
        self.events: Final = events
        self._load: Final = load
        self.top = Top(0)
        self._since = 0
        self._back: list[Top] = []
        self._next: Top | None = None
        self._unread: set[int] = set()
        self.jump(ordinal)

    def page(self, width: int, height: int) -> Page:
        """Return the page that is open."""
        rows: list[Row] = []
        whole: list[int] = []
        last = self.top.ordinal
        self._next = None
        for ordinal in range(self.top.ordinal, self.events + 1):
            start = self.top.place if ordinal == self.top.ordinal else BEGINNING
            for row, place in self._rows(ordinal, width, start):
                if len(rows) == height:
                    self._next = Top(ordinal, place)
                    return Page(rows, self.top.ordinal, last, whole)
                rows.append(row)
                last = ordinal
            if ordinal >= max(1, self._since) and ordinal not in self._unread:
                whole.append(ordinal)
        return Page(rows, self.top.ordinal, last, whole)

    def forward(self) -> bool:
        """Go on by a page; return False at the end."""
        if self._next is None:
            return False
        self._back.append(self.top)
        self.top = self._next
        return True

    def back(self) -> bool:
        """Go back by a page; return False at the beginning."""
        if self._back:
            self.top = self._back.pop()
        elif self.top > Top(0):
            self.jump(self.top.ordinal - (self.top.place == BEGINNING))
        else:
            return False
        return True

    def jump(self, ordinal: int) -> None:
        """Go to the beginning of an event, as near as there is one."""
        self.top = Top(min(max(0, ordinal), self.events))
        self._since = self.top.ordinal
        self._back.clear()
        self._unread.clear()

    def _rows(self, ordinal: int, width: int, start: Place) -> Iterator[tuple[Row, Place]]:
        if start == BEGINNING:
            name = f"event {ordinal}" if ordinal else "around the events"
            yield fit([Span(f"── {name} ", "title")], width), BEGINNING
        try:
            lines: Iterator[EventLine] = self._load(self.path, ordinal or None).lines(width, start)
        except TrajError as error:
            self._unread.add(ordinal)
            yield fit([Span(f"{error.code}: {error.message}", "error")], width), BEGINNING
            return
        for line in lines:
            yield line.row, line.place
