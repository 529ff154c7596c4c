"""The account of what a way out carried: every event whole, in part, or left out, with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.export.ways.words import CHECKING, words

SCHEMA: Final = "geode-traj.export-loss@1"
MAX_ROWS: Final = 1000
"""Different losses that are told apart: names of words are the source's, and may be without number."""
_FURTHER: Final = "(further words)"
_OPERATION: Final = 100


@dataclass(slots=True)
class _Row:
    """How often something was lost, and the ordinal of the first event that it concerns."""

    first: int
    count: int = 0


@dataclass(slots=True)
class _Kind:
    whole: int = 0
    part: int = 0
    left_out: int = 0


@dataclass(slots=True)
class Ledger:
    """Takes one entry an event; `reasons` tells why a format cannot hold a word, `otherwise` why any other.

    `sessions` are those whose events are entered, `derived` counts ids of theirs that no source gave,
    `notes` hold what the file as a whole had to say for want of knowing.
    """

    reasons: Mapping[str, str]
    otherwise: str
    sessions: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    derived: int = 0
    _kinds: dict[str, _Kind] = field(default_factory=dict)
    _words: dict[tuple[str, str, str], _Row] = field(default_factory=dict)
    _left: dict[tuple[str, str, str], _Row] = field(default_factory=dict)

    def carried(
        self, event: dict[str, Any], held: Iterable[str], lost: Mapping[str, str] | None = None
    ) -> None:
        """Enter an event that the file holds: `held` are its words there, `lost` this one's own reasons."""
        held = frozenset(held)
        kind = self._kind(event["kind"])
        missing = [word for word in words(event) if word not in held]
        kind.whole += not missing
        kind.part += bool(missing)
        for word in missing:
            reason = (lost or {}).get(word) or self._reason(word)
            _count(self._words, (event["kind"], word, reason), event["ordinal"])

    def left_out(self, event: dict[str, Any], reason: str) -> None:
        """Enter an event that the file does not hold at all."""
        self._kind(event["kind"]).left_out += 1
        operation = event["payload"].get("operation")
        shown = operation[:_OPERATION] if isinstance(operation, str) else ""
        _count(self._left, (event["kind"], shown, reason), event["ordinal"])

    def note(self, text: str) -> None:
        """Say something of the file as a whole, once."""
        if text not in self.notes:
            self.notes.append(text)

    @property
    def counts(self) -> Counter[str]:
        """How many events were entered (`total`): `whole`, in `part`, `left_out`."""
        counts: Counter[str] = Counter()
        for kind in self._kinds.values():
            counts.update(_counted(kind))
        return counts

    def report(self, **head: Any) -> dict[str, Any]:
        """Return the loss report: counts that add up, and each loss with its reason (schema of its name)."""
        counts = self.counts
        return {
            "schema_id": SCHEMA,
            **head,
            "sessions": self.sessions,
            "events": {name: counts[name] for name in ("total", "whole", "part", "left_out")},
            "kinds": {name: _counted(kind) for name, kind in sorted(self._kinds.items())},
            "words": [
                {"kind": kind, "word": word, "reason": reason, "count": row.count, "first": row.first}
                for (kind, word, reason), row in sorted(self._words.items())
            ],
            "left_out": [
                {"kind": kind, "operation": operation or None, "reason": reason, "count": row.count,
                 "first": row.first}
                for (kind, operation, reason), row in sorted(self._left.items())
            ],
            "derived_ids": self.derived,
            "not_counted": list(CHECKING),
            "notes": self.notes,
        }  # fmt: skip

    def _kind(self, name: str) -> _Kind:
        return self._kinds.setdefault(name, _Kind())

    def _reason(self, word: str) -> str:
        return self.reasons.get(word) or self.reasons.get(word.partition(".")[0]) or self.otherwise


def _counted(kind: _Kind) -> dict[str, int]:
    return {
        "total": kind.whole + kind.part + kind.left_out,
        "whole": kind.whole,
        "part": kind.part,
        "left_out": kind.left_out,
    }


def _count(rows: dict[tuple[str, str, str], _Row], key: tuple[str, str, str], ordinal: int) -> None:
    if key not in rows and len(rows) >= MAX_ROWS:
        key = (key[0], _FURTHER, key[2])
    row = rows.setdefault(key, _Row(ordinal))
    row.count += 1
    row.first = min(row.first, ordinal)
