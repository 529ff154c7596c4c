"""Claude Code sessions as one JSON document, `{"loglines": [row, …]}`: the rows of a transcript in a list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Damaged, Item
from geode_traj.sources.base import Input, Probe
from geode_traj.sources.claude_code.rows import Reader
from geode_traj.sources.claude_code.survey import Looking
from geode_traj.sources.document import JsonDocument
from geode_traj.sources.values import iso_time

_HEAD: Final = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\{\s*"loglines"\s*:\s*\[')
_POINTER: Final = re.compile(r"/loglines/(\d+)(/.*)", re.DOTALL)


class ClaudeCodeLoglines(JsonDocument):
    """A session that was fetched as a document."""

    name = "claude-code-loglines"
    reads = "Claude Code sessions as one JSON document with loglines"
    revises = True
    gives_not = ("an explicit end", "turn ids", "the provider", "reasoning token counts", "costs")

    def detect(self, probe: Probe) -> bool:
        """Match an object that begins with the list of its rows."""
        return bool(_HEAD.match(probe.head))

    def records(self, value: Any) -> list[Any]:
        """Return the rows."""
        rows = value.get("loglines") if isinstance(value, dict) else None
        return rows if isinstance(rows, list) else []

    def time_of(self, record: Any) -> float | None:
        """Return a row's timestamp where it can be read."""
        return iso_time(record.get("timestamp"))[0] if isinstance(record, dict) else None

    def document(self, given: Input, read: Tolerated) -> Iterator[Item]:
        """Yield what each row gives; `line` is its place in the list, from 1."""
        rows = self.records(read.value)
        looking = Looking(given.default_session)
        for number, row in enumerate(rows, start=1):
            if isinstance(row, dict):
                looking.row(number, row)
        reader = Reader(given, looking.done())
        met = _by_row(read)
        for number, row in enumerate(rows, start=1):
            data = dumps(row)
            if isinstance(row, dict):
                escaped, nonfinite, duplicates = met.get(number - 1, ([], [], {}))
                own = Tolerated(row, escaped, nonfinite, duplicates)
                yield from reader.row(number, sha256_bytes(data), own)
            else:
                yield Damaged(number, 0, len(data), sha256_bytes(data), "not_object", data)
        yield from reader.end()


def _by_row(read: Tolerated) -> dict[int, tuple[list[str], list[str], dict[str, list[Any]]]]:
    """Return what the reading met, by the index of its row and with pointers into it."""
    found: dict[int, tuple[list[str], list[str], dict[str, list[Any]]]] = {}
    for place, pointers in ((0, read.escaped), (1, read.nonfinite), (2, list(read.duplicates))):
        for pointer in pointers:
            inner = _POINTER.fullmatch(pointer)
            if inner:
                own = found.setdefault(int(inner[1]), ([], [], {}))
                if place == 2:
                    own[2][inner[2]] = read.duplicates[pointer]
                else:
                    (own[0] if place == 0 else own[1]).append(inner[2])
    return found


SOURCE = ClaudeCodeLoglines()
