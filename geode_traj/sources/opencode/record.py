"""Records of a session, the same from every place that keeps them, and the events made of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.jsonl import MAX_LINE
from geode_traj.codec.reading import Tolerated, tolerant
from geode_traj.model.event import Damaged, Event
from geode_traj.sources import provenance, values
from geode_traj.sources.base import Input

FAMILY: Final = "opencode"
GIVES_NOT: Final = (
    "an explicit end",
    "times of most texts apart from their message's",
    "replaced states of a message",
    "tool output past what the program kept of it",
    "what a session was forked from, unless it was imported before",
)
_IDS: Final = frozenset({"id", "sessionID", "messageID", "parentID"})


@dataclass(slots=True)
class Record:
    """One record. `kind` is session, message, todo, damaged, or what else the place calls it.

    `read.value` of a message is {"info", "parts"}, of any other record {"info"}. `row` holds what a database
    keeps beside a message's data, `rows` the same of its parts. A damaged one has `reason` and `data`.
    """

    kind: str
    key: str
    read: Tolerated = Tolerated(None)  # noqa: RUF009 - immutable
    row: dict[str, Any] = field(default_factory=dict)
    rows: Sequence[dict[str, Any]] = ()
    reason: str = ""
    data: bytes = b""
    _sha256: str = ""

    @property
    def info(self) -> Any:
        """What the record says of itself."""
        return self.read.value.get("info")

    @property
    def parts(self) -> list[Any]:
        """A message's parts."""
        parts = self.read.value.get("parts")
        return parts if isinstance(parts, list) else []

    @property
    def sha256(self) -> str:
        """The digest of the record's content."""
        if not self._sha256:
            content = self.data if self.reason else dumps([self.read.value, dict(self.read.duplicates)])
            self._sha256 = hashlib.sha256(content).hexdigest()
        return self._sha256

    @property
    def identity(self) -> str:
        """The digest of everything there is of the record (importer decision J5)."""
        told = [self.kind, self.key, self.row, list(self.rows), self.sha256]
        return hashlib.sha256(dumps(told)).hexdigest()

    def said(self) -> str:
        """Return a digest of what a message says, which a fork of its session says again under other ids.

        "" where it does not tell when it was written: such a message may be equal by chance.
        """
        info = self.info
        time = info.get("time") if isinstance(info, dict) else None
        created = time.get("created") if isinstance(time, dict) else None
        if values.epoch_time(created, unit=0.001) is None:
            return ""
        bare = [_without_ids(info), *(_without_ids(part) for part in self.parts)]
        return hashlib.sha256(dumps(bare)).hexdigest()


def _without_ids(value: Any) -> Any:
    return {key: item for key, item in value.items() if key not in _IDS} if isinstance(value, dict) else value


def object_of(data: bytes) -> Tolerated | str:
    """Read the JSON object of a record, or return why it is none."""
    if len(data) > MAX_LINE:
        return "line_too_long"
    try:
        read = tolerant(data.removeprefix(b"\xef\xbb\xbf"))
    except RecursionError:
        return "too_deep"
    except ValueError:
        return "not_json" if data.strip(b"\0 \t\r\n") else "nul_block"
    return read if isinstance(read.value, dict) else "not_object"


def damaged(key: str, reason: str, data: bytes) -> Record:
    """Return a record that cannot be read."""
    return Record("damaged", key, reason=reason, data=data)


def joined(info: Tolerated, parts: Sequence[Tolerated]) -> Tolerated:
    """Return a message of its info and parts, with what was met while they were read."""
    value: dict[str, Any] = {"info": info.value, "parts": [part.value for part in parts]}
    reads = [("/info", info), *((f"/parts/{at}", part) for at, part in enumerate(parts))]
    if not any(read.escaped or read.nonfinite or read.duplicates for _, read in reads):
        return Tolerated(value)
    return Tolerated(
        value,
        [where + one for where, read in reads for one in read.escaped],
        [where + one for where, read in reads for one in read.nonfinite],
        {where + one: old for where, read in reads for one, old in read.duplicates.items()},
    )


class Teller:
    """Makes the events of one record; the first of them keeps what the record as a whole says."""

    def __init__(self, given: Input, session: str, number: int, record: Record, key: str = "") -> None:
        self.record = record
        self.session = session
        self.number = number
        self.marks: dict[str, Any] = {}
        self.columns: dict[str, Any] = {}
        self.events: list[Event] = []
        self._given = given
        self.key = key or record.key
        self._said = ""
        self._rest: dict[str, Any] = {}

    def keep(self, rest: dict[str, Any]) -> None:
        """Keep what the record as a whole says, in its first event."""
        self._rest = {"message": rest} if rest else {}

    def is_known_by(self, said: str) -> None:
        """Let the record be known again in a fork by what it says."""
        self._said = said

    def damage(self) -> Damaged:
        """Return the damaged record as what it is."""
        record = self.record
        data = record.data if len(record.data) <= MAX_LINE else None
        sha256 = hashlib.sha256(record.data).hexdigest()
        return Damaged(self.number, 0, len(record.data), sha256, record.reason, data, self.session)

    def event(
        self,
        kind: str,
        words: dict[str, Any],
        fields: dict[str, Any] | None = None,
        *,
        name: str = "",
        key: str = "",
        of: Any = None,
        time: Any = None,
        raw: bool = False,
        **columns: Any,
    ) -> Event:
        """Add an event.

        `of` is the part that it tells of, `key` that part's id; without them it tells of the record. `time`
        is in milliseconds; `fields` is what no word of the payload holds.
        """
        record, n = self.record, len(self.events)
        seconds = values.epoch_time(time, unit=0.001)
        kept = dict(fields or {})
        if n == 0:
            kept = self._rest | kept
        payload = {**words, **self.marks}
        read = (
            record.read
            if n == 0
            else Tolerated(record.read.value, record.read.escaped, record.read.nonfinite)
        )
        payload["_legacy"] = provenance.legacy(self._given, name or record.kind, self.number, kept, read)
        escaped, nonfinite = provenance.marks(payload, read)
        event = Event(
            kind=kind,
            session_id=self.session,
            line=self.number,
            record_sha256=record.sha256 if of is None else hashlib.sha256(dumps(of)).hexdigest(),
            payload=payload,
            time=seconds,
            key=f"{record.kind}:{self.key}" + (f"/{key}" if key else ""),
            n=n,
            raw=raw,
            escaped=escaped,
            nonfinite=nonfinite,
            content_key=f"{self._said}:{n}" if self._said else "",
            **{**self.columns, **columns},
        )
        self.marks.pop("active_leaf", None)  # one event is the leaf
        self.events.append(event)
        return event
