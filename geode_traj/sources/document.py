"""What all formats of one JSON document share: read whole within a limit, records in a list of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from geode_traj.codec.framed import MAX_WHOLE
from geode_traj.codec.reading import MAX_DEPTH, Tolerated, tolerant
from geode_traj.errors import DataError
from geode_traj.model.event import Item
from geode_traj.sources.base import FileSource, Input


class JsonDocument(FileSource):
    """A format whose file is one JSON value."""

    @abstractmethod
    def records(self, value: Any) -> list[Any]:
        """Return the records of the document, in order."""

    @abstractmethod
    def time_of(self, record: Any) -> float | None:
        """Return a record's time in Unix seconds where it can be read."""

    @abstractmethod
    def document(self, given: Input, read: Tolerated) -> Iterable[Item]:
        """Yield what the document holds, `read.value` being it: one `Event` with n = 0 a record, and more."""

    def first_time(self, given: Input, stream: BinaryIO) -> float | None:
        """Return the first readable time of the records."""
        times = map(self.time_of, self.records(load(stream, given.size, given.name).value))
        return next((time for time in times if time is not None), None)

    def count(self, stream: BinaryIO, size: int) -> int:
        """Count the records."""
        return len(self.records(load(stream, size, "").value))

    def read(self, given: Input, stream: BinaryIO) -> Iterator[Item]:
        """Yield what the document holds."""
        yield from self.document(given, load(stream, given.size, given.name))


def load(stream: BinaryIO, size: int, place: str) -> Tolerated:
    """Read a document of at most `MAX_WHOLE` bytes; raise `DataError` TE202, TE203 or TE204."""
    if size > MAX_WHOLE:
        raise DataError("TE203", limit=MAX_WHOLE, place=place)
    try:
        return tolerant(stream.read(size).removeprefix(b"\xef\xbb\xbf"))
    except RecursionError:
        raise DataError("TE204", limit=MAX_DEPTH, place=place) from None
    except ValueError:
        raise DataError("TE202", why="the document is cut short or no JSON", place=place) from None
