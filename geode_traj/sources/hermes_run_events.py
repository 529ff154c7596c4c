"""Events of Hermes's runs API that a client saved: server-sent events as they came, or JSON lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from geode_traj.codec.jsonl import Line
from geode_traj.codec.reading import Tolerated, tolerant
from geode_traj.model.event import Event, Item, Link, Loss, Session
from geode_traj.sources.base import Input, Probe
from geode_traj.sources.hermes import parts
from geode_traj.sources.hermes.runs import ENDS, RunEvent, run_event
from geode_traj.sources.lines import JsonLines
from geode_traj.sources.parts import is_whole

_FRAME: Final = (b":", b"event:", b"id:", b"retry:")
_INNER: Final = {"text": "/reasoning/text", "duration": "/duration_s"}
_MAX_RUNS: Final = 1000


class HermesRunEvents(JsonLines):
    """Reads saved runs; a run is a turn, of the session that its events name, else of one of its own."""

    name = "hermes-run-events"
    reads = "Hermes run events, SSE text or JSONL"
    gives_not = ("call ids", "tool arguments", "tool results", "the user's message", "an explicit end")

    def detect(self, probe: Probe) -> bool:
        """Match first records with an event name, a run id and a time."""
        seen = matched = 0
        found = probe.start.split(b"\n")[:64]
        if len(found) > 1 and not is_whole(probe):
            found.pop()  # the look may end within it
        for line in found:
            data = _data(line).lstrip(b"\0").strip()
            if not data:
                continue
            try:
                value = tolerant(data).value
            except (ValueError, RecursionError):
                value = None
            else:
                if not (value and isinstance(value, dict)):
                    continue  # no program's row
            seen += 1
            matched += _is_event(value)
        return matched * 2 > seen

    def time_of(self, row: dict[str, Any]) -> float | None:
        """Return a record's time."""
        return parts.moment(row.get("timestamp"))[0]

    def reader(self, given: Input) -> _Reader:
        """Return a reader of one file's records."""
        return _Reader(given)

    def json_of(self, data: bytes) -> bytes:
        """Return the JSON of a line: comments and framing hold no event by nature."""
        return _data(data)


def _data(line: bytes) -> bytes:
    """Return the JSON of a line, behind the NULs that a power loss left; nothing of what frames events."""
    bare = line.lstrip(b"\0")
    if bare.startswith(b"data:"):
        return line[: len(line) - len(bare)] + bare[5:]
    return b"" if bare.startswith(_FRAME) else line


def _is_event(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("event"), str)
        and isinstance(value.get("run_id"), str)
        and "timestamp" in value
        and "schema_id" not in value
    )


class _Reader:
    def __init__(self, given: Input) -> None:
        self._given = given
        self._sessions: dict[str, str] = {}
        self._previews: dict[str, str] = {}
        self._lost: dict[str, dict[str, int]] = {}

    def rows(self, line: Line, sha256: str, read: Tolerated) -> Iterator[Item]:
        """Yield the events of one record."""
        fields: dict[str, Any] = read.value
        run, name = fields.get("run_id"), fields.get("event")
        run = run if isinstance(run, str) else ""
        session = self._session(run, fields)
        if not isinstance(name, str):
            made = RunEvent("legacy.imported", {"operation": "status"}, raw=True)
        else:
            made = run_event(name, fields, self._previews.get(run, ""))
            if name == "reasoning.available" and isinstance(fields.get("text"), str):
                self._previews[run] = fields["text"]
            if name in ENDS:
                self._previews.pop(run, None)
        for word in made.payload.get("not_recorded", ()):
            lost = self._lost.setdefault(session, {})
            lost[word] = lost.get(word, 0) + 1
        for event in self._events(made, line, read, session):
            event.record_sha256, event.turn_id = sha256, run
            yield event
        child = made.payload.get("child_session_id")
        if made.kind == "subagent.started" and isinstance(child, str) and child:
            yield Link(child, "parent", session)

    def end(self) -> Iterator[Item]:
        """Yield what the stream left out, by session."""
        for session, lost in self._lost.items():
            for word, count in lost.items():
                yield Loss(f"{word}_not_recorded", count)
            told = " and ".join(sorted(f"{count} {word}" for word, count in lost.items()))
            yield Session(session, {"replay": [f"{told} of tools not recorded by the source"]})

    def _session(self, run: str, fields: dict[str, Any]) -> str:
        named = fields.get("session_id")
        if isinstance(named, str) and named and (run in self._sessions or len(self._sessions) < _MAX_RUNS):
            self._sessions[run] = named
        return self._sessions.get(run) or run or self._given.default_session

    def _events(self, made: RunEvent, line: Line, read: Tolerated, session: str) -> Iterator[Event]:
        fields: dict[str, Any] = read.value
        seconds, rule = parts.moment(fields.get("timestamp"))
        for place, one in enumerate((*made.before, made, *made.after)):
            legacy: dict[str, Any] = {
                "event": fields.get("event", ""),
                "line_number": line.number,
                "source_digest": self._given.sha256,
                "source_path": self._given.name,
            }
            if one is made:
                told = made.placed | {"event", "run_id"} | ({"timestamp"} if seconds is not None else set())
                rest = {key: value for key, value in fields.items() if key not in told}
                legacy |= {"fields": rest} if rest else {}
                legacy |= {"duplicates": dict(read.duplicates)} if read.duplicates else {}
            yield Event(
                one.kind,
                session,
                line.number,
                "",
                {**one.payload, "_legacy": legacy},
                time=seconds,
                n=0 if one is made else place + 1,
                raw=one.raw,
                role=one.role,
                status=one.status,
                model=one.model,
                escaped=_moved(read.escaped, one, made),
                nonfinite=_moved(read.nonfinite, one, made),
                time_rule=rule,
            )


def _moved(pointers: Sequence[str], one: RunEvent, made: RunEvent) -> tuple[str, ...]:
    """Return pointers into a record as pointers into the payload of one of its events."""
    found = []
    for pointer in pointers:
        key, slash, rest = pointer[1:].partition("/")
        if one is not made:
            found += ["/content"] if key == "output" and "content" in one.payload else []
        elif key not in made.placed:
            found.append(f"/_legacy/fields{pointer}")
        elif key in made.payload or key in _INNER:
            found.append(_INNER.get(key, f"/{key}") + slash + rest)
    return tuple(found)


SOURCE = HermesRunEvents()
