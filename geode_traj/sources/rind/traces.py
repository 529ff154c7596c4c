"""Raw traces inside a Rind session's folder: sessions of their own, tied to it by where they lie."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import PurePosixPath

from geode_traj.codec.files import reading
from geode_traj.model.event import Event, Item, Link
from geode_traj.sources.base import Input
from geode_traj.sources.rind.folder import Folder, rows
from geode_traj.sources.rind_llm_trace import SOURCE


def trace(given: Input, folder: Folder, part: str) -> Iterator[Item]:
    """Yield the events of one traced call; they repeat what the session's own messages say."""
    session = PurePosixPath(part).stem
    name = f"{given.name.removesuffix(f'#{given.unit}')}/{part}"
    reader = SOURCE.reader(replace(given, name=name, override=session))
    with reading(folder.path / part) as stream:
        for item in chain(rows(given, stream, reader.rows), reader.end()):
            if isinstance(item, Event):
                item.source = SOURCE.name
            yield item
    yield Link(session, "copy", folder.session_id)
