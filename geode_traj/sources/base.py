"""What a transcript format is: a name, a test by content, and a reader that yields values.

A source decides nothing about ids of other formats, redaction, bounds or storage: the assembler does that for
all of them. Third parties add formats by the entry point group `geode_traj.sources`, opt-in by name.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, BinaryIO, Final

import geode_traj.sources
from geode_traj.codec import gzip_in, sqlite_in
from geode_traj.codec.files import reading, sha256_part
from geode_traj.codec.reading import tolerant
from geode_traj.errors import DataError, WorldError
from geode_traj.model.event import Item

HEAD_BYTES: Final = 1 << 18
TAIL_BYTES: Final = 1 << 16
MAX_PROBED: Final = 64
_GENERIC_STEMS: Final = frozenset({"dialogue", "transcript", "events"})


def file_text(name: str | Path) -> str:
    r"""Return a file name or path as text: UTF-8 whatever the locale, bytes that are none as `\\xNN`."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class Input:
    """One source to read: where it is, the name to record, and the bytes that were planned.

    `override` is an explicit session id. `size` and `sha256` describe the planned bytes: a file that grows
    while it is read is read up to there. `grown` tells that this path was imported before: only then can a
    record be stored under an alias. `unit` names one session or run of a file that holds several units;
    `stat` is (inode, mtime in ns) and `file_sha256` the whole file's digest when the plan was made. Where the
    file is gzipped, `packed` is its size (else 0), `size` what it unpacks to; the digests are the file's.
    """

    path: Path
    name: str
    sha256: str
    size: int
    override: str | None = None
    grown: bool = False
    unit: str = ""
    stat: tuple[int, int] = (0, 0)
    file_sha256: str = ""
    packed: int = 0

    @property
    def file_size(self) -> int:
        """The size of the planned bytes as they lie."""
        return self.packed or self.size

    @property
    def stem(self) -> str:
        """The file's name without its suffix, and without that of its packing."""
        return file_text(Path(self.path.stem).stem if self.packed else self.path.stem)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the file for reading its planned bytes, unpacked."""
        with reading(self.path) as stream:
            yield self.unpacked(stream)

    def unpacked(self, stream: BinaryIO) -> BinaryIO:
        """Return a stream of what the open file holds: itself, unless it is gzipped."""
        return gzip_in.Unpacked(stream, self.packed, self.name) if self.packed else stream

    @property
    def receipt_session(self) -> str:
        """The session id a receipt is filed under: the override, else the unit, else the stem (§1)."""
        return file_text(self.override or self.unit or self.stem)

    @property
    def default_session(self) -> str:
        """The session of rows that name none: the override, else the stem, or a generic stem's folder."""
        if self.override:
            return file_text(self.override)
        if self.stem in _GENERIC_STEMS:
            return file_text(self.path.absolute().parent.name or self.stem)
        return self.stem


@dataclass(frozen=True)
class Probe:
    """A look at a file for detection: its first and last bytes, JSON objects on its first lines, tables.

    Of a gzipped file `head` is unpacked, and `tail` empty.
    """

    head: bytes
    tail: bytes
    path: Path | None = None
    packed: bool = False

    def tables(self) -> dict[str, frozenset[str]]:
        """Return {table: columns} of a SQLite file, {} of any other; raise as `sqlite_in.snapshot`."""
        if self.path is None or not self.head.startswith(sqlite_in.MAGIC):
            return {}
        with sqlite_in.shared(self.path) as connection:
            return sqlite_in.tables(connection)

    def objects(self, limit: int = MAX_PROBED) -> Iterator[dict[str, Any]]:
        """Yield JSON objects on the first lines of the head, those left out that are damaged or empty."""
        return iter([row for number, row in self._rows if number <= limit])

    @property
    def start(self) -> bytes:
        """The head without its byte order mark."""
        return self.head.removeprefix(b"\xef\xbb\xbf")

    def begins(self, pattern: re.Pattern[bytes]) -> bool:
        """Tell whether a file begins as a pattern says."""
        return pattern.match(self.start) is not None

    def mostly(
        self,
        test: Callable[[dict[str, Any]], object],
        *,
        limit: int = MAX_PROBED,
        else_begins: re.Pattern[bytes] | None = None,
    ) -> bool:
        """Tell whether most of the first objects pass a test.

        Where there is none, since the first line may be larger than the head, its beginning decides.
        """
        rows = list(self.objects(limit))
        if not rows:
            return else_begins is not None and self.begins(else_begins)
        return sum(bool(test(row)) for row in rows) * 2 > len(rows)

    @cached_property
    def _rows(self) -> list[tuple[int, dict[str, Any]]]:
        """Objects and the number of their line, read once for all formats that ask."""
        rows: list[tuple[int, dict[str, Any]]] = []
        seen = 0
        for part in self.start.split(b"\n"):
            line = part.strip().lstrip(b"\0")
            seen += bool(line)
            if seen > MAX_PROBED:
                break
            if line[:1] == b"{":
                try:
                    value = tolerant(line).value
                except (ValueError, RecursionError):
                    continue
                if isinstance(value, dict) and value:  # an empty one says of no format that it is not it
                    rows.append((seen, value))
        return rows


@dataclass(frozen=True, slots=True)
class Unit:
    """What is imported under a receipt of its own: a whole file (`key` ""), or one session or run of it.

    `sha256` identifies its content: the file's digest, or that of a canonical projection where the file is
    rewritten in place (importer decision J5). `total` counts its records; `first_time` is in Unix seconds. Of
    units that start at the same time the one of lower `rank` is taken first (what a resumed session repeats
    is shorter than what it goes on to).
    """

    key: str
    sha256: str
    total: int
    first_time: float | None
    rank: int = 0


class Source(ABC):
    """One transcript format, of files or of folders."""

    name: str
    reads: str
    """One line for `formats`."""
    keeps_ids = False
    """Generations and event ids come from the file and are stored as they are."""
    mutable = False
    """Units are rewritten in place: a later state of one supersedes the earlier, and takes its place."""
    revises = False
    """Later lines may change what earlier ones say (a branch is abandoned): stored events are revised."""
    continues = False
    """A unit is part of a session: it goes on with the session's generation instead of opening one."""
    family = ""
    """Formats that may hold the same units share a family: each supersedes what another gave of a unit."""
    embedded = False
    """Its records stand in other programs' files: a format that knows the whole file goes before it."""
    unpacks: bool = False
    """Its files may be gzipped: it reads them through `Input.open`, from the start to the end."""
    gives_not: tuple[str, ...] = ()
    """What the format cannot give, in short phrases."""
    no_transcript = ""
    """Why files of this format are never imported: they are known only to be skipped with this reason."""

    @property
    def unit_family(self) -> str:
        """Under which name this format's units are known."""
        return self.family or self.name

    def detect(self, probe: Probe) -> bool:
        """Tell by content whether a file is of this format."""
        return False

    def claims(self, folder: Path) -> bool:
        """Tell by content whether a folder as a whole is one source of this format."""
        return False

    @abstractmethod
    def units(self, given: Input) -> Iterable[Unit]:
        """Return the units of a source; raise `DataError` where it cannot be read as a whole."""

    @abstractmethod
    def items(self, given: Input) -> Iterable[Item]:
        """Yield the records of the unit `given.unit` in order; raise `DataError` TE207 if it changed."""


class NoTranscript(Source):
    """Files that are known only to be skipped, `no_transcript` saying why."""

    def units(self, given: Input) -> Iterable[Unit]:
        """Return nothing."""
        return ()

    def items(self, given: Input) -> Iterable[Item]:
        """Return nothing."""
        return ()


class FileSource(Source):
    """A format whose file is one unit, read as a stream of its planned bytes."""

    @abstractmethod
    def first_time(self, given: Input, stream: BinaryIO) -> float | None:
        """Return the first readable time of the file in Unix seconds: sources are taken in that order."""

    @abstractmethod
    def count(self, stream: BinaryIO, size: int) -> int:
        """Count the records of the file independently of `read`, so that a receipt can be checked."""

    @abstractmethod
    def read(self, given: Input, stream: BinaryIO) -> Iterable[Item]:
        """Yield the file's records in order; raise `DataError` where the file as a whole cannot be read."""

    def units(self, given: Input) -> Iterable[Unit]:
        """Return the one unit of the file."""
        with given.open() as stream:
            total = self.count(stream, given.size)
            stream.seek(0)
            return [Unit("", given.sha256, total, self.first_time(given, stream))]

    def items(self, given: Input) -> Iterator[Item]:
        """Yield the records, then refuse a file whose planned bytes changed; one that only grew is fine."""
        with reading(given.path) as file:
            yield from self.read(given, given.unpacked(file))
            stat = os.fstat(file.fileno())
            if (stat.st_ino, stat.st_mtime_ns) != given.stat and (
                sha256_part(file, 0, given.file_size) != (given.file_sha256 or given.sha256)
            ):
                raise DataError("TE207", place=given.name)


@cache
def all_sources() -> dict[str, Source]:
    """Return the built-in formats by name, sorted."""
    found: dict[str, Source] = {}
    for module in pkgutil.iter_modules(geode_traj.sources.__path__):
        source = getattr(importlib.import_module(f"geode_traj.sources.{module.name}"), "SOURCE", None)
        if source is not None:
            found[source.name] = source
    return dict(sorted(found.items()))


def by_name(name: str) -> Source:
    """Return a built-in format, or a third party's that carries this name; raise `WorldError` TE105."""
    builtin = all_sources().get(name)
    if builtin is not None:
        return builtin
    for point in entry_points(group="geode_traj.sources", name=name):
        loaded: Source = point.load()
        return loaded
    raise WorldError("TE105", name=name)


def claim(folder: Path) -> Source | None:
    """Return the one format that takes a folder as a whole; raise `DataError` TE206 for several."""
    matches = [source for source in all_sources().values() if source.claims(folder)]
    if len(matches) > 1:
        raise DataError("TE206", names=", ".join(source.name for source in matches), place=str(folder))
    return matches[0] if matches else None


def detect(probe: Probe) -> Source:
    """Return the one format a file's content matches; raise `DataError` TE205 (none), TE206 (several)."""
    known = [source for source in all_sources().values() if source.unpacks or not probe.packed]
    # A format embedded in others' files may have to look at all of a file: only where no other knows it.
    matches = [source for source in known if not source.embedded and source.detect(probe)]
    matches = matches or [source for source in known if source.embedded and source.detect(probe)]
    if not matches:
        raise DataError("TE205")
    if len(matches) > 1:
        raise DataError("TE206", names=", ".join(source.name for source in matches))
    return matches[0]
