"""What one timed piece of work cost its process."""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import dataclass
from types import TracebackType


@dataclass(slots=True)
class Clock:
    """Adds up wall and CPU seconds over `with` blocks; what happens between the blocks is not counted.

    CPU seconds are those of this process and of the children it has waited for.
    """

    wall: float = 0.0
    cpu: float = 0.0

    def __enter__(self) -> None:
        self.wall -= time.perf_counter()
        self.cpu -= _cpu()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cpu += _cpu()
        self.wall += time.perf_counter()


def _cpu() -> float:
    used = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def peak_bytes() -> int:
    """Return the greatest resident size of this process so far, and of its largest child."""
    used = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    peak = sum(usage.ru_maxrss for usage in used)
    return peak if sys.platform == "darwin" else peak * 1024
