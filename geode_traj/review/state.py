"""What a review has come to: the outcome of every finding, as its policy and its journal say.

There is no other state: whoever reads the same folder comes to the same outcomes. The stricter decision of
two people stands: to leave a trajectory out goes before to redact, to redact before to approve.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from geode_traj.contract.policy import Policy, Treatment
from geode_traj.review.folder import Found, Review
from geode_traj.review.guide import PAYLOAD
from geode_traj.review.journal import Entry

Ranges = Sequence[Sequence[int]]

APPROVE: Final = "approve"
REDACT: Final = "redact"
LATER: Final = "later"
UNDECIDED: Final = "undecided"
WITHHELD: Final = "withheld"
POLICY: Final = "policy"
"""Who decides where nobody is asked."""

_TEXTS: Final = ("/outcome", "/provenance", "/privacy", "/integrity", "/evidence_refs", "/runtime_event_refs")
"""Where texts stand around the events; what else stands there are ids and facts."""

OutcomeKind = Literal["approve", "redact", "undecided", "withheld"]


class Outcome(NamedTuple):
    """What becomes of a finding, who said so (a reviewer, or the policy), and why, or what is missing."""

    kind: OutcomeKind
    by: str = ""
    reason: str = ""


class Said(NamedTuple):
    """What one person said last of one finding."""

    action: str
    reason: str
    seq: int


@dataclass(slots=True)
class State:
    """The outcomes of one review; call `refresh` when the journal has grown."""

    review: Review
    rejected: dict[str, Entry] = field(default_factory=dict)
    seen: dict[str, bytearray] = field(default_factory=dict)
    _said: dict[int, dict[str, Said]] = field(default_factory=dict)
    _taken: int = 0

    def __post_init__(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Take in what the journal holds since; an undo makes it start again."""
        entries = self.review.journal.entries
        if any(entry.kind == "undo" for entry in entries[self._taken :]):
            self.rejected, self.seen, self._said, self._taken = {}, {}, {}, 0
        undone = {entry.body["entry"] for entry in entries if entry.kind == "undo"}
        for entry in entries[self._taken :]:
            if entry.seq not in undone:
                self._take(entry)
        self._taken = len(entries)

    def outcome(self, found: Found) -> Outcome:
        """Return what becomes of a finding as things stand."""
        if found.path in self.rejected:
            return Outcome("withheld", self.rejected[found.path].body["reviewer"])
        fixed = fixed_outcome(self.review.policy, found)
        if fixed is not None:
            return fixed
        said = self._said.get(found.id, {})
        for reviewer, one in said.items():
            if one.action == REDACT:
                return Outcome("redact", reviewer)
        approved = {reviewer: one for reviewer, one in said.items() if one.action == APPROVE}
        needed = self.needed(found)
        if len(approved) >= needed:
            return Outcome("approve", " and ".join(sorted(approved)), next(iter(approved.values())).reason)
        if needed > 1:
            return Outcome("undecided", reason=f"{len(approved)} of {needed} approved it")
        return Outcome("undecided", reason="later" if said else "")

    def needed(self, found: Found) -> int:
        """Return how many people an approval of a finding needs."""
        return 2 if treatment(self.review.policy, found) == "two" else 1

    def waits_for(self, found: Found, reviewer: str) -> bool:
        """Tell whether a finding is undecided and this reviewer has not said what else than later."""
        if self.outcome(found).kind != UNDECIDED:
            return False
        said = self._said.get(found.id, {}).get(reviewer)
        return said is None or said.action == LATER

    def undecided(self) -> Iterator[Found]:
        """Yield what still needs a decision, in order."""
        return (found for found in self.review.findings if self.outcome(found).kind == UNDECIDED)

    def undoable(self, reviewer: str) -> Iterator[Entry]:
        """Yield the decisions of a reviewer that stand, the last first."""
        entries = self.review.journal.entries
        undone = {entry.body["entry"] for entry in entries if entry.kind == "undo"}
        for entry in reversed(entries):
            undoable = entry.kind in ("decision", "rejection") and entry.seq not in undone
            if undoable and entry.body["reviewer"] == reviewer:
                yield entry

    def counts(self) -> dict[str, dict[str, int]]:
        """Return how many findings of each class have which outcome."""
        counted: dict[str, Counter[str]] = {}
        for found in self.review.findings:
            counted.setdefault(self.outcome(found).kind, Counter())[found.cls] += 1
        return {kind: dict(sorted(classes.items())) for kind, classes in sorted(counted.items())}

    def approvals(self) -> dict[str, int]:
        """Return how many findings stay, by the reason that was given."""
        outcomes = map(self.outcome, self.review.findings)
        return dict(sorted(Counter(one.reason for one in outcomes if one.kind == APPROVE).items()))

    def covered(self, path: str) -> int:
        """Return how many events of a trajectory were on a screen."""
        return sum(self.seen.get(path, b""))

    def wanted(self) -> dict[str, int]:
        """Return how many percent of each trajectory's events must be seen."""
        policy = self.review.policy
        open_paths = {one.path for one in self.review.findings if fixed_outcome(policy, one) is None}
        asked, clean = (int(policy.setting("coverage", name)) for name in ("percent", "clean_percent"))
        return {one.path: asked if one.path in open_paths else clean for one in self.review.begun.candidates}

    def uncovered(self) -> Iterator[tuple[str, int, int]]:
        """Yield the trajectories of which too little was seen: name, percent seen, percent that must be."""
        wanted = self.wanted()
        for one in self.review.begun.candidates:
            percent = 100 * self.covered(one.path) // one.events if one.events else 100
            if percent < wanted[one.path] and one.path not in self.rejected:
                yield one.path, percent, wanted[one.path]

    def _take(self, entry: Entry) -> None:
        body = entry.body
        if entry.kind == "decision":
            said = Said(body["action"], body.get("reason", ""), entry.seq)
            for id_ in expanded(body["findings"]):
                self._said.setdefault(id_, {})[body["reviewer"]] = said
        elif entry.kind == "rejection":
            self.rejected[body["path"]] = entry
        elif entry.kind == "seen":
            self._see(body)

    def _see(self, body: Mapping[str, Any]) -> None:
        path = body["path"]
        if path not in self.seen:
            self.seen[path] = bytearray(self.review.of_path(path).events + 1)
        marks = self.seen[path]
        for first, last in body["events"]:
            low, high = max(1, first), min(last, len(marks) - 1) + 1
            marks[low:high] = b"\1" * max(0, high - low)


def treatment(policy: Policy, found: Found) -> Treatment:
    """Return what a policy does with a finding."""
    return policy.treatment(found.rule, found.cls, found.band)


def fixed_outcome(policy: Policy, found: Found) -> Outcome | None:
    """Return what becomes of a finding by policy alone, None where people decide."""
    if not found.pointer.startswith(_TEXTS if found.ordinal is None else PAYLOAD):
        return Outcome("redact", POLICY)  # in an id, which is replaced wherever it stands
    if found.allowed is not None:
        return Outcome("approve", POLICY, found.allowed)
    treats = treatment(policy, found)
    if treats == "redact":
        return Outcome("redact", POLICY)
    return Outcome("approve", POLICY, POLICY) if treats == "keep" else None


def ranges(ids: Iterable[int]) -> list[list[int]]:
    """Return numbers as ranges, each its first and last, in order."""
    out: list[list[int]] = []
    for id_ in sorted(set(ids)):
        if out and out[-1][1] == id_ - 1:
            out[-1][1] = id_
        else:
            out.append([id_, id_])
    return out


def expanded(some: Ranges) -> Iterator[int]:
    """Yield the numbers in ranges."""
    for first, last in some:
        yield from range(first, last + 1)
