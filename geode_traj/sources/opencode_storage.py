"""OpenCode's storage folder of earlier versions: one JSON file a session, a message, a part."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from geode_traj.errors import DataError
from geode_traj.model.event import Item
from geode_traj.sources.base import Input, Source, Unit, file_text
from geode_traj.sources.opencode.folder import Folder, Index, index
from geode_traj.sources.opencode.reader import Reader, first_time
from geode_traj.sources.opencode.record import FAMILY, GIVES_NOT
from geode_traj.sources.tables import digest


class OpenCodeStorage(Source):
    """Reads the sessions of a folder, one unit each."""

    name = "opencode-storage"
    family = FAMILY
    mutable = True
    reads = "OpenCode storage folders: session, message, part, todo"
    gives_not = GIVES_NOT

    def claims(self, folder: Path) -> bool:
        """Match a folder of sessions whose messages lie in files of their own."""
        try:
            return Folder.open(folder) is not None
        except OSError:
            return False

    def units(self, given: Input) -> Iterator[Unit]:
        """Yield one unit a session: its identity is that of its files' contents."""
        _opened.cache_clear()  # the folder is looked through anew for each plan, once for all its units
        folder, found = _opened(given.path, file_text(given.path))
        for key in found.files:
            identities, first = [], None
            for record in folder.records(key, found):
                identities.append(record.identity)
                if first is None and record.kind in ("session", "message"):
                    first = first_time(record.info)
            if identities:
                yield Unit(key, digest(identities), len(identities), first)

    def items(self, given: Input) -> Iterator[Item]:
        """Yield one session's records; refuse it when its files are not as they were planned."""
        folder, found = _opened(given.path, file_text(given.path))
        reader = Reader(given, given.unit or given.default_session)
        yield from reader.items(folder.records(given.unit, found))
        if digest(reader.identities) != given.sha256:
            raise DataError("TE207", place=given.name)


@lru_cache(maxsize=1)
def _opened(path: Path, name: str) -> tuple[Folder, Index]:
    folder = Folder.open(path)
    if folder is None:
        raise DataError("TE208", name="OpenCode", why="not a storage folder", place=name)
    return folder, index(folder)


SOURCE = OpenCodeStorage()
