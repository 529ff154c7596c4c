"""The text around a finding, read from the candidate whenever somebody looks: it is stored nowhere else."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from geode_traj.codec import pointer
from geode_traj.codec.files import reading
from geode_traj.codec.framed import is_framed, read
from geode_traj.codec.jsonl import MAX_LINE
from geode_traj.codec.reading import loads
from geode_traj.codec.text import clip
from geode_traj.contract import review_folder
from geode_traj.contract.gates import find_hits, may_hit
from geode_traj.errors import DataError
from geode_traj.review.folder import Found, Review

_TOLD_BY: Final = 2
"""A file that only begins like a line-framed one shows that by its first two events (`codec.framed`)."""


class Context(NamedTuple):
    """A finding where it stands: the text before it, the finding itself, the text after it."""

    before: str
    inside: str
    after: str


class Candidates:
    """The candidates of a review, one event at a time; of a line-framed one only places are remembered."""

    def __init__(self, review: Review) -> None:
        self._review = review
        self._last: tuple[object, Any] = (None, None)

    def value(self, path: str, ordinal: int | None) -> Any:
        """Return an event of a candidate, or what stands around its events (None).

        Raises `DataError` TE307 for an event that is not there, and what reading raises.
        """
        file = self._review.folder / review_folder.CANDIDATE / path
        with reading(file) as stream:
            known = os.fstat(stream.fileno())
            changes = known.st_ino, known.st_size, known.st_mtime_ns
            index = _index(file, self._review.of_path(path).events, changes)
            if ordinal is None:
                return index.head
            if self._last[0] == (path, ordinal, changes):
                return self._last[1]
            if not 0 < ordinal <= len(index.values or index.ends):
                why = f"event {ordinal} of {clip(path, 128)} is not there"
                raise DataError("TE307", place=path, why=why)
            if index.values:
                return index.values[ordinal - 1]
            start = index.ends[ordinal - 2] if ordinal > 1 else index.start
            stream.seek(start)
            line = stream.read(index.ends[ordinal - 1] - start)
            value = loads(line.rstrip(b"\r\n").removesuffix(b","), place=f"{path}, event {ordinal}")
            self._last = (path, ordinal, changes), value
            return value

    def text(self, found: Found) -> str:
        """Return the text that holds a finding; "" where none stands there."""
        value = self.value(found.path, found.ordinal)
        *parents, last = pointer.split(found.pointer) or [""]
        for step in parents if found.in_key else pointer.split(found.pointer):
            value = pointer.step_into(value, step)
        if found.in_key:
            return _key(value, last)
        return value if isinstance(value, str) else ""


class _Index(NamedTuple):
    """Where the events of a file stand: from `start`, each up to the next of `ends`; or all its values."""

    head: dict[str, Any]
    start: int
    ends: array[int]
    values: list[Any]


@lru_cache(maxsize=64)
def _framed(file: Path, events: int, _changes: tuple[int, ...]) -> _Index | None:
    """Return where the lines of a line-framed file stand, None for another layout: no event is kept."""
    with reading(file) as stream:
        first = stream.readline(MAX_LINE)
        if not is_framed(first.rstrip(b"\r\n")):
            return None
        start = end = stream.tell()
        ends = array("Q")
        for line in stream:
            if line.startswith(b"]"):
                break
            if len(ends) < _TOLD_BY and not _is_value(line.rstrip(b"\r\n").removesuffix(b",")):
                return None
            end += len(line)
            ends.append(end)
        else:
            return None
        head = loads(first + line + stream.read(), place=file.name)
        head.pop("events", None)
    return _Index(head, start, ends, []) if len(ends) == events else None


@lru_cache(maxsize=1)
def _whole(file: Path, _changes: tuple[int, ...]) -> _Index:
    with reading(file) as stream:
        document = read(stream, place=file.name)
        values = [text.value for text in document.events]
    return _Index(document.head, 0, array("Q"), values)


def _index(file: Path, events: int, changes: tuple[int, ...]) -> _Index:
    return _framed(file, events, changes) or _whole(file, changes)


def _is_value(data: bytes) -> bool:
    try:
        return isinstance(loads(data), dict)
    except DataError:
        return False


def of(found: Found, text: str, around: int) -> Context:
    """Return a finding with `around` characters of its text on each side."""
    start, end = found.span or (0, len(text))
    return Context(text[max(0, start - around) : start], text[start:end], text[end : end + around])


def reveal(review: Review, found: Found, *, reviewer: str, at: str) -> None:
    """Note in the journal that a reviewer looks at what is masked otherwise; it is on disk before they do."""
    review.journal.append(at, [("revealed", {"reviewer": reviewer, "finding": found.id})])


def gated(review: Review, findings: Iterable[Found]) -> Iterator[tuple[Found, list[str]]]:
    """Yield the findings at which a text holds what the gates of a release refuse, with the classes."""
    candidates = Candidates(review)
    for found in findings:
        text = candidates.text(found)
        start, end = found.span or (0, len(text))
        hits = find_hits(text) if may_hit(text) else ()
        classes = sorted({hit.cls for hit in hits if hit.start < end and start < hit.end})
        if classes:
            yield found, classes


def _key(value: Any, shown: str) -> str:
    """Return the key that a pointer shows: one that holds a finding is shown without it."""
    if not isinstance(value, dict):
        return ""
    if shown in value:
        return shown
    head = shown.partition("[REDACTED:")[0]
    return next((key for key in value if key.startswith(head)), "")
