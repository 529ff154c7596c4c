"""Hermes's legacy gateway transcripts: chat rows as JSON lines, one file a session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.jsonl import Line
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Item, Link
from geode_traj.sources.base import Input, Probe
from geode_traj.sources.hermes import parts
from geode_traj.sources.hermes.beside import stored_session
from geode_traj.sources.hermes.messages import MessageRow, Messages
from geode_traj.sources.lines import JsonLines

_OPENING: Final = re.compile(rb'\s{0,16}\{\s{0,16}"role"\s{0,16}:\s{0,16}"session_meta"')


class HermesGateway(JsonLines):
    """Reads `sessions/<id>.jsonl`; one that `state.db` beside it holds too becomes a copy linked to that."""

    name = "hermes-gateway"
    reads = "Hermes gateway transcripts, JSONL that opens with session_meta"
    gives_not = ("session ids in rows", "a time zone", "turn ids", "usage", "an explicit end")

    def detect(self, probe: Probe) -> bool:
        """Match a first object of role `session_meta`."""
        row = next(probe.objects(), None)
        if row is None:  # its tool schemas may be larger than the head
            return probe.begins(_OPENING)
        return row.get("role") == "session_meta"

    def time_of(self, row: dict[str, Any]) -> float | None:
        """Return a row's time."""
        return parts.moment(row.get("timestamp"))[0]

    def reader(self, given: Input) -> _Reader:
        """Return a reader of one file's rows."""
        return _Reader(given)


class _Reader:
    def __init__(self, given: Input) -> None:
        self._given = given
        self._stored = stored_session(given.path, given.default_session)
        self._session = f"{self._stored}.gateway" if self._stored else given.default_session
        self._messages = Messages(given, self._session)

    def rows(self, line: Line, sha256: str, read: Tolerated) -> Iterator[Item]:
        """Yield what the rows so far give."""
        if read.value.get("role") == "session_meta":
            model = read.value.get("model")
            self._messages.model = model if isinstance(model, str) else ""
        row = MessageRow(read.value, line.number, sha256, "", read.escaped, read.nonfinite, read.duplicates)
        yield from self._messages.take(row)

    def end(self) -> Iterator[Item]:
        """Yield what was held back, and the link to the store's own record of the session."""
        yield from self._messages.end()
        if self._stored:
            yield Link(self._session, "copy", self._stored)


SOURCE = HermesGateway()
