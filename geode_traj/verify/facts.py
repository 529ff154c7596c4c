"""What the verifier counts while it reads, for the checks to judge."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from geode_traj.codec.framed import EventText
from geode_traj.contract.derive import rules_of
from geode_traj.contract.gates import GateHit, find_hits, may_hit
from geode_traj.contract.issues import has_issue
from geode_traj.contract.kinds import CALLS, RESULTS, TURN_SCOPED
from geode_traj.contract.quality import Completeness, Quality, completeness
from geode_traj.contract.times import parse
from geode_traj.model.finding import Place
from geode_traj.verify.conduct import Conduct
from geode_traj.verify.look import ISSUE
from geode_traj.verify.payloads import answer
from geode_traj.verify.tracking import Agents, Lineage, Session, Sessions

# Only a file that claims to be reviewed is judged by these, and the claim stands at its end.
MAX_GATE_PLACES: Final = 100
_TIME_RULES: Final = frozenset({"previous_record", "next_record", "none_in_source", "naive_as_utc"})
_TOOLS: Final = CALLS | RESULTS
_SPOKEN: Final = TURN_SCOPED - _TOOLS


@dataclass(slots=True)
class EventView:
    """One well-formed event: its position from 1, its fields, what a look at it saw.

    `seconds` is its time (Unix seconds), `filled` by which rule the time was made up, "" where it is the
    source's own. `issue` says that it is a payload issue event, `signs` what else to look for (`look`).
    """

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
    zoned: bool
    filled: str
    issue: bool
    signs: int

    @property
    def place(self) -> Place:
        """Where it stands."""
        return self.at()

    def at(self, pointer: str | None = None) -> Place:
        """Return where it stands, or where something in it does, by the pointer within the event."""
        text = self.text
        span = None
        if text.offset is not None and text.data is not None:
            span = (text.offset, text.offset + len(text.data))
        full = None if pointer is None else f"/events/{self.position - 1}{pointer}"
        return Place(self.file, text.line, self.position, self.value["event_id"], full, span)


@dataclass(slots=True)
class OpenCall:
    """A call that no result has answered yet; `timed` says that its time is the source's own."""

    place: Place
    tool: Any
    seconds: float | None
    timed: bool


@dataclass(slots=True)
class Facts:
    """Running counts of one file; per event only a digest of its id is kept, and what is still open.

    `head` is empty until the last event was read. `given` are digests (SHA-256, hex) of bytes that the caller
    holds, by the path or reference that a trajectory names them by. Of the event being judged, `answered` is
    the call that a result answers, `again` says that a call's id, or a result's call, was met before in its
    turn, and `answer` how full a result is (`payloads.answer`).
    """

    given: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    head: dict[str, Any] = field(default_factory=dict)
    quality: Quality = field(default_factory=Quality)
    malformed: int = 0
    latest: float | None = None
    previous: float | None = None
    ordinal: int = 0
    answered: OpenCall | None = None
    again: bool = False
    answer: str = ""
    open: dict[tuple[str, str, str], deque[OpenCall]] = field(default_factory=dict)
    derived: Counter[str] = field(default_factory=Counter)
    derived_ids: int = 0
    filled: Counter[str] = field(default_factory=Counter)
    first_filled: Place | None = None
    empty_results: int = 0
    first_empty: Place | None = None
    redactions: Counter[str] = field(default_factory=Counter)
    omitted_bodies: int = 0
    gate_hits: list[tuple[Place, str, int]] = field(default_factory=list)
    sessions: Sessions = field(default_factory=Sessions)
    lineage: Lineage = field(default_factory=Lineage)
    agents: Agents = field(default_factory=Agents)
    conduct: Conduct = field(default_factory=Conduct)

    def feed(self, view: EventView) -> None:
        """Count one event; called before its checks."""
        payload = view.payload
        self.lineage.feed(view.value["event_id"], payload.get("parent_event_id"), view.at)
        if self.lineage.repeats:
            self.quality.ids_unique = False
        if view.value["ordinal"] != view.position:
            self.quality.ordinals_contiguous = False
        self.quality.feed(view.kind, view.session_id, view.turn_id, view.call_id, issue=view.issue)
        self.sessions.enter(view.session_id)
        self._kind(view, self.sessions.current)
        self.conduct.feed(view)
        if len(self.gate_hits) < MAX_GATE_PLACES:
            found = Counter(hit.cls for hit in gate_hits(view.value))
            self.gate_hits += [(view.place, cls, count) for cls, count in sorted(found.items())]
        rules, ids = rules_of(payload)
        for rule in rules:
            self.derived[rule] += 1
        self.derived_ids += ids
        listed = payload.get("_redactions")
        if isinstance(listed, list):
            self.redactions.update(str(item.get("class")) for item in listed if isinstance(item, dict))
        if "_content_omitted" in payload:
            self.omitted_bodies += 1
        if view.filled:
            self.first_filled = self.first_filled or view.place
            self.filled[view.filled] += 1

    def done(self, view: EventView) -> None:
        """Move on after an event's checks."""
        self.ordinal = view.value["ordinal"]
        if view.seconds is not None:
            self.previous = view.seconds
            self.latest = view.seconds if self.latest is None else max(self.latest, view.seconds)

    def _kind(self, view: EventView, session: Session) -> None:
        self.answered = None
        self.again = False
        self.answer = ""
        kind = view.kind
        if kind in _TOOLS:
            if view.call_id:
                self._pair(view, session)
            if kind in RESULTS and not view.issue:
                self.answer = answer(view.payload)
                if self.answer == "empty":
                    self.empty_results += 1
                    self.first_empty = self.first_empty or view.place
        elif kind in _SPOKEN:
            session.spoke = view.position
        elif kind == "session.started":
            session.since = None if view.filled else view.seconds
        elif kind == "subagent.started":
            self.agents.start(view.session_id, view.call_id, view.payload, view.place)
        elif kind == "subagent.stopped":
            self.agents.stop(view.session_id, view.call_id, view.payload)

    def _pair(self, view: EventView, session: Session) -> None:
        key = (view.session_id, view.turn_id, view.call_id)
        if view.kind in CALLS:
            self.again = session.call(view.turn_id, view.call_id)
            call = OpenCall(view.place, view.payload.get("tool"), view.seconds, not view.filled)
            self.open.setdefault(key, deque()).append(call)
        elif key in self.open:
            calls = self.open[key]
            self.answered = calls.popleft()
            if not calls:
                del self.open[key]
        else:
            self.again = session.called(view.turn_id, view.call_id)

    @property
    def untold(self) -> int:
        """How often something came after a bound of what can be remembered, and was not judged."""
        return self.sessions.untold + self.lineage.untold + self.agents.untold

    @property
    def integrity(self) -> dict[str, Any]:
        """The claimed `integrity` object."""
        claimed = self.head.get("integrity")
        return claimed if isinstance(claimed, dict) else {}

    def stated(self, key: str) -> list[str]:
        """Return a claimed list of reasons, empty texts left out."""
        reasons = self.integrity.get(key)
        return (
            [text for text in reasons if isinstance(text, str) and text] if isinstance(reasons, list) else []
        )

    def completeness(self) -> Completeness:
        """Compute flags and reasons; what the producer declares beyond them counts, flags count if false."""
        return completeness(
            self.quality,
            declared_scope=self.stated("scope_incompleteness"),
            declared_replay=self.stated("replay_incompleteness"),
            privacy=self.head.get("privacy"),
            fidelity=self.integrity.get("fidelity"),
        )


def view(file: str, text: EventText, signs: int) -> EventView:
    """Return the view of a schema-valid event; `signs` are what a look at it gave."""
    value = text.value
    payload = value["payload"]
    time = parse(value["occurred_at"])
    return EventView(
        file=file,
        text=text,
        position=text.ordinal,
        value=value,
        kind=value["kind"],
        session_id=value["session_id"],
        turn_id=value["turn_id"],
        call_id=value["call_id"],
        payload=payload,
        seconds=time[0] if time else None,
        zoned=time is not None and time[1],
        filled=_filled(payload),
        issue=bool(signs & ISSUE) and has_issue(payload),
        signs=signs,
    )


def _filled(payload: dict[str, Any]) -> str:
    """Return by which rule the event's time was made up, "" where it is the source's own."""
    marks = payload.get("_derived")
    if isinstance(marks, dict) and "occurred_at" in marks:
        rule = marks["occurred_at"]
        return rule if isinstance(rule, str) and rule in _TIME_RULES else "other"
    if "_timestamp_missing" in payload:
        return "missing"
    legacy = payload.get("_legacy")
    if "_timestamp_invalid" in payload or (isinstance(legacy, dict) and "timestamp_invalid" in legacy):
        return "invalid"
    return ""


def gate_hits(value: Any) -> list[GateHit]:
    """Return the gate hits in every text and key of a value."""
    texts: list[str] = []
    stack = [value]
    while stack:
        item = stack.pop()
        kind = type(item)  # exact types only, several times as fast as isinstance; this runs per event
        if kind is str:
            texts.append(item)
        elif kind is dict:
            texts.extend(item)
            stack.extend(item.values())
        elif kind is list:
            stack.extend(item)
    # A hit in one text is also one in all of them, joined by a character that no word holds.
    if not may_hit("\0".join(texts)):
        return []
    return [hit for text in texts if may_hit(text) for hit in find_hits(text)]
