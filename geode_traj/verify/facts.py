"""What the verifier counts while it reads, for the checks to judge."""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.contract.derive import rules_of
from geode_traj.contract.gates import GateHit, find_hits, may_hit
from geode_traj.contract.issues import has_issue
from geode_traj.contract.kinds import CALLS, RESULTS
from geode_traj.contract.quality import Completeness, Quality, completeness
from geode_traj.contract.times import parse
from geode_traj.model.finding import Place

# Only a file that claims to be reviewed is judged by these, and the claim stands at its end.
MAX_GATE_PLACES: Final = 100


@dataclass(slots=True)
class EventView:
    """One well-formed event: its position from 1, its fields, where it stands."""

    position: int
    value: dict[str, Any]
    place: Place
    kind: str
    session_id: str
    turn_id: str
    call_id: str
    payload: dict[str, Any]
    seconds: float | None
    zoned: bool
    issue: bool


@dataclass(slots=True)
class OpenCall:
    """A call that no result has answered yet."""

    place: Place
    tool: Any
    seconds: float | None


@dataclass(slots=True)
class Facts:
    """Running counts of one file; per event only a digest of its id is kept, and what is still open.

    `head` is empty until the last event was read.
    """

    head: dict[str, Any] = field(default_factory=dict)
    quality: Quality = field(default_factory=Quality)
    malformed: int = 0
    repeats_id: bool = False
    latest: float | None = None
    previous: float | None = None
    answered: OpenCall | None = None
    open: dict[tuple[str, str, str], deque[OpenCall]] = field(default_factory=dict)
    derived: Counter[str] = field(default_factory=Counter)
    derived_ids: int = 0
    redactions: Counter[str] = field(default_factory=Counter)
    gate_hits: list[tuple[Place, str, int]] = field(default_factory=list)
    _ids: set[bytes] = field(default_factory=set)

    def feed(self, view: EventView) -> None:
        """Count one event; called before its checks."""
        digest = hashlib.blake2b(
            view.value["event_id"].encode("utf-8", "surrogatepass"), digest_size=16
        ).digest()
        self.repeats_id = digest in self._ids
        self._ids.add(digest)
        if self.repeats_id:
            self.quality.ids_unique = False
        if view.value["ordinal"] != view.position:
            self.quality.ordinals_contiguous = False
        self.quality.feed(view.kind, view.session_id, view.turn_id, view.call_id, issue=view.issue)
        self._pair(view)
        if len(self.gate_hits) < MAX_GATE_PLACES:
            found = Counter(hit.cls for hit in gate_hits(view.value))
            self.gate_hits += [(view.place, cls, count) for cls, count in sorted(found.items())]
        rules, ids = rules_of(view.payload)
        for rule in rules:
            self.derived[rule] += 1
        self.derived_ids += ids
        listed = view.payload.get("_redactions")
        if isinstance(listed, list):
            self.redactions.update(str(item.get("class")) for item in listed if isinstance(item, dict))

    def done(self, view: EventView) -> None:
        """Move on after an event's checks."""
        if view.seconds is not None:
            self.previous = view.seconds
            self.latest = view.seconds if self.latest is None else max(self.latest, view.seconds)

    def _pair(self, view: EventView) -> None:
        self.answered = None
        if not view.call_id:
            return
        key = (view.session_id, view.turn_id, view.call_id)
        if view.kind in CALLS:
            self.open.setdefault(key, deque()).append(
                OpenCall(view.place, view.payload.get("tool"), view.seconds)
            )
        elif view.kind in RESULTS and key in self.open:
            calls = self.open[key]
            self.answered = calls.popleft()
            if not calls:
                del self.open[key]

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


def view(position: int, value: dict[str, Any], place: Place, plain: bytes | None) -> EventView:
    """Return the view of a schema-valid event; `plain` is its text if that holds no escaped characters."""
    payload = value["payload"]
    time = parse(value["occurred_at"])
    return EventView(
        position=position,
        value=value,
        place=place,
        kind=value["kind"],
        session_id=value["session_id"],
        turn_id=value["turn_id"],
        call_id=value["call_id"],
        payload=payload,
        seconds=time[0] if time else None,
        zoned=time is not None and time[1],
        issue=has_issue(payload, plain),
    )


def gate_hits(value: object) -> list[GateHit]:
    """Return the gate hits in every string and key of a JSON value."""
    texts: list[str] = []
    stack: list[object] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, dict):
            texts.extend(item)
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    # A hit in one text is also one in all of them, joined by a character that no word holds.
    if not may_hit("\0".join(texts)):
        return []
    return [hit for text in texts for hit in find_hits(text)]
