"""Parts of an input under scan: bytes in, findings and what keeps the part from counting as clean out.

JSON is searched by its strings and keys, so that escapes hide nothing; anything else as text.
"""

from __future__ import annotations

import hashlib
import hmac
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Final, Literal, NamedTuple

from geode_traj.codec import pointer
from geode_traj.codec.jsonl import lines
from geode_traj.codec.pointer import Trail
from geode_traj.codec.reading import tolerant
from geode_traj.scan.chunks import Edge, Piece, Stretch, find_across, may_hold, pieces
from geode_traj.scan.engine import Scanner
from geode_traj.scan.finding import Clean, ScanFinding, scan_text, scan_value, told, without
from geode_traj.scan.learn import Learner

QUARANTINED: Final = "quarantined"
"""The rule of a finding that stands for a text nobody looked at."""

MAX_PIECES: Final = 1 << 26
"""Bytes, roughly, that the pieces in some parts may take; what is beyond them is not joined."""

_PIECE: Final = 256
Kind = Literal["line", "whole", "raw", "joined"]
Label = int | str | None
Mac = Callable[[str, str], int]


class Part(NamedTuple):
    """A piece of an input: `label` tells it from the others (a line's number, None for the whole input).

    A `line` is JSON or a damaged line of it; `whole` may be one JSON value over several lines, else it is its
    lines; `raw` is a damaged line whatever it looks like, of which nothing is expected; `joined` is a
    `stretch` of what other parts hold pieces of.
    """

    label: Label
    data: bytes
    kind: Kind = "line"
    stretch: Stretch | None = None

    @property
    def size(self) -> int:
        """Bytes, or the characters of a stretch."""
        return len(self.data) if self.stretch is None else self.stretch.size


class Unscanned(NamedTuple):
    """What keeps an input from counting as clean: where, as far as it has a place, and why."""

    label: Label
    pointer: str
    why: str


@dataclass(slots=True)
class Result:
    """What some parts hold. The value numbers of the findings are keyed digests still (`Mac`).

    `pieces` are what may be searched again, joined with pieces of other parts: label, piece, pointer to tell;
    `learner` is who learned from the parts (`learn_parts`).
    """

    findings: list[tuple[Label, ScanFinding]] = field(default_factory=list)
    unscanned: list[Unscanned] = field(default_factory=list)
    pieces: list[tuple[Label, Piece | Edge, str]] = field(default_factory=list)
    learner: Learner = field(default_factory=Learner)


@dataclass(slots=True)
class _Search:
    """The search of some parts: with what, what came of it, the values that may hold pieces of streams."""

    scanner: Scanner
    mac: Mac
    result: Result = field(default_factory=Result)
    streams: list[tuple[Label, Any]] = field(default_factory=list)
    clean: Clean = field(default_factory=Clean)


def keyed(key: bytes) -> Mac:
    """Return what numbers values by a keyed digest: `key` is private to one report."""

    def mac(cls: str, value: str) -> int:
        message = cls.encode() + b"\0" + value.encode("utf-8", "surrogatepass")
        return int.from_bytes(hmac.digest(key, message, hashlib.sha256))

    return mac


def scan_parts(parts: tuple[Part, ...], scanner: Scanner, mac: Mac, skipped: dict[int, str]) -> Result:
    """Search parts in order; `skipped` says why a text that comes back `QUARANTINED` was not looked at."""
    search = _Search(scanner, mac)
    result = search.result
    reasons = iter([skipped[number] for number in sorted(skipped)])
    for part in parts:
        for label, found in _scan(part, search):
            if found.rule == QUARANTINED:
                result.unscanned.append(Unscanned(label, found.pointer, next(reasons)))
            else:
                result.findings.append((label, found))
    # Behind all texts, so that the numbers of these stay what they are.
    _gather(search)
    return result


def _gather(search: _Search) -> None:
    """Keep the pieces in some values, as far as there is room: a whole document may be nothing else."""
    result = search.result
    room = MAX_PIECES
    for label, value in search.streams:
        places = _Places(search.scanner)
        for piece in pieces(value):
            if isinstance(piece, Edge):
                told: tuple[Piece | Edge, str] = (piece, "")
                room -= _PIECE
            else:
                told = (piece._replace(trail=None), places.shown(piece.trail))
                room -= _PIECE + len(piece.text) + len(told[1])
            if room < 0:
                result.unscanned.append(Unscanned(label, "", "it holds too many pieces of streams"))
                return
            result.pieces.append((label, *told))


class _Places:
    """Pointers as reports show them, each key searched once: many pieces stand below the same long keys."""

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner
        self._above: dict[int, tuple[Trail, str]] = {}  # the trail is held: an id is used again

    def shown(self, trail: Trail) -> str:
        """Return a pointer without what is found in its keys, cut as `pointer.shown` does."""
        missing: list[tuple[Trail, str | int]] = []
        while trail is not None and id(trail) not in self._above:
            missing.append((trail, trail[1]))
            trail = trail[0]
        where = self._above[id(trail)][1] if trail is not None else ""
        for at, (there, step) in enumerate(reversed(missing), start=1):
            if len(where) <= pointer.MAX_SHOWN:
                where = pointer.below(where, self._step(step))[: pointer.MAX_SHOWN + 1]
            if at < len(missing):
                self._above[id(there)] = (there, where)
        return where if len(where) <= pointer.MAX_SHOWN else where[:-2] + "…"

    def _step(self, step: str | int) -> str:
        return without(step, self._scanner.find(step)) if isinstance(step, str) else str(step)


def learn_parts(parts: tuple[Part, ...], _scanner: Scanner, _mac: Mac, _skipped: dict[int, str]) -> Result:
    """Learn names from parts (`scan.learn`), instead of searching them."""
    result = Result()
    for part in parts:
        values = None if part.kind == "raw" else _json(part.data.rstrip(b","))
        for value in [part.data.decode("utf-8", "replace")] if values is None else [one for one, _ in values]:
            result.learner.read(value)
    return result


def _scan(part: Part, search: _Search) -> Iterator[tuple[Label, ScanFinding]]:
    """Yield what a part holds."""
    scanner, mac, result = search.scanner, search.mac, search.result
    if part.stretch is not None:
        yield from _across(part.stretch, scanner, mac)
        return
    if part.kind == "raw":
        text = part.data.decode("utf-8", "surrogateescape")
        yield from ((part.label, found) for found in scan_text(text, scanner, mac, damaged=True))
        return
    values = _json(part.data.rstrip(b",") if part.kind == "line" else part.data)
    if values is None and part.kind == "whole":
        for line in lines(io.BytesIO(part.data)):
            yield from _scan(Part(line.number, line.data or b""), search)
        return
    if b"\0" in part.data:
        result.unscanned.append(Unscanned(None, "", "it holds NUL characters"))
    try:
        part.data.decode()
    except UnicodeDecodeError:
        result.unscanned.append(Unscanned(None, "", "it is no UTF-8 text"))
    if values is None:
        text = part.data.decode("utf-8", "backslashreplace")
        yield from ((part.label, one) for one in scan_text(text, scanner, mac, damaged=True))
        return
    yield from ((part.label, one) for one in _in_values(values, search))
    if may_hold(part.data):
        search.streams.append((part.label, values[0][0]))


def _across(stretch: Stretch, scanner: Scanner, mac: Mac) -> Iterator[tuple[Label, ScanFinding]]:
    for label, where, span in find_across(stretch, scanner):
        yield label, told(span, where, mac)
        if span.rule == QUARANTINED:
            return  # told once, where the stretch begins


def _json(data: bytes) -> list[tuple[Any, bool]] | None:
    """Return an object or list, and what its repeated keys held before: (value, whether it is the last).

    None where it is none. What a repeated key held before is text of the file like any other.
    """
    if data.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        read = tolerant(data)
    except (ValueError, RecursionError):
        return None
    values = [(read.value, True)]
    for place, earlier in read.duplicates.items():
        for value in earlier:
            there = reduce(lambda below, step: {step: below}, reversed(pointer.split(place)), value)
            values.append((there, False))
    return values


def _in_values(values: list[tuple[Any, bool]], search: _Search) -> Iterator[ScanFinding]:
    for value, last in values:
        for found in scan_value(value, search.scanner, search.mac, search.clean):
            if last or not found.in_key or found.rule == QUARANTINED:
                yield found
