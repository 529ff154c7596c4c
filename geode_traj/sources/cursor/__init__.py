"""Cursor agent transcripts: `agent-transcripts/<id>/<id>.jsonl`, one message a line.

A sub-agent's transcript is a file of its own, `agent-transcripts/<id>/subagents/<child>.jsonl`: only this
path tells whose it is.
"""

from __future__ import annotations

import re
from typing import Any, Final

from geode_traj.sources.base import Input, Probe
from geode_traj.sources.cursor.reader import Reader
from geode_traj.sources.cursor.said import time_told
from geode_traj.sources.lines import JsonLines
from geode_traj.sources.values import iso_time

_ROLES: Final = frozenset({"user", "assistant"})
_FRAME: Final = frozenset({"id", "role", "message", "timestamp"})
_MESSAGE: Final = frozenset({"id", "role", "content", "model"})
_TURN_END: Final = frozenset({"type", "status", "error"})
# Where no line of a look at the file is whole: a first line longer than the look.
_LONG: Final = re.compile(rb'\A[\s\0]*\{"role":"(?:user|assistant)","message":\{"content":(?:"|\[\{"type":")')


class Cursor(JsonLines):
    """One transcript: a conversation, or that of a sub-agent."""

    name = "cursor"
    reads = "Cursor agent transcripts, JSONL"
    gives_not = (
        "an explicit end",
        "message ids",
        "call ids",
        "results of tools",
        "the time of a response (a prompt may tell its own, to the minute)",
        "models",
        "the provider",
        "usage",
        "turn ids",
        "thoughts (a mark tells that there were some)",
        "which call started a sub-agent",
    )

    def detect(self, probe: Probe) -> bool:
        """Match messages in a frame of role and message alone; a file may hold but the ends of turns."""
        return probe.mostly(lambda row: is_message(row) or _is_turn_end(row), else_begins=_LONG)

    def time_of(self, row: dict[str, Any]) -> float | None:
        """Return the time that a row tells, in its frame or in what it says."""
        told = iso_time(row.get("timestamp"))[0]
        return told if told is not None else time_told(row)

    def reader(self, given: Input) -> Reader:
        """Return a reader of one file's rows."""
        return Reader(given)


def is_message(row: dict[str, Any]) -> bool:
    """Tell whether an object can only be a message of such a transcript."""
    message, role = row.get("message"), row.get("role")
    if not isinstance(message, dict) or not isinstance(role, str) or role not in _ROLES:
        return False
    if not _FRAME.issuperset(row) or not _MESSAGE.issuperset(message):
        return False
    return isinstance(message.get("content"), str | list)


def _is_turn_end(row: dict[str, Any]) -> bool:
    return (
        row.get("type") == "turn_ended" and isinstance(row.get("status"), str) and _TURN_END.issuperset(row)
    )


SOURCE = Cursor()
