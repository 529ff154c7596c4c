"""The events that findings name, one line each, for people: what kind it is and whose, never its payload."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from geode_traj.codec.files import reading
from geode_traj.codec.jsonl import lines
from geode_traj.codec.reading import tolerant
from geode_traj.codec.text import clip
from geode_traj.errors import TrajError
from geode_traj.model.report import Entry, Report

# More than people read; the rest stays with its number.
MAX_LINES: Final = 200
_WIDTH: Final = 140
_WORD: Final = 40


def shown(report: Report) -> Report:
    """Return the report with the lines of its findings; a file that cannot be read again has none."""
    return replace(report, entries=tuple(map(_entry, report.entries)))


def _entry(entry: Entry) -> Entry:
    wanted = sorted({found.place.line for found in entry.findings if found.place.line is not None})
    if not wanted or entry.path == "-":
        return entry
    try:
        return replace(entry, lines=_lines(Path(entry.path), wanted[:MAX_LINES]))
    except TrajError:
        return entry


def _lines(path: Path, wanted: Iterable[int]) -> dict[int, str]:
    left = set(wanted)
    found: dict[int, str] = {}
    with reading(path) as stream:
        for line in lines(stream):
            if line.number in left:
                left.remove(line.number)
                if line.data is not None and (text := _told(line.data)):
                    found[line.number] = text
            if not left:
                break
    return found


def _told(data: bytes) -> str:
    try:
        value: Any = tolerant(data.strip().removesuffix(b",")).value
    except (ValueError, RecursionError):
        return ""
    if not isinstance(value, dict):
        return ""
    ids = [f"{name} {value[key]}" for key, name in _IDS if isinstance(value.get(key), str) and value[key]]
    words = [clip(value[key], _WORD) for key in _WORDS if isinstance(value.get(key), str)]
    return clip("  ".join([*words, *ids]), _WIDTH)


# Ours and those of other formats; what such keys hold is a name, and no payload.
_WORDS: Final = ("occurred_at", "timestamp", "kind", "event", "type", "role", "actor")
_IDS: Final = (("session_id", "session"), ("turn_id", "turn"), ("call_id", "call"))
