"""A problem found in data, and where."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in an input: every part that is known, `None` elsewhere. `span` is a byte span of the file."""

    file: str | None = None
    line: int | None = None
    ordinal: int | None = None
    event_id: str | None = None
    pointer: str | None = None
    span: tuple[int, int] | None = None

    @property
    def where(self) -> str:
        """The JSON pointer of what the place is in: its own, else its event's, else the whole ("")."""
        return self.pointer or ("" if self.ordinal is None else f"/events/{self.ordinal - 1}")

    def to_json(self) -> dict[str, object]:
        """Return the parts that are known (cli.md, verify report)."""
        return {key: value for key, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: a stable code, a message free of payload text, a place, related places, a hint.

    `known`: a baseline lists it, so that it is told but does not fail.
    """

    code: str
    severity: Severity
    message: str
    place: Place = Place()
    related: tuple[Place, ...] = ()
    hint: str = ""
    known: bool = False

    @property
    def unlisted(self) -> int:
        """For how many findings past a limit this note stands; 0 for any other finding."""
        number, _, rest = self.message.partition(" ")
        return int(number) if rest == f"more finding(s) of {self.code} are not listed" else 0

    def to_json(self) -> dict[str, object]:
        """Return the finding as the reports write it (cli.md, machine shapes)."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "hint": self.hint,
            "place": self.place.to_json(),
            "related": [place.to_json() for place in self.related],
            **({"known": True} if self.known else {}),
        }
