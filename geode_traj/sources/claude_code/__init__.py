"""Claude Code transcripts: `<sessionId>.jsonl` and `agent-<agentId>.jsonl`, one JSON object a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from geode_traj.sources.base import HEAD_BYTES, Input, Probe, Unit
from geode_traj.sources.claude_code.beside import Beside
from geode_traj.sources.claude_code.rows import Reader
from geode_traj.sources.claude_code.survey import look
from geode_traj.sources.lines import JsonLines
from geode_traj.sources.values import iso_time

_TURNS: Final = frozenset({"user", "assistant"})
_TREE: Final = frozenset({"user", "assistant", "system", "attachment", "progress"})
_SESSION_ROWS: Final = frozenset(
    "queue-operation last-prompt ai-title custom-title mode permission-mode agent-setting pr-link".split()
)
# Where no line of a look at the file is whole: a first line longer than the look.
_LONG: Final = re.compile(rb'\A[\s\0]*\{"(?:parentUuid|type|uuid|sessionId|isSidechain|message)"\s*:')
_OWN: Final = re.compile(rb'"(?:parentUuid|isSidechain|sessionId)"\s*:')


class ClaudeCode(JsonLines):
    """Session and sub-agent transcripts of Claude Code."""

    name = "claude-code"
    reads = "Claude Code session and sub-agent JSONL"
    revises = True
    gives_not = (
        "an explicit end",
        "turn ids",
        "the provider",
        "reasoning token counts",
        "costs",
        "long outputs and notes of sub-agents that come to lie beside it later, until it grows",
    )

    def detect(self, probe: Probe) -> bool:
        """Match when a line is a row of a conversation, or of the kinds that stand beside one."""
        seen = False
        for row in (*probe.objects(), *_tail(probe)):
            seen = True
            if is_row(row):
                return True
        return not seen and bool(_LONG.match(probe.head) and _OWN.search(probe.head + probe.tail))

    def time_of(self, row: dict[str, Any]) -> float | None:
        """Return a row's timestamp where it can be read."""
        return iso_time(row.get("timestamp"))[0]

    def units(self, given: Input) -> Iterator[Unit]:
        """Yield the file's one unit; what a resumed session repeats is shorter than what it goes on to."""
        for unit in super().units(given):
            yield replace(unit, rank=given.size)

    def reader(self, given: Input) -> Reader:
        """Return a reader of one file's rows, which has looked at the whole file once."""
        with given.open() as stream:
            looking = look(stream, given.size, given.default_session)
        beside = Beside.of(given, looking.first_session)
        return Reader(given, looking.done(beside.started), beside)


def is_row(row: dict[str, Any]) -> bool:
    """Tell whether an object can only be a row of a Claude Code transcript."""
    kind = row.get("type")
    if not isinstance(kind, str):
        return False
    if kind in _TREE and isinstance(row.get("uuid"), str):
        return "sessionId" in row or "parentUuid" in row or (kind in _TURNS and _speaks(row, kind))
    if kind == "summary":
        return "leafUuid" in row
    if kind == "file-history-snapshot":
        return "messageId" in row
    return kind in _SESSION_ROWS and isinstance(row.get("sessionId"), str)


def _speaks(row: dict[str, Any], kind: str) -> bool:
    message = row.get("message")
    return isinstance(message, dict) and message.get("role", kind) == kind


def _tail(probe: Probe) -> Iterable[dict[str, Any]]:
    """Return the objects on the last lines, where the first ones are longer than a look at the file."""
    return Probe(probe.tail, b"").objects() if len(probe.head) >= HEAD_BYTES else ()


SOURCE = ClaudeCode()
