"""What a way out is: a name, the format it writes, and bytes made of the exported events of sessions.

A way gets events as an export yields them: ids derived, whole bodies, redacted. What its format cannot hold
it leaves out and says so in the ledger; it invents no id, time or count to fill a place.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, ClassVar

from geode_traj.codec.framed import Document
from geode_traj.errors import WorldError
from geode_traj.export import ways
from geode_traj.export.ways.ledger import Ledger

Event = dict[str, Any]
"""One event of an exported trajectory (record contract §5)."""


class Way(ABC):
    """One format that sessions are written in."""

    name: str
    """How it is asked for."""
    format: str
    """The format and its version, as the loss report states them."""
    writes: str
    """One line for `formats`."""
    suffix: str
    """How names of its files end."""
    several: bool = False
    """One file may hold several sessions."""
    reasons: ClassVar[Mapping[str, str]] = {}
    """Why the format cannot hold a word; any other word has no place in it."""

    def chunks(self, sessions: Iterable[Document], ledger: Ledger) -> Iterator[bytes]:
        """Yield the file's bytes and enter every event of the sessions in the ledger, once."""
        for document in sessions:
            yield from self.session(document, ledger)

    @abstractmethod
    def session(self, document: Document, ledger: Ledger) -> Iterator[bytes]:
        """Yield what one session adds to the file."""


@cache
def all_ways() -> dict[str, Way]:
    """Return the ways out by name, sorted; each module lists its own as `WAYS`."""
    found: dict[str, Way] = {}
    for module in pkgutil.iter_modules(ways.__path__):
        given = getattr(importlib.import_module(f"geode_traj.export.ways.{module.name}"), "WAYS", ())
        found |= {way.name: way for way in given}
    return dict(sorted(found.items()))


def by_name(name: str) -> Way:
    """Return a way out; raise `WorldError` TE105 for a name that none has."""
    way = all_ways().get(name)
    if way is None:
        raise WorldError("TE105", name=name)
    return way
