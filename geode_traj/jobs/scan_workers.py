"""Scanning in processes of their own: a text that takes too long costs itself, and nothing else.

A worker has so much processor time for a text; the system ends it when that is over, wherever it is. The
parent then has the same parts searched again without that text, which is *quarantined*: named, and never
counted as clean. Processor time, not the clock's: a busy machine must not change a report.
"""

from __future__ import annotations

import gc
import mmap
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, Final, NamedTuple, NoReturn, cast

from geode_traj.jobs.scan_parts import QUARANTINED, Mac, Part, Result, Unscanned, keyed, scan_parts
from geode_traj.scan.engine import Scanner
from geode_traj.scan.matching import Span

SECONDS: Final = 10.0
"""Processor time for one text (or some short ones), and as much again for each MiB of it."""

MAX_QUARANTINED: Final = 16
"""So many texts of one unit that cannot be scanned are an attack: the rest of it is not tried."""

Work = Callable[[tuple[Part, ...], Scanner, Mac, dict[int, str]], Result]
"""What is done with the parts of a unit; see `scan_parts`."""

SLOW: Final = "it took too long to scan"
DIED: Final = "the process that scanned it died"
_GROUP: Final = 1 << 16
_HELD: Final = 64 << 20
_CLOCK: Final = 6  # a worker that waits for something uses no processor time


class Unit(NamedTuple):
    """Parts that are scanned together, of the input number `owner`."""

    owner: int
    parts: tuple[Part, ...]

    @property
    def size(self) -> int:
        """Bytes of all parts."""
        return sum(part.size for part in self.parts)


@dataclass(slots=True, eq=False)
class _Task:
    unit: Unit
    size: int
    skipped: dict[int, str] = field(default_factory=dict)
    died: set[int] = field(default_factory=set)
    result: Result | None = None

    def failed(self, at: int, why: str) -> None:
        """Settle what a failure at text `at` means: try without it, or give the unit up."""
        if why == DIED and at not in self.died:  # perhaps somebody else's doing: once more
            self.died.add(at)
        elif at and at not in self.skipped and len(self.skipped) < MAX_QUARANTINED:
            self.skipped[at] = why
        else:
            self.result = Result(unscanned=[Unscanned(part.label, "", why) for part in self.unit.parts])


class _Timed:
    """A scanner whose every look at a text is counted and has its time."""

    def __init__(self, scanner: Scanner, at: memoryview, seconds: float) -> None:
        self._scanner = scanner
        self._find = scanner.find
        self._at = at
        self._seconds = seconds
        self._skipped: dict[int, str] = {}
        self._number = self._left = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scanner, name)

    def begin(self, size: int, skipped: dict[int, str]) -> None:
        """Start a unit of some bytes: parsing it has its time, too."""
        self._skipped = skipped
        self._number = self._left = 0
        self._allow(size)

    def find(self, text: str, key: str = "", *, damaged: bool = False) -> list[Span]:
        """Return what the scanner finds; for a text that was skipped, that it was."""
        self._number = self._at[0] = number = self._number + 1
        if self._skipped and number in self._skipped:
            return [Span(0, len(text), QUARANTINED, QUARANTINED, "high", "")]
        self._left = left = self._left - len(text) - 1
        if left < 0:
            self._left = _GROUP
            self._allow(len(text))
        return self._find(text, key, damaged=damaged)

    def _allow(self, size: int) -> None:
        signal.setitimer(signal.ITIMER_PROF, allowed(self._seconds, size))


def allowed(seconds: float, size: int) -> float:
    """Return the seconds that a text of `size` characters may take."""
    return seconds * (1 + size / (1 << 20))


class _Worker:
    """One process and what it is at work on."""

    def __init__(
        self, scanner: Scanner, key: bytes, seconds: float, work: Work, others: Iterable[_Worker]
    ) -> None:
        self.task: _Task | None = None
        self._seconds = seconds
        self._at = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("q")
        self._seen = (0, 0.0)
        self._late = False
        self.pipe, theirs = Pipe()
        self._process = os.fork()
        if self._process == 0:
            for pipe in (self.pipe, *(other.pipe for other in others)):
                pipe.close()  # or no worker would notice that its parent is gone
            _serve(theirs, _Timed(scanner, self._at, seconds), key, work)
        theirs.close()

    def give(self, task: _Task) -> None:
        """Start on a task."""
        self.task = task
        self._at[0] = 0
        self._seen = (0, time.monotonic())
        with suppress(OSError):  # it died meanwhile, which `take` will notice
            self.pipe.send((task.unit.parts, task.size, task.skipped))

    def take(self) -> bool:
        """Take what came of the task, and tell whether the process is still there."""
        task, self.task = cast(_Task, self.task), None
        try:
            came = self.pipe.recv()
        except (EOFError, OSError):
            task.failed(self._reached(), SLOW if self._ended() == signal.SIGPROF or self._late else DIED)
            return False
        if isinstance(came, Result):
            task.result = came
        else:
            task.failed(self._reached(), came)
        return True

    def look(self, now: float) -> None:
        """End a process that waits for something that does not come."""
        at = self._reached()
        if at != self._seen[0]:
            self._seen = (at, now)
        elif self.task is not None and now - self._seen[1] > _CLOCK * allowed(self._seconds, self.task.size):
            self._late = True
            os.kill(self._process, signal.SIGKILL)

    def end(self) -> None:
        """End the process."""
        with suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGKILL)
        self._ended()

    def _reached(self) -> int:
        return self._at[0]

    def _ended(self) -> int:
        """Wait for the end and return the signal that made it, 0 for none."""
        self.pipe.close()
        with suppress(ChildProcessError):
            _, status = os.waitpid(self._process, 0)
            return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        return 0


def _serve(pipe: Connection, scanner: _Timed, key: bytes, work: Work) -> NoReturn:
    """Work on what comes, in the child, until the parent is gone."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        gc.freeze()  # what the parent holds is nothing to collect here, and a look at it copies its pages
        gc.set_threshold(20_000, 20, 20)  # nearly all that a search makes goes by counting
        with suppress(EOFError, OSError):
            mac = keyed(key)
            while True:
                parts, size, skipped = pipe.recv()
                scanner.begin(size, skipped)
                answer: Result | str
                try:
                    answer = work(parts, cast(Scanner, scanner), mac, skipped)
                except Exception as error:  # not to be lost, and its words may be the transcript's
                    answer = f"scanning it failed ({type(error).__name__})"
                signal.setitimer(signal.ITIMER_PROF, 0)
                pipe.send(answer)
    finally:
        os._exit(0)


def scan_units(
    units: Iterable[Unit | None],
    scanner: Scanner,
    key: bytes,
    jobs: int,
    *,
    seconds: float = SECONDS,
    work: Work = scan_parts,
) -> Iterator[tuple[Unit, Result]]:
    """Yield each unit with its result, in order; the same for any number of `jobs`.

    `key` is private to one report: equal values have equal numbers, and no number says anything of a value.
    Units are taken as they are needed, so that no more than 64 MB of them (or one) are held. None among them
    says that the next one takes what is yielded first.
    """
    pool: list[_Worker] = []

    def new() -> _Worker:
        return _Worker(scanner, key, seconds, work, pool)

    given = iter(units)
    tasks: deque[_Task] = deque()
    waiting: deque[_Task] = deque()
    more = True
    try:
        while True:
            while more and len(tasks) < 4 * jobs and (not tasks or sum(t.size for t in tasks) < _HELD):
                try:
                    unit = next(given)
                except StopIteration:
                    more = False
                    break
                if unit is None:
                    break
                tasks.append(_Task(unit, unit.size))
                waiting.append(tasks[-1])
            while waiting and (worker := _idle(pool, jobs, new)):
                worker.give(waiting.popleft())
            while tasks and (result := tasks[0].result) is not None:
                yield tasks.popleft().unit, result
            if tasks:
                waiting.extendleft(_settled(pool))
            elif not more:
                return
    finally:
        for worker in pool:
            worker.end()


def _idle(pool: list[_Worker], jobs: int, new: Callable[[], _Worker]) -> _Worker | None:
    """Return a worker without a task, a new one while there may be more."""
    worker = next((worker for worker in pool if worker.task is None), None)
    if worker is None and len(pool) < jobs:
        worker = new()
        pool.append(worker)
    return worker


def _settled(pool: list[_Worker]) -> list[_Task]:
    """Wait until a task is done or failed, and return those that must be tried again."""
    busy = {worker.pipe: worker for worker in pool if worker.task is not None}
    again = []
    for pipe in wait(list(busy), timeout=1.0) if busy else ():
        worker = busy[cast(Connection, pipe)]
        task = cast(_Task, worker.task)
        if not worker.take():
            pool.remove(worker)
        if task.result is None:
            again.append(task)
    now = time.monotonic()
    for worker in pool:
        worker.look(now)
    return again
