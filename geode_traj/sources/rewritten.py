"""One JSON document that its program writes anew at every step: one run, one unit (importer decision J5)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import reading, sha256_bytes
from geode_traj.codec.reading import Tolerated
from geode_traj.errors import DataError
from geode_traj.model.event import Item
from geode_traj.sources.base import Input, Probe, Source, Unit
from geode_traj.sources.document import load
from geode_traj.sources.parts import inside, opening


class Rewritten(Source):
    """A format whose file is one document that holds one run."""

    mutable = True

    @abstractmethod
    def problem(self, value: Any) -> str | None:
        """Return what keeps a document from being read at all, None for nothing."""

    @abstractmethod
    def key(self, given: Input, value: Any) -> str:
        """Return what stays the same while the run's file is rewritten, and differs from other runs'."""

    @abstractmethod
    def count(self, value: Any) -> int:
        """Count the records of a document, independently of `run`."""

    @abstractmethod
    def first_time(self, value: Any) -> float | None:
        """Return the first readable time of the document in Unix seconds."""

    @abstractmethod
    def run(self, given: Input, read: Tolerated, key: str) -> Iterable[Item]:
        """Yield the document's records in order."""

    def units(self, given: Input) -> Iterator[Unit]:
        """Yield the one unit of the document in its present state."""
        read = self._load(given)
        yield Unit(
            self.key(given, read.value), _digest(read), self.count(read.value), self.first_time(read.value)
        )

    def items(self, given: Input) -> Iterator[Item]:
        """Yield the document's records; raise `DataError` TE207 if it is not as it was planned."""
        read = self._load(given)
        if _digest(read) != given.sha256:
            raise DataError("TE207", place=given.name)
        yield from self.run(given, read, given.unit)

    def _load(self, given: Input) -> Tolerated:
        with reading(given.path) as stream:
            read = load(stream, given.size, given.name)
        why = self.problem(read.value)
        if why:
            raise DataError("TE208", name=self.name, why=why, place=given.name)
        return read


def _digest(read: Tolerated) -> str:
    return sha256_bytes(dumps([read.value, dict(read.duplicates)]))


def document(probe: Probe, *, lists: bool = False) -> Any:
    """Return the document that a file begins with, as `parts.opening`; None for lines of documents."""
    whole = next(probe.objects(1), None) is not None  # the first line is, so that no more may follow
    if whole and goes_on(probe):
        return None
    return opening(probe, lists=lists)


def goes_on(probe: Probe) -> bool:
    """Tell whether more lines follow a file's first one, be it damaged or longer than the look."""
    return b"\n" in probe.head.strip() or not probe.head.endswith(probe.tail)


def beginning(*told: Any) -> str:
    """Return the digest of how a run began, short enough to stand in a key."""
    return sha256_bytes(dumps(told))[:16]


def head_of(read: Tolerated, *lists: str) -> Tolerated:
    """Return what a tolerant read met outside the records of the lists at these pointers."""

    def own(pointer: str) -> bool:
        return not any(pointer.startswith(f"{one}/") for one in lists)

    return Tolerated(
        read.value,
        list(filter(own, read.escaped)),
        list(filter(own, read.nonfinite)),
        {pointer: earlier for pointer, earlier in read.duplicates.items() if own(pointer)},
    )


def within(read: Tolerated, pointer: str, listed: list[Any]) -> list[Tolerated]:
    """Return each record of the list at `pointer` with what a tolerant read met in it."""
    if not (read.escaped or read.nonfinite or read.duplicates):
        return [Tolerated(value) for value in listed]
    return inside(read, pointer, listed)
