"""Inspect evaluation logs, `.eval` archives and `.json` documents: a unit for each sample and for the run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from geode_traj.codec import zip_in
from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import reading, sha256_bytes
from geode_traj.contract.ids import MAX_SESSION_ID, fit
from geode_traj.errors import DataError
from geode_traj.model.event import Damaged, Item
from geode_traj.sources import parts, values
from geode_traj.sources.base import Input, Probe, Source, Unit
from geode_traj.sources.fields import id_text
from geode_traj.sources.inspect_eval.evaluation import EvaluationReader
from geode_traj.sources.inspect_eval.log import Failure, JsonLog, Log, ZipLog, identity
from geode_traj.sources.inspect_eval.reader import SampleReader, ended, first_time
from geode_traj.sources.inspect_eval.sample import Sample

_FIRST: Final = re.compile(rb"(?s).{30}(?:_journal/start\.json|header\.json|samples/.{1,200}_epoch_\d)")
_NAMED: Final = (b"_journal/start.json", b"header.json", b"_epoch_")
_STATUS: Final = frozenset({"started", "success", "cancelled", "error"})
_BODY: Final = ("eval", "plan", "results", "stats", "samples")


class InspectEval(Source):
    """A log is written again as samples finish: each sample is a unit of its own, and so is the run."""

    name = "inspect-eval"
    mutable = True
    reads = "Inspect .eval (zip) and .json logs, one unit a sample and one for the run"
    gives_not = (
        "turn ids",
        "whether a missing count was zero",
        "requests and responses that were not logged",
        "images that logging left out",
    )

    def detect(self, probe: Probe) -> bool:
        """Match an archive of a log's members, or a JSON object that is a log or holds logs by name."""
        if probe.head.startswith(zip_in.MAGIC):
            if _FIRST.match(probe.head):
                return True
            central = probe.tail[probe.tail.find(b"PK\x01\x02") :] if b"PK\x01\x02" in probe.tail else b""
            return sum(name in central for name in _NAMED) >= 2
        value = parts.opening(probe)
        if not isinstance(value, dict):
            return False
        return _is_log(value) or _is_log(next(iter(value.values()), None))

    def units(self, given: Input) -> Iterator[Unit]:
        """Yield the samples, then the run; a sample's identity is what it says, and whether it ended."""
        held = _held(given.path, given.name, given.default_session, _stat(given.path))
        yield from (found.unit for found in held.units.values())

    def items(self, given: Input) -> Iterator[Item]:
        """Yield one unit; raise `DataError` TE207 where the log no longer holds it as it was planned."""
        stat = _stat(given.path)
        held = _held(given.path, given.name, given.default_session, stat)
        found = held.units.get(given.unit)
        if found is None or found.unit.sha256 != given.sha256:
            raise DataError("TE207", place=given.name)
        if found.place is None:
            yield from EvaluationReader(given, held.log, given.unit, held.damaged).items()
        else:
            try:
                with held.log.sample(found.place) as sample:
                    yield from SampleReader(given, sample, given.unit, held.log.facts, found.status).items()
            except Failure:
                raise DataError("TE207", place=given.name) from None
        if _stat(given.path) != stat:
            raise DataError("TE207", place=given.name)


@dataclass(frozen=True, slots=True)
class _Found:
    """A unit, where its sample is (None for the run itself), and how that ended."""

    unit: Unit
    place: str | None = None
    status: str = ""


@dataclass(slots=True)
class _Held:
    """A log that was looked through: its units by key, and the samples that cannot be read."""

    log: Log
    units: dict[str, _Found] = field(default_factory=dict)
    damaged: list[Damaged] = field(default_factory=list)


@lru_cache(maxsize=4)
def _held(path: Path, name: str, fallback: str, stat: tuple[int, ...]) -> _Held:
    """Look through a log once for all its units."""
    with reading(path) as stream:
        is_zip = stream.read(len(zip_in.MAGIC)) == zip_in.MAGIC
    held = _Held(ZipLog(path, name, fallback) if is_zip else JsonLog(path, name, fallback))
    run = fit(held.log.facts.key, MAX_SESSION_ID)
    samples: dict[str, _Found] = {}
    for found in _samples(held):
        key = fit(found.unit.key, MAX_SESSION_ID)
        number = 1
        while key in samples or key == run:
            number += 1
            key = fit(f"{found.unit.key}~{number}", MAX_SESSION_ID)
        samples[key] = replace(found, unit=replace(found.unit, key=key))
    unit = _run_unit(held.log, run, held.damaged)
    held.units = {run: _Found(unit), **samples} if unit.total else samples
    _order(held.units)
    return held


def _samples(held: _Held) -> Iterator[_Found]:
    """Yield the samples that can be read; keep the damage of the others."""
    for place in held.log.sample_names():
        try:
            with held.log.sample(place) as sample:
                found = _sample_unit(held.log, place, sample)
        except Failure as failure:
            held.damaged.append(failure.damaged)
        else:
            yield found


def _order(units: dict[str, _Found]) -> None:
    """Give all units the time of the first, and ranks by their own: a log's are read one after the other.

    Logs of the same time would else take turns, and each be looked through again at every turn.
    """
    times = {key: found.unit.first_time for key, found in units.items()}
    known = [time for time in times.values() if time is not None]
    order = sorted(units, key=lambda key: (times[key] is None, times[key] or 0.0))
    for rank, key in enumerate(order):
        unit = replace(units[key].unit, first_time=min(known, default=None), rank=rank)
        units[key] = replace(units[key], unit=unit)


def _sample_unit(log: Log, place: str, sample: Sample) -> _Found:
    head = sample.load_head().read.value
    uuid, own, epoch = (id_text(head.get(key)) for key in ("uuid", "id", "epoch"))
    key = uuid or f"{log.facts.key}/{own}_epoch_{epoch}"
    status = ended(sample, head, log.facts, summarised=identity(head) in log.facts.completed)
    total = 1 + len(sample.events) + (sample.messages is not None)
    times = (first_time(sample, span) for span in sample.events)
    began = next((time for time in times if time), head.get("started_at"))
    sha256 = sha256_bytes(dumps([sample.digest(), status]))
    return _Found(Unit(key, sha256, total, values.iso_time(began)[0]), place, status)


def _run_unit(log: Log, key: str, damaged: list[Damaged]) -> Unit:
    said: list[Any] = [[one.sha256, one.reason] for one in damaged]
    total = len(damaged)
    for name in log.record_names():
        total += 1
        try:
            with log.record(name) as record:
                said.append([name, record.digest()])
        except Failure as failure:
            said.append([name, failure.damaged.sha256, failure.damaged.reason])
    created = values.iso_time(log.facts.spec.get("created"))[0]
    return Unit(key, sha256_bytes(dumps(["run", *said])), total, created)


def _is_log(value: Any) -> bool:
    """Tell whether an object, as far as it is known, is a log."""
    if not isinstance(value, dict):
        return False
    spec = value.get("eval")
    if isinstance(spec, dict) and "task" in spec and ("model" in spec or "created" in spec):
        return True
    return (
        type(value.get("version")) is int
        and isinstance(value.get("status"), str)
        and value["status"] in _STATUS
        and sum(key in value for key in _BODY) >= 2
    )


def _stat(path: Path) -> tuple[int, ...]:
    try:
        stat = path.stat()
    except OSError as error:
        why = error.strerror or "unreadable"
        raise DataError("TE201", path=path.name, why=why, place=str(path)) from None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


SOURCE = InspectEval()
