"""SkellySpeak's archive of model runs, `ai-traces.json`: one object of `version`, `evicted` and `runs`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.reading import Tolerated
from geode_traj.errors import DataError
from geode_traj.sources.base import Probe
from geode_traj.sources.fields import id_text
from geode_traj.sources.parts import Part, Parts, is_whole, opening
from geode_traj.sources.skellyspeak.runs import FAMILY, GIVES_NOT, envelope_part, run_parts

_KEYS: Final = {"version", "evicted", "runs"}
_ENDS: Final = re.compile(rb'"(?:version|evicted)"\s*:\s*\d+\s*\}\s*\Z')


class SkellySpeakArchive(Parts):
    """The archive, one unit a run; it is rewritten whole, with the oldest runs left out."""

    name = "skellyspeak-archive"
    reads = "SkellySpeak ai-traces.json, one unit a run"
    family = FAMILY
    gives_not = GIVES_NOT

    def detect(self, probe: Probe) -> bool:
        """Match one object of exactly `version`, `evicted` and a list `runs`."""
        value = opening(probe)
        if (
            not isinstance(value, dict)
            or not value.keys() <= _KEYS
            or not isinstance(value.get("runs"), list)
        ):
            return False
        if is_whole(probe):
            return value.keys() == _KEYS
        return "evicted" in value or _ENDS.search(probe.tail) is not None

    def split(self, document: Tolerated, session: str, sha256: str) -> Iterator[Part]:
        """Return the runs, what opens their sessions, and the file itself, which says what was evicted."""
        value: Any = document.value
        listed = value.get("runs") if isinstance(value, dict) else None
        if not isinstance(listed, list):
            raise DataError("TE208", name=self.name, why="no list named runs")
        yield from run_parts(document, "/runs", listed, session)
        evicted = value.get("evicted")
        count = evicted if isinstance(evicted, int) and not isinstance(evicted, bool) and evicted > 0 else 0
        around = {key: item for key, item in value.items() if key != "runs"} if count else {}
        sessions = [id_text(run.get("session_id")) or session for run in listed if isinstance(run, dict)]
        yield envelope_part(document, around, ["/runs"], sessions, sha256, count)


SOURCE = SkellySpeakArchive()
