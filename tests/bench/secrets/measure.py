"""Measures our scanner and its peers on the same texts, in one run."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.bench.secrets import corpus, examples, hostile, ours, peers, public
from tests.bench.secrets.corpus import Corpus
from tests.bench.secrets.examples import Examples
from tests.bench.secrets.score import MB, Found, Score, score

TOGETHER: Final = "all others together"
_PERSONAL: Final = re.compile(r"(?i)e-?mail|ipv?[46]|ip_|ip public|phone|home|pii|mac_|user_?name")
_GROUNDS: Final = ("planted", "held", "clean", "code")


@dataclass(slots=True)
class Row:
    """What one tool did; shares in %, rates in findings for each 10 MB, speed in MB/s of one core."""

    tool: str
    version: str
    result: Score | None = None
    held: float = 0.0
    clean: float = 0.0
    code: float = 0.0
    speed: float = 0.0
    examples: dict[str, tuple[float, float]] = field(default_factory=dict)
    absent: str = ""

    def pooled(self, sets: dict[str, Examples]) -> tuple[float, float]:
        """Return the shares over the examples of all sets together: found, falsely found."""
        found = sum(self.examples[name][0] * len(one.secret) for name, one in sets.items())
        false = sum(self.examples[name][1] * len(one.innocent) for name, one in sets.items())
        total = (
            sum(len(one.secret) for one in sets.values()),
            sum(len(one.innocent) for one in sets.values()),
        )
        return found / max(1, total[0]), false / max(1, total[1])


@dataclass(slots=True)
class Grounds:
    """The texts that all tools are given."""

    planted: Corpus
    held: Corpus
    clean: Corpus
    code: Corpus
    sets: dict[str, Examples] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


def grounds(size: int, each: int, seed: int, *, alone: bool) -> Grounds:
    """Make the transcripts and fetch the examples; `alone`: without examples that are not there yet."""
    made = Grounds(
        corpus.planted(size, each, seed),
        corpus.held(0, each, seed + 3),
        corpus.clean(size // 2, seed + 1),
        public.transcript(size // 2, seed + 2),
    )
    for name in examples.SETS:
        try:
            made.sets[name] = examples.load(name, fetch=not alone)
        except peers.AbsentError as error:
            made.missing[name] = str(error)
    return made


def is_personal(found: Found) -> bool:
    """Tell whether a finding is said to be personal data: real code has addresses of its real authors."""
    return found.cls in ours.PERSONAL if found.cls else bool(_PERSONAL.search(found.rule))


def our_row(given: Grounds, folder: Path) -> tuple[Row, dict[str, list[Found]]]:
    """Measure our scanner; also return what it found in each transcript."""
    row = Row(ours.NAME, ours.version())
    found = {}
    for name in _GROUNDS:
        ground: Corpus = getattr(given, name)
        path = folder / f"{name}.jsonl"
        path.write_bytes(ground.data)
        found[name], seconds = ours.find(path, ground)
        if name == "planted":
            row.speed = len(ground.data) / seconds / MB
    _judge(row, given, found)
    for name, one in given.sets.items():
        row.examples[name] = (_share(ours.hits(one.secret)), _share(ours.hits(one.innocent)))
    return row, found


def peer_row(peer: peers.Peer, given: Grounds) -> tuple[Row, list[Found]]:
    """Measure another tool; where it cannot be had or fails, the row says why."""
    row = Row(peer.name, peer.version)
    found: dict[str, list[Found]] = {"planted": []}
    try:
        peers.ready(peer)
        for name in _GROUNDS:
            ground: Corpus = getattr(given, name)
            found[name], seconds = peers.find(peer, ground)
            if name == "planted":
                row.speed = sum(len(text.encode()) for some in ground.texts for text in some) / seconds / MB
        _judge(row, given, found)
        for set_name, one in given.sets.items():
            shares = []
            for texts in (one.secret, one.innocent):
                told = peers.run(peer, texts, joined=False)[0] if texts else []
                hit = {index for index, rule, _ in told if not _PERSONAL.search(rule)}
                shares.append(100 * len(hit) / max(1, len(texts)))
            row.examples[set_name] = (shares[0], shares[1])
    except peers.AbsentError as error:
        row.absent = str(error)
        row.result = None
    return row, found["planted"]


def _judge(row: Row, given: Grounds, found: dict[str, list[Found]]) -> None:
    row.result = score(given.planted, found["planted"])
    row.held = score(given.held, found["held"]).share()
    row.clean = len(set(found["clean"])) * 10 * MB / len(given.clean.data)
    credentials = {one for one in found["code"] if not is_personal(one)}
    row.code = len(credentials) * 10 * MB / max(1, len(given.code.data))


def _share(hits: list[bool]) -> float:
    return 100 * sum(hits) / max(1, len(hits))


def rows(
    given: Grounds, chosen: list[peers.Peer], folder: Path, tell: Callable[[str], None]
) -> tuple[list[Row], dict[str, list[Found]]]:
    """Measure all tools in turn; also return what ours found."""
    tell(ours.NAME)
    own, found = our_row(given, folder)
    made, others = [own], list[Found]()
    for peer in chosen:
        tell(peer.name)
        row, planted = peer_row(peer, given)
        made.append(row)
        others += planted if row.result else []
    if others:
        made.append(Row(TOGETHER, "", score(given.planted, others)))
    return made, found


@dataclass(frozen=True, slots=True)
class Own:
    """What is measured of our scanner alone: the import's filter, milliseconds for hostile lines.

    `filter` is in MB/s, `building` the milliseconds that building its automata takes.
    """

    filter: float
    building: float
    hostile: dict[str, float]


def own(given: Grounds) -> Own:
    """Measure the speed of the filter and of the slowest lines."""
    return Own(*ours.filter_speed(given.clean), ours.slowest(hostile.lines()))


def failures(row: Row, sets: dict[str, Examples], alone: Own, slow: float | None) -> Iterator[str]:
    """Say which targets our scanner misses; `slow`: the speed of detect-secrets in this run."""
    assert row.result is not None
    found, false = row.pooled(sets)
    worst = max(alone.hostile, key=lambda name: alone.hostile[name])
    for name, value, target, at_least in (
        ("planted secrets found, %", row.result.share(), 95, True),
        ("planted secrets found in places kept apart, %", row.held, 95, True),
        ("false findings for 10 MB", row.result.false_rate, 20, False),
        ("false findings for 10 MB of clean text", row.clean, 20, False),
        ("encoded secrets found, %", row.result.share(encoded=True), 90, True),
        ("rule examples found, %", found if sets else None, 70, True),
        ("rule examples falsely found, %", false if sets else None, 15, False),
        ("MB/s of a core, publish", row.speed, 3, True),
        ("times the speed of detect-secrets", row.speed / slow if slow else None, 15, True),
        ("MB/s of a core, the filter of the import", alone.filter, 100, True),
        (f"ms for 64 KB of {worst}", alone.hostile[worst], 50, False),
    ):
        if value is not None and (value < target if at_least else value > target):
            yield f"{name}: {value:.1f}, not {'at least' if at_least else 'at most'} {target}"


def progress(name: str) -> None:
    """Tell on standard error which tool is at work."""
    print(f"{name} ...", file=sys.stderr, flush=True)
