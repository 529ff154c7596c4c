"""What an import says of one source (cli.md, `geode-traj.migrate-receipt@1`)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["imported", "unchanged", "extended", "superseded", "skipped", "failed"]
SCHEMA_ID = "geode-traj.migrate-receipt@1"


@dataclass(slots=True)
class SessionCount:
    """One session of a source: events met, generations, whether its last event here is an explicit end."""

    events: int = 0
    generations: set[int] = field(default_factory=set)
    terminal: bool = False
    redactions: Counter[str] = field(default_factory=Counter)

    def to_json(self, session_id: str) -> dict[str, Any]:
        """Return one row of the receipt's `sessions`."""
        return {
            "session_id": session_id,
            "events": self.events,
            "generations": len(self.generations),
            "terminal": self.terminal,
            "redactions": dict(sorted(self.redactions.items())),
        }


@dataclass(slots=True)
class MigrateReceipt:
    """Accounting of one source: `total` equals converted + kept_raw + damaged + blank + foreign, always."""

    source: str
    format: str | None
    sha256: str | None
    bytes: int | None
    status: Status
    reason: str | None = None
    code: str | None = None
    total: int = 0
    converted: int = 0
    kept_raw: int = 0
    damaged_count: int = 0
    blank: int = 0
    foreign: int = 0
    new: int = 0
    known: int = 0
    superseded: bool = False
    sessions: dict[str, SessionCount] = field(default_factory=dict)
    damaged: list[dict[str, Any]] = field(default_factory=list)
    losses: Counter[str] = field(default_factory=Counter)

    @property
    def balanced(self) -> bool:
        """Whether every record of the source is accounted for."""
        return self.total == self.converted + self.kept_raw + self.damaged_count + self.blank + self.foreign

    def to_json(self) -> dict[str, Any]:
        """Return the receipt as it is written, one JSON object a source."""
        return {
            "schema_id": SCHEMA_ID,
            "source": self.source,
            "format": self.format,
            "sha256": self.sha256,
            "bytes": self.bytes,
            "status": self.status,
            "reason": self.reason,
            "records": {
                "total": self.total,
                "converted": self.converted,
                "kept_raw": self.kept_raw,
                "damaged": self.damaged_count,
                "blank": self.blank,
                "foreign": self.foreign,
            },
            "events": {"new": self.new, "known": self.known},
            "sessions": [count.to_json(name) for name, count in sorted(self.sessions.items())],
            "damaged": self.damaged,
            "losses": [{"reason": name, "count": n} for name, n in sorted(self.losses.items())],
        }
