"""What was observed of a run's model calls: in observation files, else in its trajectories.

An observation file is JSONL of `geode-traj.llm-attempt@1`. Starts and ends are joined by session and attempt
id; only what finished is counted (record contract §13). A line that cannot be read is damage, a value that a
provider does not report is missing: the two are never taken for each other.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from geode_traj.codec import jsonl, schema
from geode_traj.codec.files import reading
from geode_traj.codec.framed import EventText
from geode_traj.codec.reading import loads
from geode_traj.contract.accounting import Accounting
from geode_traj.contract.usage import FIELDS
from geode_traj.errors import DataError
from geode_traj.model.finding import Place

SCHEMA_ID: Final = "geode-traj.llm-attempt@1"
MAX_LINE: Final = 1 << 20
USAGE: Final = "usage.recorded"
Fault = tuple[str, str, Place]
"""(code, message, place)."""


class Observations:
    """The attempts of a run; `faults` are drained by whoever reports them."""

    def __init__(self, mandatory: Iterable[str]) -> None:
        self.accounting = Accounting()
        self.files = self.damaged = 0
        self.calls: Counter[str] = Counter()
        self.attempts: Counter[str] = Counter()
        self._mandatory = [name.removeprefix("usage.") for name in mandatory]
        self._calls: set[bytes] = set()

    def read(self, path: Path, name: str) -> Iterator[Fault]:
        """Read an observation file; yield its faults, each with file and line. `WorldError` TE201."""
        self.files += 1
        is_attempt = schema.validator(SCHEMA_ID)
        with reading(path) as stream:
            for line in jsonl.lines(stream, limit=MAX_LINE):
                place = Place(file=name, line=line.number)
                if line.data is not None and (not line.data or line.data.isspace()):
                    continue
                value = _value(line)
                if value is None or not is_attempt(value):
                    self.damaged += 1
                    torn = value is None and not line.ended
                    why = "the last line is torn" if torn else "the line is no record of an attempt"
                    yield "GT720", why, place
                else:
                    yield from self._record(value, place)

    def _record(self, value: dict[str, Any], place: Place) -> Iterator[Fault]:
        session, attempt = value["session_id"], value["attempt_id"]
        problem = self.accounting.attempts.feed(session, attempt, value["event"], place)
        if problem:
            why = "repeats an earlier one" if problem == "repeated" else "has no start"
            yield "GT723", f"the record of an attempt {why}", place
        if value["event"] == "started" or problem == "repeated":
            return
        usage = value.get("usage") or {}
        words = {**{key: item for key, item in value.items() if key != "usage"}, **usage}
        self.accounting.feed(session, words)
        self.attempts[session] += 1
        self.calls[session] += self._is_new(session, value.get("call_id") or "", attempt)
        yield from self._missing(words, place)

    def _is_new(self, session: str, call: str, attempt: str) -> bool:
        """Tell whether a call was not met before: several attempts may belong to one."""
        name = "\0".join((session, "call", call) if call else (session, "attempt", attempt))
        key = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        new = key not in self._calls
        self._calls.add(key)
        return new

    def _missing(self, words: dict[str, Any], place: Place) -> Iterator[Fault]:
        defaults = words.get("reported_default")
        for name in self._mandatory:
            value = words.get(name)
            if value in (None, "") or (isinstance(defaults, list) and name in defaults):
                known = name if name in FIELDS else "a mandatory member"
                yield "GT721", f"{known} is not reported", place

    def recorded(self, text: EventText, name: str) -> Iterator[Fault]:
        """Take a trajectory's event in place of an observation: each recorded usage is one call."""
        event = text.value
        payload = event["payload"]
        if event["kind"] != USAGE or payload.get("event") == "started":
            return
        if self.accounting.feed(event["session_id"], payload) is None:
            return
        self.calls[event["session_id"]] += 1
        self.attempts[event["session_id"]] += 1
        yield from self._missing(payload, Place(file=name, line=text.line, ordinal=text.ordinal))

    def unfinished(self) -> Iterator[Fault]:
        """Yield the attempts that never finished."""
        for place in self.accounting.attempts.open.values():
            yield "GT722", "an attempt was started and not finished", place


def _value(line: jsonl.Line) -> dict[str, Any] | None:
    """Return the object of a line, None where it holds none; it may leave out what it is."""
    if line.data is None:
        return None
    try:
        value = loads(line.data)
    except DataError:
        return None
    return {"schema_id": SCHEMA_ID, **value} if isinstance(value, dict) else None
