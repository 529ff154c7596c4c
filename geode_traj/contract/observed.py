"""What ran when, and whether that is what a plan declared (`plan`).

Rules:

1. An operation ran where an event's payload names it (`operation`); a tool by its call and result; a
   sub-agent from its start to its stop. Copied context ran nowhere. An error that repeats a run's is none.
2. All that ran must be declared, for each kind that the plan speaks of.
3. What is declared and not conditional must have run at least once in the sessions of its plan.
4. An operation starts when all that it needs has ended, give or take 50 ms; judged within each turn, for
   every pair of their runs. In the background it may overlap what it needs: such pairs are not judged.
5. Where a need had ended and is run again later, the pair is a rerun: reported, no contradiction.
6. A pair with a time that the source did not give is left unjudged, and counted.
7. An operation is run by its declared actor, where the source says who ran it.

Not seen: work that leaves no event (speech and transcription of some sources, failures before the request,
work that was skipped or cancelled). What was not observed may still have happened.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, NamedTuple

from geode_traj.contract.plan import Operation, Plan

TOLERANCE: Final = 0.050
MAX_RUNS: Final = 100_000
# Where no plan is known yet: it may still come in the head, which ends the file.
FEW_RUNS: Final = 20_000
MAX_TOLD: Final = 1_000
_MAX_NAME: Final = 256
_MAX_ACTORS: Final = 8
NOT_COVERED: Final = (
    "speech and transcription that leave no event",
    "failures before a request was sent",
    "work that was skipped",
    "work that was cancelled",
)
Key = tuple[str, str]
"""(kind, name) of an operation."""
_Timed = tuple[float, float, "Run"]


@dataclass(slots=True)
class Run:
    """One run: start and end in Unix seconds, None where the source gives none, and where it was told."""

    start: float | None
    end: float | None
    ordinal: int
    line: int | None


class Pair(NamedTuple):
    """A run that does not fit one of what it needs: `early` is the start of the run that came too soon.

    `pairs` such pairs there are of this run and this need; `need_run` is the one that is off by most.
    """

    operation: Operation
    need: Operation
    run: Run
    need_run: Run
    pairs: int


@dataclass(slots=True)
class Drift:
    """Where what ran differs from a plan; of many pairs the first are kept, all are counted."""

    plan: Plan
    undeclared: list[tuple[str, int, Run]] = field(default_factory=list)
    unobserved: list[Operation] = field(default_factory=list)
    contradicted: list[Pair] = field(default_factory=list)
    reruns: list[Pair] = field(default_factory=list)
    actors: list[tuple[Operation, Run]] = field(default_factory=list)
    pairs: Counter[str] = field(default_factory=Counter)

    def pair(self, what: str, pair: Pair) -> None:
        """Count a pair, and keep it."""
        self.pairs[what] += pair.pairs
        kept = self.contradicted if what == "contradicted" else self.reruns
        if len(kept) < MAX_TOLD:
            kept.append(pair)


class Observed:
    """All runs of one file, by session and turn; those over the `limit` are only counted."""

    def __init__(self, limit: int = MAX_RUNS) -> None:
        self.limit = limit
        self.runs = self.left_out = 0
        self._turns: dict[str, dict[str | None, dict[Key, list[Run]]]] = {}
        self._actors: dict[tuple[str, Key], dict[frozenset[str], Run]] = {}

    def ran(self, session_id: str, turn_id: str | None, key: Key, run: Run, who: frozenset[str]) -> bool:
        """Take a run and tell whether there was room for it.

        `turn_id` is None for one that stands alone, `who` are the names of its actor.
        """
        if self.runs >= self.limit:
            self.left_out += 1
            return False
        self.runs += 1
        key = (key[0], key[1][:_MAX_NAME])
        self._turns.setdefault(session_id, {}).setdefault(turn_id, {}).setdefault(key, []).append(run)
        if who:
            seen = self._actors.setdefault((session_id, key), {})
            if len(seen) < _MAX_ACTORS:
                seen.setdefault(who, run)
        return True

    @property
    def sessions(self) -> list[str]:
        """The sessions in which something ran, in order."""
        return list(self._turns)

    def drift(self, plan: Plan, sessions: list[str]) -> Drift:
        """Reconcile the runs of some sessions with their plan."""
        drift = Drift(plan)
        counts: Counter[Key] = Counter()
        first: dict[Key, Run] = {}
        for session_id in sessions:
            for turn_id, ran in self._turns.get(session_id, {}).items():
                for key, runs in ran.items():
                    counts[key] += len(runs)
                    first.setdefault(key, runs[0])
                if turn_id is not None:
                    _judge(drift, ran)
            self._who(drift, session_id)
        kinds = plan.kinds
        drift.undeclared = [
            (key[0], counts[key], run)
            for key, run in first.items()
            if key[0] in kinds and key not in plan.operations
        ]
        drift.unobserved = [
            operation
            for key, operation in plan.operations.items()
            if key not in counts and not operation.conditional and not self.left_out
        ]
        return drift

    def _who(self, drift: Drift, session_id: str) -> None:
        for key, operation in drift.plan.operations.items():
            if operation.actor and len(drift.actors) < MAX_TOLD:
                seen = self._actors.get((session_id, key), {})
                drift.actors += [(operation, run) for who, run in seen.items() if operation.actor not in who]


def _judge(drift: Drift, ran: dict[Key, list[Run]]) -> None:
    """Judge every pair of one turn."""
    sorted_: dict[Key, _Needed] = {}
    for key, runs in ran.items():
        operation = drift.plan.operations.get(key)
        if operation is None or operation.background:
            continue
        for need in drift.plan.needs(operation):
            other = (need.kind, need.name)
            if other not in ran:
                continue
            if other not in sorted_:
                sorted_[other] = _Needed(ran[other])
            for run in runs:
                _judge_run(drift, operation, need, run, sorted_[other])


def _judge_run(drift: Drift, operation: Operation, need: Operation, run: Run, needed: _Needed) -> None:
    if run.start is None:
        drift.pairs["unjudged"] += needed.runs
        return
    drift.pairs["judged"] += len(needed.by_start)
    drift.pairs["unjudged"] += needed.runs - len(needed.by_start)
    for what, worst, count in needed.against(run.start + TOLERANCE):
        drift.pair(what, Pair(operation, need, run, worst, count))


class _Needed:
    """The timed runs of what others need, sorted, so that a run is judged against all of them at once."""

    def __init__(self, runs: list[Run]) -> None:
        self.runs = len(runs)
        timed = [
            (run.start, max(run.start, run.end), run)
            for run in runs
            if run.start is not None and run.end is not None
        ]
        self.by_start = sorted(timed, key=lambda one: one[:2])
        self._starts = [start for start, _, _ in self.by_start]
        self._ends = sorted(end for _, end, _ in self.by_start)
        # Of the runs that started until some moment, the one that ends last.
        self._latest = list(accumulate(self.by_start, _later))

    def against(self, start: float) -> Iterator[tuple[str, Run, int]]:
        """Yield (contradicted or rerun, the run that is off by most, how many are off) for a later start."""
        ended = bisect_right(self._ends, start)
        begun = bisect_right(self._starts, start)
        running, later = begun - ended, len(self._starts) - begun
        if running:
            yield "contradicted", self._latest[begun - 1][2], running + (0 if ended else later)
        if later and ended:
            yield "rerun", self.by_start[begun][2], later
        elif later and not running:
            yield "contradicted", self.by_start[begun][2], later


def _later(one: _Timed, two: _Timed) -> _Timed:
    return one if one[1] >= two[1] else two
