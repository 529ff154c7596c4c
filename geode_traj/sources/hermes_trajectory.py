"""Hermes's training trajectories: one whole conversation a line, saved when the run was over."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from geode_traj.codec.jsonl import Line
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event, Item, Session
from geode_traj.sources.base import Input, Probe
from geode_traj.sources.hermes import parts, tagged
from geode_traj.sources.lines import JsonLines

_OPENING: Final = re.compile(
    rb'\s{0,16}\{\s{0,16}(?:"prompt_index"\s{0,16}:\s{0,16}\d{1,20}\s{0,16},\s{0,16})?'
    rb'"conversations"\s{0,16}:\s{0,16}\[\s{0,16}\{\s{0,16}"from"'
)


class HermesTrajectory(JsonLines):
    """Reads `trajectory_samples.jsonl`, `failed_trajectories.jsonl` and what the batch runner writes.

    Nothing names a session: a row is one, called after its digest and its line.
    """

    name = "hermes-trajectory"
    reads = "Hermes trajectory and batch JSONL, rows of conversations"
    gives_not = (
        "session ids",
        "the time of a message",
        "a time zone",
        "turn ids",
        "usage",
        "the system prompt that was sent",
        "arguments that could not be parsed (stored as {})",
    )

    def detect(self, probe: Probe) -> bool:
        """Match first objects that hold `conversations` of `from` and `value` beside `completed`."""
        return probe.mostly(_is_row, limit=8, else_begins=_OPENING)

    def time_of(self, row: dict[str, Any]) -> float | None:
        """Return when a row was saved."""
        return _saved(row)[0]

    def reader(self, given: Input) -> _Reader:
        """Return a reader of one file's rows."""
        return _Reader(given)


def _saved(row: dict[str, Any]) -> tuple[float | None, str]:
    metadata = row.get("metadata")
    inner = metadata.get("timestamp") if isinstance(metadata, dict) else None
    return parts.moment(row.get("timestamp", inner))


class _Reader:
    def __init__(self, given: Input) -> None:
        self._given = given

    def rows(self, line: Line, sha256: str, read: Tolerated) -> Iterator[Item]:
        """Yield a row's session: its start, its conversation, its end if it says how it went."""
        row: dict[str, Any] = read.value
        turns = row.get("conversations")
        session = f"trajectory-{sha256[:16]}-{line.number}"
        metadata = row.get("metadata")
        model = row.get("model", metadata.get("model") if isinstance(metadata, dict) else None)
        seconds, rule = _saved(row)
        legacy = self._legacy(line, "trajectory")
        if read.duplicates:
            legacy["duplicates"] = dict(read.duplicates)
        payload = {key: value for key, value in row.items() if key not in ("conversations", "model")}
        if not isinstance(turns, list):
            payload = {"record": row}
        first = Event(
            "session.started" if isinstance(turns, list) else "legacy.imported",
            session,
            line.number,
            sha256,
            {"trajectory": payload, "_legacy": legacy},
            time=seconds,
            raw=not isinstance(turns, list),
            model=model if isinstance(model, str) else "",
            time_rule=rule,
        )
        told = tagged.conversation(turns) if isinstance(turns, list) else []
        first.escaped = _head(read.escaped, "/trajectory")
        first.nonfinite = _head(read.nonfinite, "/trajectory")
        yield first
        n = 0
        for n, one in enumerate(told, start=1):
            yield self._event(first, one, n, line, read)
        if not first.raw and isinstance(row.get("completed"), bool):
            status = "completed" if row["completed"] else "failed"
            ended = {"completed": row["completed"], "_legacy": self._legacy(line, "trajectory")}
            yield Event(
                "session.ended", session, line.number, sha256, ended, seconds, n=n + 1, status=status,
                time_rule=rule,
            )  # fmt: skip
        if row.get("partial") is True:
            yield Session(session, {"scope": ["the batch runner saved a partial conversation"]})

    def end(self) -> tuple[Item, ...]:
        """Return nothing: a file that ends says nothing."""
        return ()

    def _event(self, first: Event, one: tagged.Told, n: int, line: Line, read: Tolerated) -> Event:
        legacy = self._legacy(line, one.kind)
        if one.fields:
            legacy["fields"] = one.fields
        return Event(
            one.kind,
            first.session_id,
            line.number,
            first.record_sha256,
            {**one.payload, "_legacy": legacy},
            time=first.time,
            n=n,
            call_id=one.call_id,
            role=one.role,
            model=first.model if one.role == "assistant" or one.kind == "tool.called" else "",
            escaped=_in_turn(read.escaped, one),
            nonfinite=_in_turn(read.nonfinite, one),
            time_rule=f"saved_{first.time_rule}".rstrip("_") if first.time is not None else "",
        )

    def _legacy(self, line: Line, name: str) -> dict[str, Any]:
        return {
            "event": name,
            "line_number": line.number,
            "source_digest": self._given.sha256,
            "source_path": self._given.name,
        }


def _in_turn(pointers: Sequence[str], told: tagged.Told) -> tuple[str, ...]:
    """Return pointers into a turn as pointers into the payload of its first event, which holds it."""
    start = f"/conversations/{told.place}"
    inside = [one[len(start) :] for one in pointers if one == start or one.startswith(f"{start}/")]
    if not told.main:
        return ()
    if told.raw:
        return tuple(f"/record{pointer}" for pointer in inside)
    said = "/content" if "content" in told.payload else "/result"
    return tuple(said if pointer == "/value" else f"/_legacy/fields{pointer}" for pointer in inside)


def _head(pointers: Any, place: str) -> tuple[str, ...]:
    return tuple(place + pointer for pointer in pointers if not pointer.startswith("/conversations"))


def _is_row(row: dict[str, Any]) -> bool:
    turns = row.get("conversations")
    return (
        isinstance(turns, list)
        and all(isinstance(turn, dict) and "from" in turn for turn in turns[:4])
        and "session_start" not in row
        and ("completed" in row or "prompt_index" in row)
    )


SOURCE = HermesTrajectory()
