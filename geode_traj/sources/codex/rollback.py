"""Turns that a later line of a rollout takes back."""

from __future__ import annotations

from typing import Any, BinaryIO, Final

from geode_traj.codec.files import CHUNK
from geode_traj.codec.jsonl import lines
from geode_traj.codec.reading import tolerant
from geode_traj.sources.base import Input
from geode_traj.sources.codex.reader import Reader

_ROLLBACK: Final = b"thread_rolled_back"


def abandoned(given: Input) -> list[tuple[int, int]]:
    """Return the (first, last) line numbers of turns that a rollback in the file took back.

    The file is read once more, and only if it holds a rollback: its events stand after what they undo.
    """
    with given.open() as stream:
        if not _holds(stream, given.size, _ROLLBACK):
            return []
        stream.seek(0)
        reader = Reader(given)
        asked: list[int] = []
        left: list[tuple[int, int]] = []
        for line in lines(stream, size=given.size):
            try:
                read = tolerant(line.data or b"")
            except (ValueError, RecursionError):
                continue
            if not isinstance(read.value, dict):
                continue
            for _ in reader.rows(line, "", read):
                pass
            if reader.asked:
                asked.append(line.number)
            count = _rolled_back(read.value)
            if count and asked:
                first = asked[-count] if count <= len(asked) else asked[0]
                del asked[-count:]
                left.append((first, line.number - 1))
        return left


def _holds(stream: BinaryIO, size: int, word: bytes) -> bool:
    """Tell whether the first `size` bytes hold a word."""
    tail = b""
    while size > 0 and (chunk := stream.read(min(size, CHUNK))):
        if word in tail + chunk:
            return True
        size -= len(chunk)
        tail = chunk[-len(word) :]
    return False


def _rolled_back(value: dict[str, Any]) -> int:
    """Return how many turns a line takes back."""
    payload = value.get("payload")
    if not isinstance(payload, dict) or payload.get("type") != _ROLLBACK.decode():
        return 0
    count = payload.get("num_turns")
    return count if type(count) is int and count > 0 else 0
