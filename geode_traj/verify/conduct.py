"""What a run did, beside what its file states: calls and their counts, operations, supervisor inferences.

The rules are those of `contract.accounting`, `contract.observed` and `contract.inference`; here is only where
an exported event keeps what they need. A finding about any of it speaks of the run: it makes no file invalid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.framed import EventText
from geode_traj.contract import inference, plan
from geode_traj.contract.accounting import Accounting
from geode_traj.contract.inference import Inferences
from geode_traj.contract.kinds import CALLS, RESULTS
from geode_traj.contract.observed import FEW_RUNS, MAX_RUNS, NOT_COVERED, Drift, Observed, Run
from geode_traj.contract.plan import OPERATION, SUBAGENT, TOOL, Plan
from geode_traj.contract.usage import Usage
from geode_traj.errors import DataError
from geode_traj.model.finding import Place

MAX_PLANS: Final = 64
_OPERATIONS: Final = frozenset({"legacy.imported", "message.assistant", "error.recorded"})
_SUBAGENTS: Final = frozenset({"subagent.started", "subagent.stopped"})
USAGE: Final = "usage.recorded"
_STIMM: Final = "stimm"
_ATTEMPT: Final = frozenset({"started", "finished"})


class Told(Protocol):
    """What is needed of an event: its fields, its time (Unix seconds), and where it stands (`facts`)."""

    file: str
    text: EventText
    position: int
    value: dict[str, Any]
    kind: str
    session_id: str
    turn_id: str
    call_id: str
    payload: dict[str, Any]
    seconds: float | None
    filled: str


@dataclass(slots=True)
class Declared:
    """A plan, the sessions that it is for, and where it stands ("" for one given beside the file)."""

    plan: Plan
    sessions: list[str]
    pointer: str = ""


@dataclass(slots=True)
class Conduct:
    """Feeds on a file's events; `given` is a plan from beside it, which stands above all that it declares.

    `usage`, `attempt`, `inference`, `alerts` and `malformed` speak of the current event alone.
    """

    given: Plan | None = None
    accounting: Accounting = field(default_factory=Accounting)
    inferences: Inferences = field(default_factory=Inferences)
    observed: Observed = field(default_factory=Observed)
    usage: Usage | None = None
    attempt: str = ""
    inference: str = ""
    alerts: list[tuple[str, int, int]] = field(default_factory=list)
    malformed: str = ""
    _plans: dict[str, Declared] = field(default_factory=dict)
    _planned: dict[str, str] = field(default_factory=dict)
    _open: dict[tuple[str, ...], Run] = field(default_factory=dict)
    _drifts: list[tuple[Declared, Drift]] | None = None

    def __post_init__(self) -> None:
        if self.given is None:
            self.observed.limit = FEW_RUNS

    def feed(self, event: Told) -> None:
        """Take the next event."""
        self.usage, self.attempt, self.inference, self.malformed = None, "", "", ""
        self.alerts = []
        kind, payload = event.kind, event.payload
        if payload.get("copied_context") is True:
            return
        if kind == USAGE:
            self._called(event)
        elif kind in CALLS or kind in RESULTS or kind in _SUBAGENTS:
            self._delegated(event)
        elif kind in _OPERATIONS and isinstance(payload.get("operation"), str):
            self._operation(event)
        if "plan" in payload and self.given is None and plan.is_plan(payload["plan"]):
            self._declare(payload["plan"], f"/events/{event.position - 1}/payload/plan", [event.session_id])
        if payload.get("source") == _STIMM:
            name = _native(payload)
            if name in inference.EVENTS:
                self._inference(event, name)

    def _inference(self, event: Told, name: str) -> None:
        session, payload = event.session_id, event.payload
        self.inference = self.inferences.feed(session, event.turn_id, name, payload, _place(event))
        if name == inference.COMPLETED:
            self.alerts = list(self.inferences.alerts(session, payload))

    def _called(self, event: Told) -> None:
        payload = event.payload
        word, attempt = payload.get("event"), payload.get("attempt_id")
        if isinstance(attempt, str) and attempt and word in _ATTEMPT:
            attempts = self.accounting.attempts
            self.attempt = attempts.feed(event.session_id, attempt, str(word), _place(event))
            if word == "started":
                return
        self.usage = self.accounting.feed(event.session_id, payload)

    def _delegated(self, event: Told) -> None:
        """Take a tool call or a sub-agent from its start to its end."""
        tool = event.kind not in _SUBAGENTS
        key = (TOOL, event.session_id, event.turn_id) if tool else (SUBAGENT, event.session_id)
        key = (*key, event.call_id)
        time = None if event.filled else event.seconds
        if event.kind in RESULTS or event.kind == "subagent.stopped":
            run = self._open.pop(key, None)
            if run is not None:
                run.end = time
            return
        name = event.payload.get("tool" if tool else "task_type")
        if not isinstance(name, str) or not name:
            return
        run = Run(time, None, event.position, event.text.line)
        if self.observed.ran(event.session_id, event.turn_id, (key[0], name), run, _who(event)):
            self._open[key] = run

    def _operation(self, event: Told) -> None:
        payload = event.payload
        name, took = payload["operation"], _duration(payload)
        if (name == "plan" and "plan" in payload) or (event.kind == "error.recorded" and took is None):
            return
        start = None if event.filled else event.seconds
        end = None if start is None or took is None else start + took
        if payload.get("source") == _STIMM:  # told when it ended
            if _native(payload) != inference.COMPLETED:
                return
            start, end = (None if start is None or took is None else start - took), start
        turn = None if payload.get("standalone") is True else event.turn_id
        run = Run(start, end, event.position, event.text.line)
        self.observed.ran(event.session_id, turn, (OPERATION, name), run, _who(event))

    def _declare(self, value: Any, pointer: str, sessions: list[str]) -> None:
        """Keep a plan for some sessions, the first of each; the same plan again is one."""
        wanted = [one for one in sessions if one not in self._planned]
        digest = sha256_bytes(dumps(value))
        known = self._plans.get(digest)
        if known is None:
            if len(self._plans) >= MAX_PLANS or not wanted:
                return
            try:
                known = self._plans[digest] = Declared(plan.read(value), [], pointer)
            except DataError as error:
                self.malformed = error.message
                return
        self.observed.limit = MAX_RUNS
        known.sessions += wanted
        self._planned.update(dict.fromkeys(wanted, digest))

    def drifts(self, head: dict[str, Any]) -> list[tuple[Declared, Drift]]:
        """Reconcile all that ran with its plans; once, after the last event."""
        if self._drifts is None:
            everything = self.observed.sessions
            source = head.get("source")
            if self.given is not None:
                declared = [Declared(self.given, everything)]
            else:
                self.malformed = ""
                if isinstance(source, dict) and "plan" in source:
                    self._declare(source["plan"], "/source/plan", [*everything, ""])
                declared = list(self._plans.values())
            self._drifts = [(one, self.observed.drift(one.plan, one.sessions)) for one in declared]
        return self._drifts

    def calls(self) -> dict[str, Any] | None:
        """Return the `accounting` block of a verify report, None where no call was recorded."""
        told = self.accounting
        return told.to_json() if told.all.calls or told.attempts.started else None

    def reconciliation(self, head: dict[str, Any]) -> dict[str, Any] | None:
        """Return the `reconciliation` block of a verify report, None where nothing was declared."""
        drifts = [drift for _, drift in self.drifts(head)]
        if not drifts:
            return None
        pairs = {
            what: sum(drift.pairs[what] for drift in drifts)
            for what in ("judged", "contradicted", "rerun", "unjudged")
        }
        undeclared = sum(len(drift.undeclared) for drift in drifts)
        return {
            "plans": len(drifts),
            "runs": self.observed.runs,
            "undeclared": undeclared,
            "unobserved": sum(len(drift.unobserved) for drift in drifts),
            "pairs": pairs,
            "consistent": not undeclared and not pairs["contradicted"],
            "left_out": self.observed.left_out,
            "not_covered": list(NOT_COVERED),
        }


def _place(event: Told) -> Place:
    return Place(event.file, event.text.line, event.position, pointer=f"/events/{event.position - 1}")


def _native(payload: dict[str, Any]) -> str:
    """Return the source's own name of an event."""
    legacy = payload.get("_legacy")
    name = legacy.get("event") if isinstance(legacy, dict) else payload.get("event")
    return name if isinstance(name, str) else ""


def _fields(payload: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield where a source's own words of an event may be: in its payload, or kept beside it."""
    yield payload
    legacy = payload.get("_legacy")
    if isinstance(legacy, dict) and isinstance(legacy.get("fields"), dict):
        yield legacy["fields"]


def _duration(payload: dict[str, Any]) -> float | None:
    """Return how long an operation took in seconds."""
    for words in _fields(payload):
        for key, unit in (("duration_ms", 0.001), ("duration_s", 1.0), ("latency_ms", 0.001)):
            value = words.get(key)
            if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12:
                return value * unit
    return None


def _who(event: Told) -> frozenset[str]:
    """Return the names of who ran an operation; the default actor of an export names nobody."""
    for words in _fields(event.payload):
        actor = words.get("actor")
        names = list(actor.values()) if isinstance(actor, dict) else [actor]
        found = frozenset(name for name in names[:8] if isinstance(name, str) and name)
        if found:
            return found
    actor = event.value["actor"]
    return frozenset() if actor in ("", "agent") else frozenset({actor})
