"""Units of a scan, and after them what the pieces of streams in them hold together (`scan.chunks`).

Workers send the pieces they meet back, these are joined here without a look at what they say, and searched by
workers again, in their time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, cast

from geode_traj.jobs.scan_parts import Label, Part, Result
from geode_traj.jobs.scan_workers import SECONDS, Unit, scan_units
from geode_traj.scan.chunks import VIEW, Blocks, Stretch
from geode_traj.scan.engine import Scanner
from geode_traj.scan.finding import ScanFinding

Observer = Callable[[int], None]
"""Is told how many more bytes were looked through."""

Done = tuple[Unit, Result]
Told = tuple[Label, ScanFinding]
_Span = tuple[int, int]
_BANDS: Final = ("high", "review", "note")


def scan_streams(
    units: Iterable[Unit],
    scanner: Scanner,
    key: bytes,
    jobs: int,
    *,
    seconds: float = SECONDS,
    observer: Observer = lambda _: None,
) -> Iterator[Done]:
    """Yield each unit with its result, as `scan_units`; the units of one owner must follow each other.

    Behind the last unit of an owner come units that were not given: the findings of these are the parts of
    what stands in more than one of its events, and overlap with those of the event alone.
    """
    joining = _Joining(units)
    for unit, result in scan_units(joining.units(), scanner, key, jobs, seconds=seconds):
        observer(sum(len(part.data) for part in unit.parts))
        joining.take(unit, result)
        yield from joining.settled()
    yield from joining.settled()


@dataclass(slots=True)
class _Owner:
    """One input: what of it is at work, and what is done and waits for its turn."""

    blocks: Blocks = field(default_factory=Blocks)
    at_work: int = 0
    closed: bool = False
    alone: list[Done] = field(default_factory=list)
    joined: list[Done] = field(default_factory=list)


class _Joining:
    """Gives units out and takes results back; an owner's are told when those of the owners before it are."""

    def __init__(self, units: Iterable[Unit]) -> None:
        self._units = units
        self._owners: dict[int, _Owner] = {}
        self._stretches: deque[Unit] = deque()

    def units(self) -> Iterator[Unit | None]:
        """Yield what was given, and what it joins to as soon as that is known."""
        for unit in self._units:
            if unit.owner not in self._owners:
                self._close()
            self._owners.setdefault(unit.owner, _Owner()).at_work += 1
            yield unit
            while self._stretches:
                yield self._stretches.popleft()
        self._close()
        while self._stretches or any(owner.at_work for owner in self._owners.values()):
            yield self._stretches.popleft() if self._stretches else None

    def take(self, unit: Unit, result: Result) -> None:
        """Take the result of a unit, and join the pieces in it."""
        owner = self._owners[unit.owner]
        owner.at_work -= 1
        for label, piece, where in result.pieces:
            self._join(unit.owner, owner.blocks.add(piece, label, where))
        result.pieces = []
        (owner.alone if unit.parts[0].stretch is None else owner.joined).append((unit, result))
        if owner.closed and not owner.at_work:
            self._join(unit.owner, owner.blocks.end())

    def settled(self) -> Iterator[Done]:
        """Yield what has its turn: of the first owner, and of the next ones once it is done."""
        while self._owners:
            number, owner = next(iter(self._owners.items()))
            yield from owner.alone
            owner.alone = []
            if owner.at_work or not owner.closed:
                return
            yield from owner.joined
            del self._owners[number]

    def _close(self) -> None:
        """Note that the owners so far have no more units."""
        for number, owner in self._owners.items():
            owner.closed = True
            if not owner.at_work:
                self._join(number, owner.blocks.end())

    def _join(self, owner: int, stretches: Iterable[Stretch]) -> None:
        for stretch in stretches:
            self._owners[owner].at_work += 1
            self._stretches.append(Unit(owner, (Part(stretch.cuts[0].label, b"", "joined", stretch),)))


def merged(findings: list[Told]) -> list[Told]:
    """Put what streams have cut (`scan.chunks`), told behind the rest, in the place of what it overlaps with.

    One finding of both names the characters of both, as `scan.matching.settled` would.
    """
    cut: dict[tuple[Label, str], list[ScanFinding]] = {}
    for label, found in findings:
        if found.view == VIEW:
            cut.setdefault((label, found.pointer), []).append(found)
    if not cut:
        return findings
    alone: list[Told] = []
    for label, found in findings:
        if found.view != VIEW:
            parts = cut.get((label, found.pointer), [])
            at = next((at for at, part in enumerate(parts) if _overlap(part, found)), None)
            if at is None:
                alone.append((label, found))
            else:
                parts[at] = _union(parts[at], found)
    lines: list[int] = []  # the greatest so far, at each finding
    last: dict[Label, int] = {}
    for at, (label, _) in enumerate(alone):
        lines.append(max(label if isinstance(label, int) else 0, lines[-1] if lines else 0))
        last[label] = at
    placed = [((at, 0), one) for at, one in enumerate(alone)]
    for (label, _), parts in cut.items():
        at = bisect_right(lines, label) - 1 if isinstance(label, int) else last.get(label, len(alone))
        placed += (((at, 1), (label, part)) for part in parts)
    return [one for _, one in sorted(placed, key=lambda pair: pair[0])]


def _overlap(part: ScanFinding, found: ScanFinding) -> bool:
    if part.span is None or found.span is None or found.in_key:
        return False
    return part.span[0] < found.span[1] and found.span[0] < part.span[1]


def _union(part: ScanFinding, found: ScanFinding) -> ScanFinding:
    (a, b), (c, d) = cast(_Span, part.span), cast(_Span, found.span)
    band = min(part.band, found.band, key=_BANDS.index)
    return replace(part, span=(min(a, c), max(b, d)), band=band)
