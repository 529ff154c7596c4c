"""SkellySpeak's skill ledger, `skill-evidence.json`: assessments of what a learner wrote, one unit a record.

A record stays whole as `legacy.imported` in the session of its run, and is an evidence reference of every
export of that session. It may outlive the run that it came from: then it refers to nothing the store holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.reading import Tolerated
from geode_traj.errors import DataError
from geode_traj.model.event import Event, Item, Session
from geode_traj.sources import values
from geode_traj.sources.base import Input, Probe
from geode_traj.sources.fields import id_text
from geode_traj.sources.parts import Part, Parts, damaged, inside, opening
from geode_traj.sources.provenance import legacy, marks, whole

OPERATION: Final = "assess_skills"
AUTHORITY: Final = "SkellySpeak skill ledger"
_REFERRED: Final = (
    "session_id", "turn_id", "message_id", "chat_id", "catalog_version", "prompt_version", "status",
)  # fmt: skip
# How far an assessment has come: of two states met in one import the further one is taken last.
_PROGRESS: Final = {"pending": 0, "complete": 1, "failed": 1, "superseded": 2}


class SkellySpeakSkills(Parts):
    """The ledger; a record is rewritten when its assessment is complete, failed or superseded."""

    name = "skellyspeak-skills"
    reads = "SkellySpeak skill-evidence.json, one unit a record, evidence of the run's session"
    gives_not = ("the run that was assessed", "an explicit end", "mastery beyond the quoted text")

    def detect(self, probe: Probe) -> bool:
        """Match `version` and `records` with records that have an attempt id and a catalog version."""
        value = opening(probe)
        if not isinstance(value, dict) or not isinstance(value.get("records"), list):
            return False
        first = next((one for one in value["records"] if isinstance(one, dict)), {})
        return "version" in value and "attempt_id" in first and "catalog_version" in first

    def split(self, document: Tolerated, session: str, sha256: str) -> Iterator[Part]:
        """Return one part a record."""
        value: Any = document.value
        listed = value.get("records") if isinstance(value, dict) else None
        if not isinstance(listed, list):
            raise DataError("TE208", name=self.name, why="no list named records")
        around = {key: item for key, item in value.items() if key != "records"}
        first = _first_times(listed, session)
        for index, read in enumerate(inside(document, "/records", listed)):
            record = read.value
            if not isinstance(record, dict):
                yield damaged(index, record, session)
                continue
            made = _Record(read, index + 1, session, around)
            rank = index * 4 + _PROGRESS.get(id_text(record.get("status")), 1)
            key = id_text(record.get("attempt_id")) or made.sha256
            yield Part(key, made.sha256, 1, first.get(made.session_id), rank, made.items)


def _seconds(record: Any) -> float | None:
    return values.epoch_time(record.get("at_secs")) if isinstance(record, dict) else None


def _first_times(listed: list[Any], session: str) -> dict[str, float]:
    """Return the earliest time of each session, so that its records are taken in file order."""
    first: dict[str, float] = {}
    for record in listed:
        time = _seconds(record)
        if time is not None:
            named = id_text(record.get("session_id")) or session
            first[named] = min(time, first.get(named, time))
    return first


class _Record:
    """One record of the ledger."""

    def __init__(self, read: Tolerated, number: int, session: str, around: dict[str, Any]) -> None:
        self._read = read
        self._row: dict[str, Any] = read.value
        self._number = number
        self._around = around
        self.session_id = id_text(self._row.get("session_id")) or session
        self.sha256 = sha256_bytes(dumps(self._row))

    def items(self, given: Input) -> Iterator[Item]:
        """Yield the record whole, and what it adds to its session's references."""
        row = self._row
        columns = {"model": id_text(row.get("model")), "status": id_text(row.get("status"))}
        payload, fields = whole(row, **columns)
        payload["operation"] = OPERATION
        payload["_legacy"] = legacy(given, "skill_record", self._number, fields, self._read)
        payload["_legacy"]["envelope"] = self._around
        escaped, nonfinite = marks(payload, self._read)
        yield Event(
            kind="legacy.imported",
            session_id=self.session_id,
            line=self._number,
            record_sha256=self.sha256,
            payload=payload,
            time=_seconds(row),
            key=id_text(row.get("attempt_id")),
            turn_id=id_text(row.get("turn_id")),
            model=columns["model"],
            status=columns["status"],
            escaped=escaped,
            nonfinite=nonfinite,
        )
        yield Session(self.session_id, {"head": {"evidence_refs": [self._reference()]}})

    def _reference(self) -> dict[str, Any]:
        return {
            "kind": "legacy",
            "schema_id": "skellyspeak.skill-evidence@1",
            "authority": AUTHORITY,
            "reference": id_text(self._row.get("attempt_id")) or f"sha256:{self.sha256}",
            "sha256": self.sha256,
            "operation": OPERATION,
            **{key: self._row[key] for key in _REFERRED if key in self._row},
        }


SOURCE = SkellySpeakSkills()
