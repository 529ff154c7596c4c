"""ATIF, the Agent Trajectory Interchange Format, 1.0 to 1.8: one JSON document a trajectory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import jiter

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import reading, sha256_bytes
from geode_traj.codec.reading import Tolerated
from geode_traj.errors import DataError
from geode_traj.model.event import Event, Item, Link
from geode_traj.sources import values
from geode_traj.sources.atif import document
from geode_traj.sources.atif.document import EMBEDDED, Trajectory
from geode_traj.sources.atif.record import Record
from geode_traj.sources.atif.steps import Steps
from geode_traj.sources.base import HEAD_BYTES, Input, Probe, Source, Unit
from geode_traj.sources.document import load

_MARK: Final = re.compile(rb'"schema_version"\s*:\s*"ATIF-v')
_LINES: Final = re.compile(rb"\}\s*\n\s*\{")
_BODY: Final = frozenset({"steps", EMBEDDED, "final_metrics"})
_MAX_SIBLING: Final = 64 << 20


class Atif(Source):
    """One document: a trajectory and those that it embeds. Writers rewrite it as the run goes on."""

    name = "atif"
    mutable = True
    reads = "ATIF 1.0 to 1.8 trajectories, JSON"
    gives_not = (
        "an explicit end",
        "turn ids",
        "whether a call failed",
        "media (they are referred to by path)",
        "times of calls and results apart from their step's",
        "reasoning tokens",
    )

    def detect(self, probe: Probe) -> bool:
        """Match one JSON object that names the format's version."""
        head = probe.start.lstrip()
        if not head.startswith(b"{") or not (_MARK.search(head) or _MARK.search(probe.tail)):
            return False
        if len(probe.head) < HEAD_BYTES:
            try:
                value = jiter.from_json(head, catch_duplicate_keys=False)
            except ValueError:
                return b'"steps"' in head and not _is_lines(head)
            named = value.get("schema_version") if isinstance(value, dict) else None
            return isinstance(named, str) and named.startswith("ATIF-v")
        return b'"steps"' in head + probe.tail and not _is_lines(head)

    def units(self, given: Input) -> Iterator[Unit]:
        """Yield the one unit of the document: its trajectory in its present state."""
        read = _load(given)
        records = document.records(read.value)
        times = (_time(record) for record in records)
        first = next((time for time in times if time is not None), None)
        root = document.trajectories(read.value, given.default_session)[0]
        yield Unit(document.unit_key(root), _digest(read), len(records), first, document.continuation(root))

    def items(self, given: Input) -> Iterator[Item]:
        """Yield the root's records, then those of each trajectory that it embeds."""
        read = _load(given)
        if _digest(read) != given.sha256:
            raise DataError("TE207", place=given.name)
        yield from _Document(given, read).items()


class _Document:
    """Reads one document."""

    def __init__(self, given: Input, read: Tolerated) -> None:
        self._given = given
        self._trajectories = document.trajectories(read.value, given.default_session)
        self._version = document.version(read.value)
        self._met = document.by_record(read)
        self._referred: set[str] = set()
        self._number = 0

    def items(self) -> Iterator[Item]:
        for one in self._trajectories:
            head = self._record(one, "trajectory", one.value, one.pointer)
            head.value = {key: value for key, value in one.value.items() if key not in _BODY}
            yield from self._began(head, one)
            steps = Steps(one, self._version)
            keys: dict[str, int] = {}
            for index, step in enumerate(one.steps):
                yield from self._step(steps, one, f"{one.pointer}/steps/{index}", step, keys)
            self._referred |= steps.referred
            yield from self._ended(head, one)
        yield from self._continued(self._trajectories[0])

    def _record(self, one: Trajectory, key: str, value: dict[str, Any], pointer: str) -> Record:
        self._number += 1
        record = Record(self._given, one, self._number, key, value)
        record.met = self._met.get(pointer, Tolerated(None))
        return record

    def _began(self, head: Record, one: Trajectory) -> Iterator[Item]:
        head.name = "trajectory"
        placed = {"agent"} if one.agent else set()
        fields = {key: value for key, value in head.value.items() if key not in placed}
        for key in ("steps", EMBEDDED):
            given = one.value.get(key)
            if given is not None and not isinstance(given, list):
                fields[key] = given
        below = one.value.get(EMBEDDED)
        odd = [item for item in below if not isinstance(item, dict)] if isinstance(below, list) else []
        fields |= {EMBEDDED: odd} if odd else {}
        words: dict[str, Any] = {"agent": one.agent} if one.agent else {}
        if "tool_definitions" in one.agent:  # beside the agent: schemas nest nearly as deep as a payload may
            words = {"agent": {**one.agent}}
            words["tool_definitions"] = words["agent"].pop("tool_definitions")
        yield head.event("session.started", words, fields, status="active", model=head.model)
        if one.parent is None:
            return
        yield Link(one.session_id, "parent", one.parent)
        if one.session_id not in self._referred:  # embedded, but no step says when it ran
            child = {"child_session_key": one.session_id}
            yield head.event("subagent.started", child, session_id=one.parent, status="started")

    def _step(
        self, steps: Steps, one: Trajectory, pointer: str, step: Any, keys: dict[str, int]
    ) -> Iterator[Item]:
        if not isinstance(step, dict):
            words = {"operation": "step", "record": step}
            odd = self._record(one, f"place:{pointer}", {"step": step}, pointer)
            yield odd.event("legacy.imported", words, raw=True)
            return
        key = f"step:{values.text(step.get('step_id'))}"
        keys[key] = keys.get(key, 0) + 1
        if keys[key] > 1:  # ids may repeat: each step stays one of its own
            key += f"#{keys[key]}"
        yield from steps.read(self._record(one, key, step, pointer))

    def _ended(self, head: Record, one: Trajectory) -> Iterator[Event]:
        """Yield what the trajectory says at its end; that it ended is not among it."""
        if "final_metrics" in one.value:
            words = {"operation": "final_metrics", "final_metrics": one.value["final_metrics"]}
            yield head.event("legacy.imported", words)
        if one.value.get("continued_trajectory_ref") is not None:
            reference = one.value["continued_trajectory_ref"]
            words = {"operation": "continued", "continued_trajectory_ref": reference}
            yield head.event("legacy.imported", words)

    def _continued(self, root: Trajectory) -> Iterator[Link]:
        """Link the trajectory that goes on with this one, where it lies beside it and is another session."""
        reference = root.value.get("continued_trajectory_ref")
        if not isinstance(reference, str) or not reference or set(reference) & set("/\\\0"):
            return
        path = self._given.path.parent / reference
        try:
            if not path.is_file() or path.stat().st_size > _MAX_SIBLING:
                return
            with reading(path) as stream:
                value = load(stream, path.stat().st_size, reference).value
        except (DataError, OSError):
            return
        if document.problem(value) is None:
            session = document.trajectories(value, path.stem)[0].session_id
            if session != root.session_id:
                yield Link(session, "resume", root.session_id)


def _load(given: Input) -> Tolerated:
    """Read a document whole; raise `DataError` TE208 where it has no steps, else as `load`."""
    with reading(given.path) as stream:
        read = load(stream, given.size, given.name)
    why = document.problem(read.value)
    if why:
        raise DataError("TE208", name="ATIF", why=why, place=given.name)
    return read


def _digest(read: Tolerated) -> str:
    return sha256_bytes(dumps([read.value, dict(read.duplicates)]))


def _time(record: Any) -> float | None:
    return values.iso_time(record.get("timestamp"))[0] if isinstance(record, dict) else None


def _is_lines(head: bytes) -> bool:
    """Tell whether several objects follow each other, which no document does."""
    return head.split(b"\n", 1)[0].rstrip().endswith(b"}") and bool(_LINES.search(head))


SOURCE = Atif()
