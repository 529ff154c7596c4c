"""Assembling a source in a child process, while this one writes: the same batches, in the same order.

A forked child reads, redacts and assembles; its batches come back through a pipe, and at the end what the
source gave besides them, and the value numbers it took. A child never touches the store.
"""

from __future__ import annotations

import marshal
import os
import pickle
import signal
from collections.abc import Generator
from dataclasses import fields
from typing import BinaryIO, Final, NoReturn

from geode_traj.errors import TrajError, WorldError
from geode_traj.migrate import assemble
from geode_traj.migrate.assemble import Assembler, Batch, Outcome
from geode_traj.migrate.plan import Planned
from geode_traj.scan.numbering import Numbering
from geode_traj.sources.base import FileSource, Input

CAN_FORK: Final = hasattr(os, "fork")
_LENGTH: Final = 8
_BATCH: Final = tuple(field.name for field in fields(Batch))


def cores() -> int:
    """Return how many processes can run at once here."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def worthwhile(planned: Planned) -> bool:
    """Tell whether a source has something to write before it is read to its end.

    Only files read as a stream: an open database must not be taken along into a child.
    """
    return CAN_FORK and isinstance(planned.source, FileSource) and planned.total > assemble.BATCH_ROWS


class Beside:
    """An `Assembler` at work in a child process; `outcome` is known when all batches came."""

    outcome: Outcome

    def __init__(self, assembler: Assembler, numbering: Numbering) -> None:
        self._assembler = assembler
        self._numbering = numbering

    def batches(self, given: Input) -> Generator[Batch]:
        """Yield the batches of a source.

        Raises what reading it raises, and `WorldError` TE210 where the child dies. Closed early, it ends the
        child.
        """
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read_end)
            _work(write_end, self._assembler, self._numbering, given)
        os.close(write_end)
        try:
            with os.fdopen(read_end, "rb") as stream:
                while batch := _receive(stream):
                    yield Batch(*marshal.loads(batch))  # noqa: S302 - our own child wrote it
                last = pickle.loads(_receive(stream))  # noqa: S301 - here, too
            if isinstance(last, BaseException):
                raise last
            self.outcome, numbers = last
            self._numbering.add(numbers)
        finally:
            os.kill(child, signal.SIGKILL)  # it has ended, or nobody waits for the rest
            os.waitpid(child, 0)


def _send(stream: BinaryIO, data: bytes) -> None:
    stream.write(len(data).to_bytes(_LENGTH, "big"))
    stream.write(data)
    stream.flush()


def _receive(stream: BinaryIO) -> bytes:
    length = stream.read(_LENGTH)
    data = stream.read(int.from_bytes(length, "big"))
    if len(length) < _LENGTH or len(data) < int.from_bytes(length, "big"):
        raise WorldError("TE210")
    return data


def _work(write_end: int, assembler: Assembler, numbering: Numbering, given: Input) -> NoReturn:
    """Assemble in the child, and leave it without running what the parent has set up for its own end."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
        known = len(numbering)
        with os.fdopen(write_end, "wb") as stream:
            try:
                for batch in assembler.batches(given):
                    values = [getattr(batch, name) for name in _BATCH]
                    _send(stream, marshal.dumps(values))  # half the time of pickle
                last: object = (assembler.outcome, numbering.since(known))
            except TrajError as error:
                last = error
            except Exception as error:
                last = RuntimeError(f"{type(error).__name__}: {error}")
            _send(stream, b"")
            _send(stream, pickle.dumps(last))
    finally:
        os._exit(0)
