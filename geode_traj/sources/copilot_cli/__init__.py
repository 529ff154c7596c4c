"""Session logs of GitHub Copilot CLI: `session-state/<sessionId>/events.jsonl`, one event a line.

A resumed session goes on in the same file. Sub-agents write into the log of the session that started them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.jsonl import Line
from geode_traj.model.event import Damaged, Item, Loss
from geode_traj.sources.base import Input, Probe
from geode_traj.sources.copilot_cli import known
from geode_traj.sources.copilot_cli.reader import Reader
from geode_traj.sources.copilot_cli.torn import whole_in
from geode_traj.sources.lines import JsonLines
from geode_traj.sources.values import iso_time


class CopilotCli(JsonLines):
    """One log, with the sessions of the sub-agents in it."""

    name = "copilot-cli"
    reads = "GitHub Copilot CLI session logs, events.jsonl"
    gives_not = (
        "turn ids of a person's turns",
        "the provider",
        "usage of a single response (its output tokens alone; the rest when the session shuts down)",
        "costs in money",
        "usage of sub-agents apart from their session's",
    )

    def detect(self, probe: Probe) -> bool:
        """Match rows of which most have the frame of events, one at least unmistakably."""
        rows = list(probe.objects())
        return known.is_log(rows) if rows else probe.begins(known.LONG)

    def time_of(self, row: dict[str, Any]) -> float | None:
        """Return a row's timestamp where it can be read."""
        return iso_time(row.get("timestamp"))[0]

    def reader(self, given: Input) -> Reader:
        """Return a reader of one file's rows."""
        return Reader(given)

    def read(self, given: Input, stream: BinaryIO) -> Iterator[Item]:
        """Yield what each line gives; of a line that a torn event and a whole one share, the whole one."""
        reader = self.reader(given)
        for item in _With(reader).read(given, stream):
            found = whole_in(item.data) if isinstance(item, Damaged) and item.data else None
            if found is None or not isinstance(item, Damaged) or item.data is None:
                yield item
                continue
            start, read = found
            data = item.data[start:]
            yield Loss("torn_record")
            line = Line(item.line, item.offset + start, len(data), data, True)
            yield from reader.rows(line, sha256_bytes(data), read, torn=item.data[:start])


class _With(JsonLines):
    """Reads lines with a reader that is known outside."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def time_of(self, row: dict[str, Any]) -> float | None:
        """Return nothing: nobody asks."""
        return None

    def reader(self, given: Input) -> Reader:
        """Return the reader."""
        return self._reader


SOURCE = CopilotCli()
