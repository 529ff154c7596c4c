"""What all formats of JSON lines share: lines that are damaged, blank, too long, or hidden behind NULs.

A format says what a row means; here every physical line becomes something, whatever it holds.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol

import jiter

from geode_traj.codec.gzip_in import Unpacked
from geode_traj.codec.jsonl import Line, lines
from geode_traj.codec.reading import Tolerated, tolerant
from geode_traj.model.event import Damaged, Item, Loss, Skipped
from geode_traj.sources.base import FileSource, Input


class RowReader(Protocol):
    """Reads the rows of one file in order; it may keep what it needs between them."""

    def rows(self, line: Line, sha256: str, read: Tolerated) -> Iterable[Item]:
        """Return what a row gives; `read.value` is of `JsonLines.rows_are`, `sha256` the line's digest."""

    def end(self) -> Iterable[Item]:
        """Return what is known only when the file has ended (links, losses, open calls)."""


class JsonLines(FileSource):
    """A format of one JSON object a line."""

    rows_are: tuple[type, ...] = (dict,)
    """What a line's JSON may be; anything else is damaged."""

    @property
    def unpacks(self) -> bool:  # type: ignore[override]
        """Its files may be gzipped, unless it goes back to what was rewritten in them."""
        return not self.mutable

    @abstractmethod
    def reader(self, given: Input) -> RowReader:
        """Return a reader of one file's rows."""

    @abstractmethod
    def time_of(self, row: dict[str, Any]) -> float | None:
        """Return a row's time in Unix seconds where it can be read."""

    def json_of(self, data: bytes) -> bytes:
        """Return the JSON that a line holds, nothing where it holds none by nature."""
        return data

    def first_time(self, given: Input, stream: BinaryIO) -> float | None:
        """Return the first readable time of the file."""
        for line in lines(stream, size=given.size):
            data = self.json_of(line.data or b"").lstrip(b"\0")
            if data and not data.isspace():
                try:
                    row = tolerant(data).value
                except (ValueError, RecursionError):
                    continue
                seconds = self.time_of(row) if isinstance(row, dict) else None
                if seconds is not None:
                    return seconds
        return None

    def count(self, stream: BinaryIO, size: int) -> int:
        """Count physical lines."""
        return count_lines(stream, size)

    def read(self, given: Input, stream: BinaryIO) -> Iterator[Item]:
        """Yield what each line gives; damaged and blank ones as themselves."""
        reader = self.reader(given)
        for line in lines(stream, size=given.size):
            data = line.data
            if data is None:
                yield Damaged(line.number, line.offset, line.length, line.sha256, "line_too_long", None)
            elif not (held := self.json_of(data)) or held.isspace():
                yield Skipped("blank")
            else:
                try:
                    read = tolerant(held)
                except (ValueError, RecursionError) as error:
                    yield from _unread(reader, line, data, held, error, self.rows_are)
                else:
                    yield from _read(reader, line, data, read, self.rows_are)
        if isinstance(stream, Unpacked) and (problem := stream.problem()):
            yield Loss(problem)
        yield from reader.end()


def glances(stream: BinaryIO, size: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, object) of a file's first `size` bytes, for a look ahead; damage is left out."""
    for line in lines(stream, size=size):
        if line.data:
            row = _glance(line.data)
            if isinstance(row, dict):
                yield line.number, row


def _glance(data: bytes) -> Any:
    try:
        return jiter.from_json(data, catch_duplicate_keys=False)
    except ValueError:
        try:
            return tolerant(data.lstrip(b"\0")).value
        except (ValueError, RecursionError):
            return None


@dataclass(slots=True)
class LineFlags:
    """What a look ahead found of lines, 9 bytes each; `at` is asked for each line in file order."""

    numbers: array[int] = field(default_factory=lambda: array("Q"))
    flags: bytearray = field(default_factory=bytearray)
    _next: int = 0

    def at(self, number: int) -> int:
        """Return the flags of a line, 0 for one of which nothing was noted."""
        numbers = self.numbers
        while self._next < len(numbers) and numbers[self._next] < number:
            self._next += 1
        if self._next < len(numbers) and numbers[self._next] == number:
            return self.flags[self._next]
        return 0


def count_lines(stream: BinaryIO, size: int) -> int:
    """Count the physical lines of `size` bytes: line ends, and a last line without one."""
    total = 0
    last = b"\n"
    while size > 0 and (chunk := stream.read(min(size, 1 << 20))):
        total += chunk.count(b"\n")
        last = chunk[-1:]
        size -= len(chunk)
    return total + (last != b"\n")


def _read(
    reader: RowReader, line: Line, data: bytes, read: Tolerated, kinds: tuple[type, ...]
) -> Iterable[Item]:
    if not isinstance(read.value, kinds):
        return (_damaged(line, data, "not_object"),)
    return reader.rows(line, hashlib.sha256(data).hexdigest(), read)


def _unread(
    reader: RowReader, line: Line, data: bytes, held: bytes, error: Exception, kinds: tuple[type, ...]
) -> Iterator[Item]:
    """Yield what a line gives that is no JSON: damage, or the record behind a block of NULs."""
    if isinstance(error, RecursionError):
        yield _damaged(line, data, "too_deep")
    elif (rest := _after_nuls(held)) is None:
        yield _damaged(line, data, _reason(line, held))
    else:
        yield Loss("nul_block")
        yield from _read(reader, line, data, rest, kinds)


def _after_nuls(data: bytes) -> Tolerated | None:
    """Read the record behind a block of NULs, which a power loss leaves where a write should be."""
    rest = data.lstrip(b"\0")
    if rest == data or not rest:
        return None
    try:
        return tolerant(rest)
    except (ValueError, RecursionError):
        return None


def _damaged(line: Line, data: bytes, reason: str) -> Damaged:
    sha256 = hashlib.sha256(data).hexdigest()
    return Damaged(line.number, line.offset, line.length, sha256, reason, data)


def _reason(line: Line, data: bytes) -> str:
    if not data.strip(b"\0 \t\r"):
        return "nul_block"
    return "not_json" if line.ended else "torn_tail"
