"""The evaluation itself as a session: its specification, journal, results, and whether it ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from geode_traj.model.event import Damaged, Event, Item, Loss
from geode_traj.sources.base import Input
from geode_traj.sources.fields import without, word
from geode_traj.sources.inspect_eval.log import HEADER, START, Failure, Log
from geode_traj.sources.inspect_eval.pieces import pieces
from geode_traj.sources.inspect_eval.reader import error_words
from geode_traj.sources.inspect_eval.record import Record
from geode_traj.sources.inspect_eval.sample import Sample

_SPEC: Final = ("eval", "plan")
_ENDED: Final = frozenset({"success", "cancelled", "error"})
_NAMES: Final = {HEADER: "results", "summaries.json": "summaries", "reductions.json": "reductions"}


class EvaluationReader:
    """Reads what a log says beside its samples; samples that cannot be read are its damage."""

    def __init__(self, given: Input, log: Log, session_id: str, damaged: list[Damaged]) -> None:
        self._given = given
        self._log = log
        self._session = session_id
        self._damaged = damaged
        self._told: dict[str, Any] = {}

    def items(self) -> Iterator[Item]:
        """Yield the records in the order of the log; an end comes last, as the header does."""
        for number, name in enumerate(self._log.record_names(), start=1):
            try:
                with self._log.record(name) as record:
                    yield from self._record(number, name, record)
            except Failure as failure:
                yield _of_session(failure.damaged, self._session)
        yield from (_of_session(one, self._session) for one in self._damaged)
        if self._log.superseded:
            yield Loss("superseded_member", self._log.superseded)

    def _record(self, number: int, name: str, found: Sample) -> Iterator[Item]:
        loaded = found.load_head()
        record = Record(self._given, self._session, number, name, loaded.read)
        record.name = name
        value = record.value
        if name in (START, HEADER) and not self._told and isinstance(value.get("eval"), dict):
            self._told = {key: value[key] for key in _SPEC if key in value}
            yield self._start(record, value, loaded_all=name == START)
            value = value if name == HEADER else {}
        if value or record.made == 0:
            yield record.event("legacy.imported", self._words(name, value), time=_time(value, "completed_at"))
        for pointer, span in [*loaded.large, *((f"/{key}", span) for key, span in found.repeated)]:
            yield from pieces(found, record, pointer, span)
        if name == HEADER and word(value, "status") in _ENDED:
            yield from self._end(record, value)

    def _start(self, record: Record, value: dict[str, Any], *, loaded_all: bool) -> Event:
        spec = value["eval"]
        fields = without(value, *_SPEC) if loaded_all else {}
        columns: dict[str, Any] = {"time": spec.get("created"), "model": word(spec, "model")}
        return record.event("session.started", {**self._told}, fields, status="active", **columns)

    def _words(self, name: str, value: dict[str, Any]) -> dict[str, Any]:
        operation = _NAMES.get(name) or name.removeprefix("_journal/").partition("/")[0].removesuffix(".json")
        rest = value
        if name == HEADER:  # what the header says as the session's start did is not told again
            told = self._told
            rest = {key: item for key, item in value.items() if key not in told or item != told[key]}
        return {"operation": operation, "member": name, "record": rest}

    def _end(self, record: Record, value: dict[str, Any]) -> Iterator[Event]:
        time = _time(value, "completed_at")
        if value.get("error"):
            yield record.event("error.recorded", error_words(value["error"]), time=time, status="error")
        status = {"success": "completed"}.get(value["status"], value["status"])
        words = {"termination_reason": value["status"], "invalidated": value.get("invalidated")}
        yield record.event("session.ended", words, time=time, status=status)


def _time(value: dict[str, Any], key: str) -> Any:
    stats = value.get("stats")
    return stats.get(key) if isinstance(stats, dict) else None


def _of_session(damaged: Damaged, session_id: str) -> Damaged:
    return Damaged(
        damaged.line, damaged.offset, damaged.length, damaged.sha256, damaged.reason, damaged.data, session_id
    )
