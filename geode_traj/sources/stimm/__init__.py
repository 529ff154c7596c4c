"""Stimm's conversation supervisor, whose events stand as `OBS_JSON` lines in any host's log.

Of other lines only the number is kept: they may quote what people said.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from geode_traj.codec import sqlite_in
from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import CHUNK, reading, sha256_bytes
from geode_traj.codec.jsonl import Line, lines
from geode_traj.codec.reading import Tolerated
from geode_traj.contract.kinds import CUT_MARK
from geode_traj.model.event import Damaged, Event, Item, Loss, Session, Skipped
from geode_traj.sources import values
from geode_traj.sources.base import HEAD_BYTES, FileSource, Input, Probe
from geode_traj.sources.lines import count_lines
from geode_traj.sources.provenance import legacy, marks, whole
from geode_traj.sources.stimm.instances import COMPLETED, STARTED, Instance, Instances
from geode_traj.sources.stimm.observed import MARKER, is_broken, observed

PREVIEW: Final = 120
OPERATION: Final = "inference"
_UNFINISHED: Final = {
    STARTED: "inference_without_completion",
    COMPLETED: "completed_inference_without_terminal_event",
}


class Stimm(FileSource):
    """One log; each supervisor instance in it is a generation of the log's session."""

    name = "stimm"
    embedded = True
    reads = "Stimm conversation supervisor events (OBS_JSON lines) in any host's log"
    gives_not = (
        "session ids",
        "an explicit end",
        "what was said to the supervisor, its prompts and answers",
        "usage and models",
        "trigger texts beyond 120 characters",
        "which instance a line is of, where several write into one log",
    )

    def detect(self, probe: Probe) -> bool:
        """Match a file with at least one line that holds an object of the supervisor."""
        if probe.head.startswith(sqlite_in.MAGIC):
            return False
        if _any_observed(probe.head) or _any_observed(probe.tail):
            return True
        return probe.path is not None and len(probe.head) == HEAD_BYTES and _anywhere(probe)

    def first_time(self, given: Input, stream: BinaryIO) -> float | None:
        """Return the time of the first event that has one."""
        for line in lines(stream, size=given.size):
            read = observed(line.data) if line.data else None
            time = _seconds(read.value) if read else None
            if time is not None:
                return time
        return None

    def count(self, stream: BinaryIO, size: int) -> int:
        """Count physical lines."""
        return count_lines(stream, size)

    def read(self, given: Input, stream: BinaryIO) -> Iterator[Item]:
        """Yield the supervisor's events; other lines are only counted."""
        reader = _Reader(given)
        blank = foreign = 0
        for line in lines(stream, size=given.size):
            if line.data is None:
                yield _damaged(line, line.sha256, "line_too_long")
            elif not line.data or line.data.isspace():
                blank += 1
            elif not line.data.strip(b"\0 \t\r"):
                yield _damaged(line, sha256_bytes(line.data), "nul_block")
            elif (read := observed(line.data)) is not None:
                if line.data.startswith(b"\0"):
                    yield Loss("nul_block")
                yield from reader.event(line.number, read)
            elif is_broken(line.data, torn=not line.ended):
                reason = "not_json" if line.ended else "torn_tail"
                yield _damaged(line, sha256_bytes(line.data), reason)
            else:
                foreign += 1
        for what, count in (("blank", blank), ("foreign", foreign)):
            if count:
                yield Skipped(what, count)
        yield from reader.end()


def _damaged(line: Line, sha256: str, reason: str) -> Damaged:
    """Return a line that cannot be read, without its text, which may be another program's."""
    return Damaged(line.number, line.offset, line.length, sha256, reason, None)


def _any_observed(data: bytes) -> bool:
    return MARKER in data and any(observed(line) for line in data.split(b"\n") if MARKER in line)


def _anywhere(probe: Probe) -> bool:
    """Look through the middle of a long log: a host may say much before a supervisor says anything."""
    if probe.path is None:
        return False
    with reading(probe.path) as stream:
        held = b""
        while chunk := stream.read(CHUNK):
            if MARKER in held + chunk:
                break
            held = chunk[-len(MARKER) :]
        else:
            return False
        stream.seek(0, os.SEEK_SET)
        return any(line.data is not None and observed(line.data) is not None for line in lines(stream))


def _seconds(row: dict[str, Any]) -> float | None:
    return values.epoch_time(row.get("ts_ms"), unit=0.001)


class _Reader:
    """Turns the observed objects of one log into events."""

    def __init__(self, given: Input) -> None:
        self._given = given
        self._session = given.default_session
        self._instances = Instances()
        self._cut = 0
        self._events = 0

    def event(self, number: int, read: Tolerated) -> Iterator[Event]:
        """Yield the event of a line, after what opens its instance where it is the first."""
        row: dict[str, Any] = read.value
        self._events += 1
        given = row.get("inference_seq")
        seq = given if isinstance(given, int) and not isinstance(given, bool) else None
        name = row.get("event")
        instance, opened = self._instances.place(name if isinstance(name, str) else "", seq)
        sha256 = sha256_bytes(dumps(row))
        if opened:
            payload = {"instance": instance.number, "_legacy": legacy(self._given, "", number, {}, _NOTHING)}
            yield self._event("session.started", payload, number, sha256, instance, row, n=1)
        kind, payload, columns = self._mapped(row, number, read)
        payload["instance"] = instance.number
        if instance.ambiguous:
            payload["ambiguous_instance"] = True
        escaped, nonfinite = marks(payload, read)
        yield self._event(
            kind,
            payload,
            number,
            sha256,
            instance,
            row,
            turn_id="" if seq is None else f"{instance.number}:{seq}",
            escaped=escaped,
            nonfinite=nonfinite,
            **columns,
        )

    def _event(
        self,
        kind: str,
        payload: dict[str, Any],
        number: int,
        sha256: str,
        instance: Instance,
        row: dict[str, Any],
        **columns: Any,
    ) -> Event:
        return Event(
            kind=kind,
            session_id=self._session,
            line=number,
            record_sha256=sha256,
            payload=payload,
            time=_seconds(row),
            time_rule="first_of_instance" if kind == "session.started" else "",
            generation=instance.number,
            **columns,
        )

    def _mapped(
        self, row: dict[str, Any], number: int, read: Tolerated
    ) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """Return the kind, payload and columns of an object."""
        name = values.text(row.get("event"))
        if name == "trigger_sent":
            return self._trigger(row, number, read)
        kind = "legacy.imported"
        columns: dict[str, Any] = {"raw": name not in (STARTED, COMPLETED)}
        if name == "no_action":
            kind, columns = "turn.completed", {"status": "no_action"}
        payload, fields = whole(row, status=columns.get("status", ""))
        if name in (STARTED, COMPLETED) and "operation" not in payload:
            payload["operation"] = OPERATION
        payload["_legacy"] = legacy(self._given, name, number, fields, read)
        return kind, payload, columns

    def _trigger(
        self, row: dict[str, Any], number: int, read: Tolerated
    ) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """Return the message that was pushed, as far as its preview goes."""
        preview, chars = values.text(row.get("preview")), row.get("text_chars")
        placed = {"text_chars"}
        content = preview
        if isinstance(chars, int) and not isinstance(chars, bool) and chars > PREVIEW:
            content = f"{preview}{CUT_MARK}{max(chars - len(preview), 0)}]"
            self._cut += 1
        elif isinstance(row.get("preview"), str):
            placed.add("preview")
        payload = {
            "content": content,
            "reasoning": values.reasoning(None),
            **({"text_chars": chars} if "text_chars" in row else {}),
        }
        fields = {key: item for key, item in row.items() if key not in placed}
        payload["_legacy"] = legacy(self._given, "trigger_sent", number, fields, read)
        return "message.assistant", payload, {"role": "supervisor"}

    def end(self) -> Iterator[Item]:
        """Yield what the log as a whole does not give, and what that makes of its session."""
        unfinished = self._instances.unfinished()
        without_start, ambiguous = self._instances.without_start, self._instances.ambiguous()
        counts = {
            **{reason: unfinished[stage] for stage, reason in _UNFINISHED.items()},
            "event_without_inference_started": without_start,
            "ambiguous_instance": ambiguous,
            "preview_cut_at_120_characters": self._cut,
        }
        for reason, count in counts.items():
            if count:
                yield Loss(reason, count)
        scope = [
            f"{count} {text}"
            for count, text in (
                (unfinished.total(), "inference(s) without a terminal event"),
                (without_start, "event(s) without the start of their inference"),
                (ambiguous, "supervisor instance(s) may be mixed up in one log"),
            )
            if count
        ]
        if self._events:
            yield Session(self._session, {"scope": scope} if scope else {})


_NOTHING: Final = Tolerated(None)

SOURCE = Stimm()
