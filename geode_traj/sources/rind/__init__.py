"""Rind sessions: a folder of `meta.json`, `messages.jsonl` and journals beside them, as one source.

The session is one unit, rewritten in place. Long outputs expire after days, so each is a unit of its own that
stays in the store when its file is gone; so is each raw model trace, as a session of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from geode_traj.errors import DataError
from geode_traj.model.event import Item
from geode_traj.sources.base import Input, Source, Unit
from geode_traj.sources.rind.folder import Folder, is_session
from geode_traj.sources.rind.merge import Merge
from geode_traj.sources.rind.outputs import output
from geode_traj.sources.rind.traces import trace


class Rind(Source):
    """A session folder as Rind keeps it below `sessions/`."""

    name = "rind"
    reads = "Rind session folders: meta.json, messages.jsonl, tool calls, compactions, tasks, plan, outputs"
    mutable = True
    continues = True
    gives_not = ("an explicit end", "turn ids of most rows", "usage (it is in rind-usage)", "expired outputs")

    def claims(self, folder: Path) -> bool:
        """Match a folder with a `meta.json` of schema version 2.0 and `messages.jsonl`."""
        return is_session(folder)

    def units(self, given: Input) -> Iterable[Unit]:
        """Return the session, then each output and each raw trace below it."""
        if not given.path.is_dir():
            raise DataError("TE208", name=self.name, why="not a session folder", place=given.name)
        folder = Folder.open(given.path)
        first = folder.first_time()
        yield Unit(folder.session_id, folder.digest(), folder.count(), first)
        for part in folder.outputs():
            yield Unit(folder.unit(part), folder.part_digest(part), 1, first, rank=1)
        for part in folder.traces():
            yield Unit(folder.unit(part), folder.part_digest(part), folder.lines(part), first, rank=1)

    def items(self, given: Input) -> Iterator[Item]:
        """Yield the unit's records; refuse it when its files no longer have the planned digest."""
        folder = Folder.open(given.path)
        part = folder.part(given.unit)
        if part is None:
            yield from Merge(given, folder).items()
            now = folder.digest()
        else:
            yield from (trace if folder.is_trace(part) else output)(given, folder, part)
            now = folder.part_digest(part)
        if now != given.sha256:
            raise DataError("TE207", place=given.name)


SOURCE = Rind()
