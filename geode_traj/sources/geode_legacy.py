"""GEODE's legacy transcripts: session dialogues and run logs, one JSON object a line (record contract §1)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.jsonl import Line
from geode_traj.codec.reading import Tolerated, tolerant
from geode_traj.contract.ids import COLUMN_BOUNDS, MAX_SESSION_ID, legacy_event_id
from geode_traj.contract.kinds import OUR_MARKERS
from geode_traj.contract.times import is_calendar
from geode_traj.model.event import Event, Item
from geode_traj.sources.base import Input, Probe
from geode_traj.sources.lines import JsonLines

_KINDS: Final = {
    "session_start": "session.started",
    "session_end": "session.ended",
    "user_message": "message.user",
    "assistant_message": "message.assistant",
    "tool_call": "tool.called",
    "tool_result": "tool.completed",
    "subagent_start": "subagent.started",
    "subagent_complete": "subagent.stopped",
    "vault_save": "artifact.saved",
    "cost": "usage.recorded",
    "error": "error.recorded",
    "gui_step": "gui.step",
    "task_preflight": "preflight.recorded",
    "handoff_triggered": "handoff.triggered",
}
_RESERVED: Final = frozenset(
    "event ts seq session_id turn_id call_id model provider status text tool input summary".split()
)
_PLACED: Final = ("text", "tool", "input", "summary")
_TOOL: Final = frozenset({"tool", "input", "summary"})
_COLUMNS: Final = frozenset({"turn_id", "call_id", "model", "provider", "status"})
_NOT_PAYLOAD: Final = _RESERVED | OUR_MARKERS
_ROLES: Final = {"message.user": "user", "message.assistant": "assistant"}
_NUMBER: Final = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)


class GeodeLegacy(JsonLines):
    """`transcript.jsonl`, `dialogue.jsonl` and `<session-id>.jsonl`, both dialects, also mixed."""

    name = "geode-legacy"
    reads = "GEODE transcript and dialogue JSONL, session and run dialects"

    def detect(self, probe: Probe) -> bool:
        """Match when most of the first objects carry a string `event` with `ts` or `seq` and no schema id."""
        return probe.mostly(
            lambda row: (
                isinstance(row.get("event"), str) and ("ts" in row or "seq" in row) and "schema_id" not in row
            )
        )

    def time_of(self, row: dict[str, Any]) -> float | None:
        """Return a row's `ts` where it can be read."""
        return _seconds(row.get("ts"))

    def reader(self, given: Input) -> _Reader:
        """Return a reader of one file's rows."""
        return _Reader(given)


class _Reader:
    """Reads the lines of one file: which session a row belongs to, and its generation."""

    def __init__(self, given: Input) -> None:
        self._given = given
        self._default = given.default_session
        self._receipt = given.receipt_session
        self._named = ""
        self._generations: dict[str, int] = {}

    def rows(self, line: Line, sha256: str, read: Tolerated) -> tuple[Item, ...]:
        """Return the one event of a row."""
        return (self._event(line.number, sha256, read),)

    def end(self) -> tuple[Item, ...]:
        """Return nothing: a file that ends says nothing."""
        return ()

    def _event(self, number: int, sha256: str, read: Tolerated) -> Event:
        row: dict[str, Any] = read.value
        name = _text(row.get("event"))
        session, alias = self._session(row, name, number, sha256)
        kind = _KINDS.get(name, "legacy.imported")
        fields = {"seq": row["seq"]} if "seq" in row else {}
        if not OUR_MARKERS.isdisjoint(row):
            fields.update({key: row[key] for key in row if key in OUR_MARKERS})
        payload = {key: value for key, value in row.items() if key not in _NOT_PAYLOAD}
        places = _place(kind, row, payload, fields)
        legacy: dict[str, Any] = {
            "event": name,
            "line_number": number,
            "source_digest": self._given.sha256,
            "source_path": self._given.name,
        }
        payload["_legacy"] = legacy
        seconds = _seconds(row.get("ts"))
        if seconds is None and row.get("ts") is not None:
            legacy["timestamp_invalid"] = True
            fields["ts"] = row["ts"]
        turn = call = model = provider = status = ""
        if not _COLUMNS.isdisjoint(row):
            turn, call = _column(row, "turn_id", fields), _column(row, "call_id", fields)
            model, provider = _column(row, "model", fields), _column(row, "provider", fields)
            status = _column(row, "status", fields)
        own = row.get("session_id")
        if own is not None and (not isinstance(own, str) or len(own) > MAX_SESSION_ID):
            fields["session_id"] = own
        if not isinstance(row.get("event", ""), str):
            fields["event"] = row["event"]
        if read.duplicates:
            legacy["duplicates"] = dict(read.duplicates)
        if fields:
            legacy["fields"] = fields
        return Event(
            kind=kind,
            session_id=session,
            line=number,
            record_sha256=sha256,
            payload=payload,
            time=seconds,
            generation=self._generations.get(session, 1),
            raw=name not in _KINDS,
            turn_id=turn,
            call_id=call,
            role=_ROLES.get(kind, ""),
            status=status,
            model=model,
            provider=provider,
            source="legacy_jsonl",
            event_id=legacy_event_id(session, number, sha256),
            aliases=(alias,) if alias else (),
            escaped=places.pointers(read.escaped, places.inner.escaped),
            nonfinite=places.pointers(read.nonfinite, places.inner.nonfinite),
        )

    def _session(self, row: dict[str, Any], name: str, number: int, sha256: str) -> tuple[str, str]:
        """Return the row's session and the id GEODE would have given the row, where it differs from ours."""
        own = _text(row.get("session_id"))
        if name == "session_start" and own:
            self._named = own
        session = own or self._named or self._default
        if name == "session_start":
            self._generations[session] = self._generations.get(session, 0) + 1
        if own or not self._given.grown or session == self._receipt:
            return session, ""
        return session, legacy_event_id(self._receipt, number, sha256)


def _column(row: dict[str, Any], key: str, fields: dict[str, Any]) -> str:
    """Return a column's text; what is no text, or longer than the column, is kept in `fields` too."""
    value = row.get(key)
    if value is None:
        return ""
    if type(value) is not str or len(value) > COLUMN_BOUNDS[key]:
        fields[key] = value
    return _text(value)


_NOTHING: Final = Tolerated(None)


@dataclass(slots=True)
class _Places:
    """Where a row's values stand in the payload: {row key: pointer}; `inner` is `input` read as JSON."""

    fields: dict[str, Any]
    placed: dict[str, str]
    inner: Tolerated = _NOTHING

    def pointers(self, outer: Sequence[str], inner: Sequence[str]) -> tuple[str, ...]:
        """Return the payload's pointers of what stood at these pointers of the row and of its `input`."""
        if not outer and not inner:
            return ()
        found: list[str] = []
        for pointer in outer:
            key, slash, rest = pointer[1:].partition("/")
            heads = {self.placed[key]} if key in self.placed else set()
            heads |= {f"/_legacy/fields/{key}"} if key in self.fields else set()
            found += [head + slash + rest for head in sorted(heads) or [f"/{key}"]]
            if slash and pointer[1:] in self.placed:
                found.append(self.placed[pointer[1:]])
        return (*found, *(self.placed["input"] + pointer for pointer in inner))


def _place(kind: str, row: dict[str, Any], payload: dict[str, Any], fields: dict[str, Any]) -> _Places:
    """Give reserved keys the place this kind has for them; what has none goes into `fields`.

    Where the row has a key of the place's own name, that one stays, as in GEODE.
    """
    places = _Places(fields, {"event": "/_legacy/event"})
    if kind in _ROLES and type(row.get("text")) is str and "content" not in payload and _TOOL.isdisjoint(row):
        payload["content"] = row["text"]  # nearly every message: nothing to weigh
        places.placed["text"] = "/content"
        return places
    given: list[tuple[str, str, Any]] = []  # name in the payload, where in the row, value
    if kind in _ROLES:
        text, nested = row.get("text"), payload.get("payload")
        if text is None and isinstance(nested, dict):
            given = [("content", "payload/text", nested.get("text"))]
        else:
            given = [("content", "text", text)]
        given = [(place, origin, "" if value is None else value) for place, origin, value in given]
    elif kind == "tool.called":
        given = [("tool", "tool", _text(row.get("tool")))]
        if "arguments" not in payload:
            given.append(("arguments", "input", _arguments(row, places)))
    elif kind == "tool.completed":
        given = [("tool", "tool", _text(row.get("tool"))), ("summary", "summary", _text(row.get("summary")))]
    elif kind == "subagent.stopped" and "summary" in row:
        given = [("summary", "summary", row["summary"])]
    given = [one for one in given if one[0] not in payload]
    whole = {origin for _, origin, value in given if origin == "input" or value == row.get(origin)}
    fields.update({key: row[key] for key in _PLACED if key in row and key not in whole})
    for place, origin, value in given:
        payload[place] = value
        places.placed.setdefault(origin, f"/{place}")
    return places


def _arguments(row: dict[str, Any], places: _Places) -> Any:
    """Return a call's arguments; the text stays in `fields` too where parsing it would lose something."""
    given = row.get("input")
    if isinstance(given, dict):
        return given
    if not isinstance(given, str):
        if given is not None:
            places.fields["input"] = given
            places.placed["input"] = "/_legacy/fields/input"
        return {}
    try:
        places.inner = read = tolerant(given.encode())
    except (ValueError, RecursionError):
        places.placed["input"] = "/arguments/_legacy_fragment"
        return {"_legacy_fragment": given}
    if read.duplicates or read.nonfinite or read.escaped:
        places.fields["input"] = given
    if isinstance(read.value, dict):
        return read.value
    places.placed["input"] = "/arguments/_value"
    return {"_value": read.value}


def _text(value: Any) -> str:
    """Return a field as text: null, zero, false and empty are nothing, as GEODE reads them."""
    if isinstance(value, str):
        return value
    return dumps(value).decode() if value else ""


def _seconds(value: Any) -> float | None:
    """Return a `ts` in Unix seconds, None when it cannot be read or is no calendar time."""
    if isinstance(value, str):
        if len(value) > 64 or not _NUMBER.fullmatch(value):
            return None
        value = float(value)
    return float(value) if is_calendar(value) else None


SOURCE = GeodeLegacy()
