"""Secrets that a stream has cut: the pieces of one block, in the order of their events, are one text.

A piece is a string that its record calls one, below a key or a type that ends in `delta` or `chunk`: those of
chat interfaces, of agents, and in the record contract of what `legacy.imported` keeps of them, the one kind
with pieces. A line of a task's output is one, too. The block is told by what names a piece, by the ids and
indices around it (turn and call among them), and by where it stands.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, Final, NamedTuple

from geode_traj.codec import pointer
from geode_traj.codec.pointer import Trail
from geode_traj.contract.gate_filter import Look
from geode_traj.scan.engine import Scanner
from geode_traj.scan.matching import HOME, Span

OVERLAP: Final = 1 << 13
"""Characters that a secret may stand in on each side of a cut; a longer one may be found in part."""

MAX_JOINED: Final = 1 << 18
"""Characters that are joined at a time; the end of one stretch begins the next."""

VIEW: Final = "chunks"
"""The view of what stands in more than one piece."""

MAX_HELD: Final = 1 << 22
MAX_BLOCKS: Final = 1 << 10
"""Of more characters or open blocks than these, the block that waits longest counts as ended."""

_PIECE: Final = re.compile(r"(?:^|[^A-Za-z])(?:delta|chunk)$|[a-z](?:Delta|Chunk)$|^delta[A-Z_]")
_EDGES: Final = "start|stop|done|end|failed|(?:run|turn|response|message|item)[._/]completed"
_EDGE: Final = re.compile(f"(?i)(?:{_EDGES})$")
_NAMING: Final = frozenset("type kind event operation method object sessionUpdate".split())
_IDS: Final = frozenset(
    """run_id runId session_id sessionId turn_id turnId call_id callId tool_call_id toolCallId item_id itemId
    message_id messageId response_id parent_tool_use_id stream index output_index content_index
    summary_index""".split()
)
_BODIES: Final = frozenset("content text message reasoning thinking output".split())
_NO_BODIES: Final = _NAMING | _IDS
_CLOSED, _BODY, _OPEN = range(3)  # nothing of a value is a piece, only what is a body, all of it
_MAY_HOLD: Final = Look(rb'(?i)(?:delta|chunk|%s)"|"delta[a-z_]|"sequence"|\\u00[2-7]' % _EDGES.encode())


class Edge(NamedTuple):
    """A stream begins or ends here: nothing of the blocks with these ids goes on."""

    ids: int


class Piece(NamedTuple):
    """A string that is a piece of a stream: of the block `way` among those with the same `ids`.

    Both are hashes, the same in this process and its forks. `trail` is its place in the value.
    """

    ids: int
    way: int
    trail: Trail
    text: str


class Cut(NamedTuple):
    """The characters of a piece from `start`; `label` tells its event, `pointer` its place there."""

    label: Any
    pointer: str
    start: int
    text: str


class Stretch(NamedTuple):
    """Neighbouring cuts of one block; the next stretch repeats the last `repeated` of them."""

    cuts: tuple[Cut, ...]
    repeated: int = 0

    @property
    def size(self) -> int:
        """Characters of all cuts."""
        return sum(len(cut.text) for cut in self.cuts)


class Streams:
    """Finds secrets that stand in more than one event; fed the events of one input, in order.

    Memory is bounded (`MAX_HELD`), so what is found is told as soon as nothing can change it: for events long
    gone. Whoever edits them needs a pass of their own before.
    """

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner
        self._blocks = Blocks()

    def feed(
        self, ordinal: int, kind: str, turn_id: str, call_id: str, payload: Any
    ) -> Iterator[tuple[int, str, Span]]:
        """Take one event, and yield the ordinal, the pointer in the payload and the span of what is settled.

        Each span is the part of a secret that one string holds; it has the whole as its value, and names what
        it overlaps with (`scan.matching.settled`). To be used up before the next call.
        """
        for piece in pieces(payload, kind, turn_id, call_id):
            for stretch in self._blocks.add(piece, ordinal):
                yield from find_across(stretch, self._scanner)

    def end(self) -> Iterator[tuple[int, str, Span]]:
        """Yield what the events' end has settled."""
        for stretch in self._blocks.end():
            yield from find_across(stretch, self._scanner)


def may_hold(encoded: bytes) -> bool:
    """Tell whether JSON may hold a piece or an edge; never False where it does."""
    return bool(_MAY_HOLD(encoded))


def pieces(value: Any, kind: str = "", turn_id: str = "", call_id: str = "") -> Iterator[Piece | Edge]:
    """Yield the pieces in a JSON value, in document order, and the edges of streams.

    `kind`, `turn_id` and `call_id` are those of the event whose payload it is; a record that stands whole in
    the value names them itself. Iterative.
    """
    ids = hash((kind, turn_id, call_id))
    stack: list[tuple[Trail, Any, int, int, int]] = [(None, value, ids, 0, _CLOSED)]
    while stack:
        trail, item, ids, way, state = stack.pop()
        if isinstance(item, str):
            if state == _OPEN and item:
                yield Piece(ids, way, trail, item)
        elif isinstance(item, list):
            stack.extend(((trail, i), item[i], ids, way, state) for i in reversed(range(len(item))))
        elif isinstance(item, dict):
            names = [name for key in _NAMING & item.keys() if isinstance(name := item[key], str)]
            ids, found = _ids(item, ids)
            of_piece = sorted(filter(_PIECE.search, names))
            if of_piece or ("stream" in found and "sequence" in item):
                state = max(state, _BODY)
            elif state == _CLOSED and any(map(_EDGE.search, names)):
                yield Edge(ids)
            way = hash((way, *of_piece))
            for key in reversed(item):
                if isinstance(item[key], list | dict) or key not in _NO_BODIES:
                    opens = _PIECE.search(key) or (state == _BODY and key in _BODIES)
                    stack.append(((trail, key), item[key], ids, hash((way, key)), _OPEN if opens else state))


def _ids(item: dict[str, Any], ids: int) -> tuple[int, set[str]]:
    """Return the ids of what stands in an object, and which keys it names them by."""
    keys = _IDS & item.keys() | ({"id"} if "choices" in item else set())
    found = {key for key in keys if isinstance(one := item.get(key), str | int) and one != ""}
    return (hash((ids, *((key, item[key]) for key in sorted(found)))) if found else ids), found


class Blocks:
    """Joins the pieces of an input, in order, into stretches of blocks. Nothing is searched here."""

    def __init__(self) -> None:
        self._open: dict[int, dict[int, list[Cut]]] = {}  # by ids and way; who was fed last comes last
        self._sizes: dict[tuple[int, int], int] = {}
        self._held = 0

    def add(self, piece: Piece | Edge, label: Any, where: str | None = None) -> Iterator[Stretch]:
        """Take the next piece, of the event `label`, and yield what it completes.

        `where` is the pointer to tell, if it is not the piece's own.
        """
        if isinstance(piece, Edge):
            yield from self._ended(piece.ids)
            return
        where = pointer.of(piece.trail) if where is None else where
        text, block = piece.text, piece[:2]
        if len(text) <= 2 * OVERLAP:
            yield from self._put(block, Cut(label, where, 0, text))
        else:  # what stands in the middle of so long a piece stands in it alone
            yield from self._put(block, Cut(label, where, 0, text[:OVERLAP]))
            yield from self._ended(piece.ids)
            start = len(text) - OVERLAP
            yield from self._put(block, Cut(label, where, start, text[start:]))

    def end(self) -> Iterator[Stretch]:
        """Yield what is left at the end of the input."""
        while self._open:
            yield from self._ended(next(iter(self._open)))

    def _put(self, block: tuple[int, int], cut: Cut) -> Iterator[Stretch]:
        ids, way = block
        ways = self._open[ids] = self._open.pop(ids, {})
        cuts = ways.setdefault(way, [])
        cuts.append(cut)
        size = self._sizes[block] = self._sizes.get(block, 0) + len(cut.text)
        self._held += len(cut.text)
        if size >= MAX_JOINED:
            repeated = _repeated(cuts)
            yield Stretch(tuple(cuts), repeated)
            del cuts[: len(cuts) - repeated]
            self._sizes[block] = Stretch(tuple(cuts)).size
            self._held += self._sizes[block] - size
        while self._held > MAX_HELD or len(self._sizes) > MAX_BLOCKS:
            yield from self._ended(next(iter(self._open)))

    def _ended(self, ids: int) -> Iterator[Stretch]:
        for way, cuts in self._open.pop(ids, {}).items():
            self._held -= self._sizes.pop((ids, way))
            if len(cuts) > 1:
                yield Stretch(tuple(cuts))


def _repeated(cuts: list[Cut]) -> int:
    """Return how many of the last cuts hold the overlap."""
    size = count = 0
    while size < OVERLAP:
        count += 1
        size += len(cuts[-count].text)
    return count


def find_across(stretch: Stretch, scanner: Scanner) -> Iterator[tuple[Any, str, Span]]:
    """Yield, as label, pointer and span, each cut's part of every finding that stands in more than one.

    What stands in one piece alone is not among them: whoever scans that piece finds it. What begins where the
    next stretch does is left to it.
    """
    cuts = stretch.cuts
    starts = [0, *accumulate(len(cut.text) for cut in cuts)]
    limit = starts[len(cuts) - stretch.repeated] if stretch.repeated else starts[-1]
    for span in scanner.find("".join(cut.text for cut in cuts)):
        first, last = bisect_right(starts, span.start) - 1, bisect_left(starts, span.end)
        if last - first < 2 or span.start >= limit:
            continue
        for cut, start in zip(cuts[first:last], starts[first:last], strict=True):
            low, high = max(span.start - start, 0), min(span.end - start, len(cut.text))
            # Vague below 0: it names whatever a scan finds in this piece alone.
            part = span._replace(
                start=cut.start + low,
                end=cut.start + high,
                view=VIEW,
                blob=span.blob or span.cls != HOME,
                vague=-1,
            )
            yield cut.label, cut.pointer, part
