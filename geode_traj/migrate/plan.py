"""What an import would do: the dry run is this plan, and the import runs this plan.

Planning reads every source once (digest, format, record count, first time) and the store read-only, if there
is one. Nothing is written.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final, Literal

from geode_traj.codec.files import CHUNK, is_folder, reading, walk
from geode_traj.codec.gzip_in import MAGIC, Unpacked
from geode_traj.codec.jsonl import MAX_LINE
from geode_traj.errors import DataError, TrajError
from geode_traj.model.receipt import MigrateReceipt
from geode_traj.sources.base import (
    HEAD_BYTES,
    TAIL_BYTES,
    Input,
    Probe,
    Source,
    by_name,
    claim,
    detect,
    file_text,
)
from geode_traj.store import imports, opening, units

OLDER: Final = "an earlier state of what is stored"
Action = Literal["import", "unchanged", "skip", "fail"]


@dataclass(frozen=True, slots=True)
class Planned:
    """One source of a plan: what would be done with it, and why.

    `total` counts its records, `first_time` is in Unix seconds.
    """

    given: Input
    action: Action
    source: Source | None = None
    total: int = 0
    first_time: float | None = None
    reason: str | None = None
    code: str | None = None
    rank: int = 0

    @property
    def reader(self) -> Source:
        """The format to read it with."""
        if self.source is None:
            raise RuntimeError("a source without a format is never read")
        return self.source

    def receipt(self) -> MigrateReceipt:
        """Return the receipt of a source that is not read: unchanged, skipped or failed."""
        status = {"unchanged": "unchanged", "skip": "skipped", "fail": "failed", "import": "imported"}
        return MigrateReceipt(
            source=self.given.name,
            format=self.source.name if self.source else None,
            sha256=self.given.sha256 or None,
            bytes=self.given.file_size if self.given.sha256 else None,
            status=status[self.action],  # type: ignore[arg-type]
            reason=self.reason,
            code=self.code,
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """All sources in the order they are taken: those to import by first time, then path; the rest by path."""

    sources: tuple[Planned, ...]

    @property
    def records(self) -> int:
        """Records of the sources that would be imported."""
        return sum(planned.total for planned in self.sources if planned.action == "import")


def plan(
    paths: Iterable[Path],
    store: Path | None,
    *,
    format_name: str | None = None,
    session_id: str | None = None,
) -> Plan:
    """Plan the import of files and folders into the store at `store`, which need not exist.

    Without one (None) nothing is known already.
    Raises `WorldError` TE105 for an unknown format; what concerns one path alone, a missing one too, becomes
    its planned failure.
    """
    chosen = by_name(format_name) if format_name else None
    with ExitStack() as stack:
        connection = stack.enter_context(opening.open_reader(store)) if store and store.exists() else None
        planned: list[Planned] = []
        seen: dict[str, str] = {}
        for path, named, source in _walk(paths):
            for found in _plan_source(path, source or chosen, session_id, named=named):
                one = found
                if one.action == "import" and connection is not None:
                    one = against(one, connection)
                if one.action == "import" and one.given.sha256 in seen:
                    reason = f"the same bytes as {seen[one.given.sha256]}"
                    one = replace(one, action="unchanged", reason=reason)
                seen.setdefault(one.given.sha256, one.given.name)
                planned.append(one)
    rest = [one for one in planned if one.action != "import"]
    todo = [one for one in planned if one.action == "import"]
    todo.sort(
        key=lambda one: (one.first_time is None, one.first_time or 0.0, one.rank, os.fsencode(one.given.name))
    )
    return Plan((*todo, *rest))


def _walk(paths: Iterable[Path]) -> Iterator[tuple[Path, bool, Source | None]]:
    """Yield every file and every folder that is one source: path, whether it was named, a folder's format."""
    for path in paths:
        claimed: dict[Path, Source] = {}

        def whole(folder: Path, claimed: dict[Path, Source] = claimed) -> bool:
            source = claim(folder)
            if source is not None:
                claimed[folder] = source
            return source is not None

        for found in walk(path, whole):
            yield found, found == path, claimed.get(found)


def _plan_source(
    path: Path, source: Source | None, session_id: str | None, *, named: bool
) -> Iterator[Planned]:
    given = Input(path, file_text(path), "", 0, session_id)
    try:
        if not (is_folder(path) and source is not None):
            with reading(path) as stream:
                stat = os.fstat(stream.fileno())
                probe, sha256, size = _look(stream, path)
            seen = (stat.st_ino, stat.st_mtime_ns)
            given = replace(given, sha256=sha256, size=size, stat=seen, file_sha256=sha256)
            try:
                source = source or detect(probe)
            except DataError as error:
                # A folder may hold anything; a file that was named is expected to be a transcript.
                unknown = error.code == "TE205" and not named
                yield Planned(given, "skip" if unknown else "fail", reason=error.message, code=error.code)
                return
            if probe.packed and source.unpacks:
                given = replace(given, packed=size, size=_unpacked_size(replace(given, packed=size)))
        if source is not None and source.no_transcript:
            yield Planned(given, "skip", source, reason=source.no_transcript)
            return
        for unit in source.units(given) if source else ():
            name = f"{given.name}#{unit.key}" if unit.key else given.name
            one = replace(given, name=name, unit=unit.key, sha256=unit.sha256)
            yield Planned(one, "import", source, unit.total, unit.first_time, rank=unit.rank)
    except TrajError as error:
        yield Planned(given, "fail", source, reason=str(error), code=error.code)


def _look(stream: BinaryIO, path: Path) -> tuple[Probe, str, int]:
    digest = hashlib.sha256()
    head = _head(stream)
    digest.update(head)
    size, tail = len(head), head[-TAIL_BYTES:]
    while chunk := stream.read(CHUNK):
        digest.update(chunk)
        size += len(chunk)
        tail = chunk[-TAIL_BYTES:] if len(chunk) >= TAIL_BYTES else (tail + chunk)[-TAIL_BYTES:]
    if head.startswith(MAGIC):
        probe = Probe(_head(Unpacked(stream, size, str(path))), b"", path, packed=True)
    else:
        probe = Probe(head, tail, path)
    return probe, digest.hexdigest(), size


def _head(stream: BinaryIO) -> bytes:
    head = stream.read(HEAD_BYTES)
    if len(head) == HEAD_BYTES and b"\n" not in head:  # one long first line must not hide the format
        head += stream.readline(MAX_LINE)
    return head


def _unpacked_size(given: Input) -> int:
    """Return what a gzipped file unpacks to; raise `DataError` TE203 for what only a bomb would."""
    size = 0
    with given.open() as stream:
        while chunk := stream.read(CHUNK):
            size += len(chunk)
    return size


def against(one: Planned, connection: sqlite3.Connection) -> Planned:
    """Return what becomes of a source whose bytes the store may know already: unchanged, or TE301.

    A unit that is back in an earlier state, where its latest state came from, is imported once more (J5).
    """
    receipt = imports.receipt(connection, one.given.sha256)
    if receipt is None:
        return one
    override = one.given.override
    if override is not None and one.given.receipt_session != receipt.session_id:
        error = DataError("TE301", stored=receipt.session_id, given=override)
        return replace(one, action="fail", reason=error.message, code=error.code)
    if one.reader.mutable:
        state = units.state(connection, one.reader.unit_family, one.given.unit)
        if state is not None and state[0] != one.given.sha256:
            if state[1] == one.given.name:
                return one
            return replace(one, action="unchanged", reason=OLDER)
    return replace(one, action="unchanged", reason=f"recorded under session {receipt.session_id}")
