"""What an import would do: the dry run is this plan, and the import runs this plan.

Planning reads every source once (digest, format, record count, first time) and the store read-only, if there
is one. Nothing is written.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from geode_traj.codec.files import CHUNK, reading
from geode_traj.errors import DataError, TrajError, WorldError
from geode_traj.model.receipt import MigrateReceipt
from geode_traj.sources.base import HEAD_BYTES, TAIL_BYTES, Input, Probe, Source, by_name, detect
from geode_traj.store import imports, opening

Action = Literal["import", "unchanged", "skip", "fail"]


@dataclass(frozen=True, slots=True)
class Planned:
    """One source of a plan: what would be done with it, and why.

    `total` counts its records, `first_time` is in Unix seconds, `stat` (inode, mtime in ns) when it was read.
    """

    given: Input
    action: Action
    source: Source | None = None
    total: int = 0
    first_time: float | None = None
    reason: str | None = None
    code: str | None = None
    stat: tuple[int, int] = (0, 0)

    def receipt(self) -> MigrateReceipt:
        """Return the receipt of a source that is not read: unchanged, skipped or failed."""
        status = {"unchanged": "unchanged", "skip": "skipped", "fail": "failed", "import": "imported"}
        return MigrateReceipt(
            source=self.given.name,
            format=self.source.name if self.source else None,
            sha256=self.given.sha256 or None,
            bytes=self.given.size,
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
    paths: Iterable[Path], store: Path, *, format_name: str | None = None, session_id: str | None = None
) -> Plan:
    """Plan the import of files and folders into the store at `store`, which need not exist.

    Raises `WorldError` TE102 for a path that does not exist and TE105 for an unknown format; everything that
    concerns one file alone becomes its planned failure.
    """
    chosen = by_name(format_name) if format_name else None
    with ExitStack() as stack:
        connection = stack.enter_context(opening.open_reader(store)) if store.exists() else None
        planned: list[Planned] = []
        seen: dict[str, str] = {}
        for path, named in _files(paths):
            one = _plan_file(path, chosen, session_id, named=named)
            if one.action == "import" and connection is not None:
                one = against(one, imports.receipt(connection, one.given.sha256))
            if one.action == "import" and one.given.sha256 in seen:
                one = _replace(one, "unchanged", f"the same bytes as {seen[one.given.sha256]}")
            seen.setdefault(one.given.sha256, one.given.name)
            planned.append(one)
    rest = [one for one in planned if one.action != "import"]
    todo = [one for one in planned if one.action == "import"]
    todo.sort(key=lambda one: (one.first_time is None, one.first_time or 0.0, os.fsencode(one.given.name)))
    return Plan((*todo, *rest))


def _files(paths: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    """Yield every file, and whether it was named rather than found in a folder."""
    for path in paths:
        if path.is_dir():
            for folder, folders, names in os.walk(path):
                folders.sort(key=os.fsencode)
                for name in sorted(names, key=os.fsencode):
                    yield Path(folder, name), False
        elif path.exists():
            yield path, True
        else:
            raise WorldError("TE102", path=str(path))


def _plan_file(path: Path, chosen: Source | None, session_id: str | None, *, named: bool) -> Planned:
    given = Input(path, os.fsencode(path).decode("utf-8", "backslashreplace"), "", 0, session_id)
    try:
        with reading(path) as stream:
            stat = os.fstat(stream.fileno())
            probe, sha256, size = _look(stream)
            given = Input(path, given.name, sha256, size, session_id)
            try:
                source = chosen or detect(probe)
            except DataError as error:
                # A folder may hold anything; a file that was named is expected to be a transcript.
                unknown = error.code == "TE205" and not named
                return Planned(given, "skip" if unknown else "fail", reason=error.message, code=error.code)
            stream.seek(0)
            total = source.count(stream, size)
            stream.seek(0)
            first = source.first_time(given, stream)
    except TrajError as error:
        return Planned(given, "fail", reason=str(error), code=error.code)
    return Planned(given, "import", source, total, first, stat=(stat.st_ino, stat.st_mtime_ns))


def _look(stream: BinaryIO) -> tuple[Probe, str, int]:
    digest = hashlib.sha256()
    head = stream.read(HEAD_BYTES)
    digest.update(head)
    size, tail = len(head), head[-TAIL_BYTES:]
    while chunk := stream.read(CHUNK):
        digest.update(chunk)
        size += len(chunk)
        tail = chunk[-TAIL_BYTES:] if len(chunk) >= TAIL_BYTES else (tail + chunk)[-TAIL_BYTES:]
    return Probe(head, tail), digest.hexdigest(), size


def against(one: Planned, receipt: imports.Receipt | None) -> Planned:
    """Return what becomes of a source whose bytes the store may hold already: unchanged, or TE301."""
    if receipt is None:
        return one
    override = one.given.override
    if override is not None and override != receipt.session_id:
        error = DataError("TE301", stored=receipt.session_id, given=override)
        return _replace(one, "fail", error.message, error.code)
    return _replace(one, "unchanged", f"recorded under session {receipt.session_id}")


def _replace(one: Planned, action: Action, reason: str, code: str | None = None) -> Planned:
    return Planned(one.given, action, one.source, one.total, one.first_time, reason, code, one.stat)
