"""Is a file written as we would write it: line-framed, keys sorted, no byte more than needed.

It says nothing about what the file means; but only canonical bytes are equal where trajectories are, and
only line-framed ones are read with one event in memory. The first place that differs is enough.
"""

from __future__ import annotations

from typing import BinaryIO

from geode_traj.codec.framed import Document, EventText, frame
from geode_traj.contract.encoding import encode
from geode_traj.model.finding import Place


class Layout:
    """Compares a file with its canonical form, event by event, then the lines around the events."""

    def __init__(self) -> None:
        self.differs: Place | None = None
        self._first: int | None = None
        self._end = 0
        self._next = 0

    def feed(self, text: EventText, encoded: bytes) -> None:
        """Take an event, and its canonical bytes as they are before anything is escaped."""
        if text.data is None or text.offset is None:
            self.differs = Place()
            return
        if self._first is None:
            self._first = self._next = text.offset
        # Most events have nothing to escape.
        if text.offset != self._next or (text.data != encoded and text.data != encode(text.value)):
            self.differs = Place(line=text.line, ordinal=text.ordinal)
        self._end = text.offset + len(text.data) + 1
        self._next = self._end + 1

    def finish(self, document: Document, stream: BinaryIO, size: int) -> None:
        """Compare what stands around the events of a document that was read to its end."""
        if not document.framed:
            self.differs = Place()
        if self.differs is not None:
            return
        opening, closing = frame(document.head, encode)
        first = len(opening) if self._first is None else self._first
        end = first if self._first is None else self._end
        if first != len(opening) or _read(stream, 0, first) != opening:
            self.differs = Place(line=1)
        elif size != end + len(closing) or _read(stream, end, len(closing)) != closing:
            self.differs = Place()


def _read(stream: BinaryIO, start: int, count: int) -> bytes:
    stream.seek(start)
    return stream.read(count)
