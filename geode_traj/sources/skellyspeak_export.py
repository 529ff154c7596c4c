"""Runs that SkellySpeak exported to `trace-exports/`: an envelope of any shape around run-shaped objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.pointer import below
from geode_traj.codec.reading import Tolerated
from geode_traj.errors import DataError
from geode_traj.sources.base import Probe
from geode_traj.sources.fields import id_text
from geode_traj.sources.parts import Part, Parts, is_whole, opening
from geode_traj.sources.skellyspeak.runs import FAMILY, GIVES_NOT, envelope_part, is_run, run_parts
from geode_traj.sources.skellyspeak_archive import SOURCE as ARCHIVE

_DEPTH: Final = 3
# Of a run that the head of a file only begins.
_BEGUN: Final = ("operation", "turn_id", "started_at_ms")


class SkellySpeakExport(Parts):
    """An export, one unit a run: a run that the archive holds too is one run."""

    name = "skellyspeak-export"
    reads = "SkellySpeak trace-exports/*.json, one unit a run"
    family = FAMILY
    gives_not = (*GIVES_NOT, "ids that are never given twice")

    def detect(self, probe: Probe) -> bool:
        """Match one object, not the archive's, that holds a list of run-shaped objects."""
        value = opening(probe)
        if not isinstance(value, dict) or ARCHIVE.detect(probe):
            return False
        return next(_lists(value, "", 0, whole=is_whole(probe)), None) is not None

    def split(self, document: Tolerated, session: str, sha256: str) -> Iterator[Part]:
        """Return the runs of every list of them, what opens their sessions, and the envelope."""
        value: Any = document.value
        lists = list(_lists(value, "", 0, whole=True)) if isinstance(value, dict) else []
        if not lists:
            raise DataError("TE208", name=self.name, why="no list of runs")
        sessions: list[str] = []
        for pointer, listed in lists:
            yield from run_parts(document, pointer, listed, session)
            sessions += [id_text(run.get("session_id")) or session for run in listed if isinstance(run, dict)]
        pointers = [pointer for pointer, _ in lists]
        yield envelope_part(document, _without(value, set(pointers), ""), pointers, sessions, sha256)


def _lists(value: Any, pointer: str, depth: int, *, whole: bool) -> Iterator[tuple[str, list[Any]]]:
    """Yield (pointer, list) of every list that holds a run, in an object or in objects inside it."""
    if isinstance(value, list):
        if any(is_run(item) or (not whole and _is_begun(item)) for item in value):
            yield pointer, value
    elif isinstance(value, dict) and depth < _DEPTH:
        for key, item in value.items():
            yield from _lists(item, below(pointer, key), depth + 1, whole=whole)


def _is_begun(value: Any) -> bool:
    return isinstance(value, dict) and all(key in value for key in _BEGUN)


def _without(value: Any, pointers: set[str], pointer: str) -> Any:
    """Return the document without the lists of runs."""
    if not isinstance(value, dict):
        return value
    return {
        key: _without(item, pointers, place)
        for key, item in value.items()
        if (place := below(pointer, key)) not in pointers
    }


SOURCE = SkellySpeakExport()
