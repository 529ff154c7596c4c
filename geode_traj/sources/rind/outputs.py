"""Long outputs of a Rind session's tools and tasks: kept while they are there, since they expire."""

from __future__ import annotations

from collections.abc import Iterator

from geode_traj.codec.files import reading, sha256_file
from geode_traj.codec.jsonl import MAX_LINE
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event, Item, Loss
from geode_traj.sources.base import Input
from geode_traj.sources.rind.events import Maker, Record
from geode_traj.sources.rind.folder import Folder


def output(given: Input, folder: Folder, part: str) -> Iterator[Item]:
    r"""Yield one output file as an event; bytes that are no UTF-8 as `\xNN`."""
    digest, size = sha256_file(folder.path / part)
    with reading(folder.path / part) as stream:
        data = stream.read(MAX_LINE) if size <= MAX_LINE else None
    payload: dict[str, object] = {"operation": "tool_output", "name": part, "bytes": size}
    record = Record(part, 1, digest, Tolerated({}), part)
    event: Event = Maker(given, folder.session_id).event(
        "legacy.imported", record, payload, event="tool_output"
    )
    if data is None:
        yield Loss("tool_output_too_large")
    else:
        text = data.decode("utf-8", "backslashreplace")
        payload["content"] = text
        if len(text.encode()) != len(data):
            event.escaped = ("/content",)
    yield event
