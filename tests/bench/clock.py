"""What one timed piece of work cost its process."""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import dataclass
from types import TracebackType


@dataclass(slots=True)
class Clock:
    """Adds up wall and CPU seconds over `with` blocks; what happens between the blocks is not counted."""

    wall: float = 0.0
    cpu: float = 0.0

    def __enter__(self) -> None:
        self.wall -= time.perf_counter()
        self.cpu -= time.process_time()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cpu += time.process_time()
        self.wall += time.perf_counter()


def peak_bytes() -> int:
    """Return the greatest resident size of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
