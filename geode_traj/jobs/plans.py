"""A declared plan from a file of its own, and how it reaches what is verified (`verify --plan`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from geode_traj.codec.files import read_bounded
from geode_traj.codec.framed import Document
from geode_traj.codec.reading import loads
from geode_traj.contract.plan import Plan, read
from geode_traj.jobs.found import Watch

MAX_PLAN: Final = 4 << 20


def load(path: Path) -> Plan:
    """Read a plan file, `geode-traj.plan@1` or steps as SkellySpeak lists them.

    Raises `WorldError` TE201 and `DataError` TE202 to TE209 where it cannot be read, TE208 where it is none.
    """
    place = str(path)
    return read(loads(read_bounded(path, MAX_PLAN), place=place), named=True, place=place)


@dataclass(frozen=True, slots=True)
class Beside:
    """A watch over the documents of other inputs that also carries the plan they are reconciled with."""

    plan: Plan
    then: Watch | None = None

    def __call__(self, document: Document) -> Document:
        """Pass a document on."""
        return self.then(document) if self.then else document


def of(watch: Watch | None) -> Plan | None:
    """Return the plan that a watch carries."""
    return watch.plan if isinstance(watch, Beside) else None
