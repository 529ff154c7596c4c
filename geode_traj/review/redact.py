"""The published form of a trajectory: redacted, nothing guessable, integrity counted anew.

Two passes over the private candidate. The first learns its ids, its quality and its head; the second writes,
one event in memory: what a policy leaves out or changes (`contract.content`), the publication transforms
(`contract.publish`), then redaction of every string and key with the publish profile, then counts. What was
written is scanned and verified before it has its name.

Same candidate bytes, same key, same rules: same bytes. Several trajectories of one release share one
`ReleaseRedactor`, and with it ids and value numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from geode_traj.codec.files import reading, sha256_file, write_new
from geode_traj.codec.framed import frame, join, read
from geode_traj.contract.content import Switches, declared
from geode_traj.contract.encoding import encode
from geode_traj.contract.issues import has_issue
from geode_traj.contract.policy import Policy
from geode_traj.contract.publish import Ids, Publication, seal
from geode_traj.contract.quality import Quality
from geode_traj.contract.shift import Period, Shift, tells_time
from geode_traj.errors import DataError
from geode_traj.review import listing, statement
from geode_traj.review.dropped import DroppedGuide, dropped
from geode_traj.review.guide import PAYLOAD, Guides
from geode_traj.review.rescan import Engine, Kept, rescan
from geode_traj.scan.engine import Scanner
from geode_traj.scan.learn import Learner
from geode_traj.scan.numbering import Numbering
from geode_traj.scan.redact import Guide, Redaction, Redactor
from geode_traj.verify import verify_path

_SESSION_PREFIX: Final = "geode-session-"
_ID_FIELDS: Final = ("event_id", "session_id", "turn_id", "call_id", "kind", "actor")
_CHILD: Final = "child_session_key"


@dataclass(frozen=True, slots=True)
class Redacted:
    """One published form: the file's digest and size, and counts by class.

    `redactions` is what the file lists: also what an import had redacted, and what was redacted in the head;
    `approved` is what stands there as it was found.
    """

    trajectory_id: str
    sha256: str
    bytes: int
    events: int
    approved: dict[str, int]
    redactions: dict[str, int]


@dataclass(slots=True)
class Survey:
    """What the first pass learned of a candidate: its head, its quality as it is, and when it was."""

    path: Path
    head: dict[str, Any] = field(default_factory=dict)
    quality: Quality = field(default_factory=Quality)
    period: Period = field(default_factory=Period)


class ReleaseRedactor:
    """Writes the published forms of the trajectories of one release.

    `key` is private (32 bytes or more); `numbering` gives value numbers; `scanner` finds what the publish
    profile looks for; `engines` are asked about the result besides; `policy` says what more to leave out or
    to change, by its tables `content` and `release`. `survey` all trajectories before one `write`.
    """

    def __init__(
        self,
        key: bytes,
        numbering: Numbering,
        scanner: Scanner,
        *,
        engines: Iterable[Engine] = (),
        policy: Policy | None = None,
    ) -> None:
        self._switches = Switches.of(policy)
        self._ids = Ids()
        self._publication = Publication(key, self._ids, plain=self._switches.plain)
        self._numbering = numbering
        self._redactor = Redactor(scanner, numbering.number)
        self._engines = tuple(engines)
        self._private = lru_cache(maxsize=1 << 14)(self._is_private)

    def learn(self, candidates: Iterable[Path]) -> None:
        """Learn the names of users and hosts that all trajectories of the release hold, before anything else.

        What cannot be read is left for `survey` to refuse.
        """
        learner = Learner()
        for candidate in candidates:
            with suppress(DataError), reading(candidate) as stream:
                document = read(stream, place=candidate.name)
                for text in document.events:
                    learner.read(text.value)
                learner.read(document.head)
        scanner = self._redactor.scanner
        known = learner.known(scanner.known.values)
        if known != scanner.known:
            self._redactor = Redactor(scanner.knowing(known), self._numbering.number)
            self._private.cache_clear()

    def survey(self, candidate: Path, *, verified: bool = False) -> Survey:
        """Learn what a candidate holds; raise `DataError` TE303 unless it verifies.

        `verified`: these very bytes were, and need not be again.
        """
        if not verified:
            require_verified(candidate, candidate.name)
        survey = Survey(candidate)
        with reading(candidate) as stream:
            document = read(stream, place=candidate.name)
            for text in document.events:
                event = text.value
                self._ids.see(event)
                survey.period.see(event["occurred_at"])
                self._hide(event[name] for name in _ID_FIELDS)
                self._hide((event["payload"].get("parent_event_id"),))
                self._hide((event["session_id"], event["payload"].get(_CHILD)), sessions=True)
                _count(survey.quality, event, text.data)
            survey.head = document.head
        self._hide_in_head(survey.head)
        return survey

    def write(
        self, survey: Survey, out: Path, guides: Guides | None = None, *, reviewed: bool = True
    ) -> Redacted:
        """Write the published form of a surveyed candidate to the new file `out`.

        `guides` say what stays of what is found, and what else goes; `reviewed`: the file says that it was.
        Raises `DataError` TE308 if the written bytes still hold anything, naming classes and counts, TE303 if
        they do not verify, `WorldError` TE601 if `out` exists; nothing is left then.
        """
        writing = _Writing(
            survey, self._publication, self._redactor, guides or Guides(), self._switches, reviewed=reviewed
        )

        def check(path: Path) -> None:
            rescan(path, self._redactor.scanner, self._engines, writing.kept)
            require_verified(path, out.name)

        write_new(out, writing.chunks(), check=check)
        sha256, size = sha256_file(out)
        return writing.result(sha256, size)

    def _is_private(self, text: str) -> bool:
        return (self._switches.shift and tells_time(text)) or is_private(text, self._redactor.scanner)

    def _hide(self, identifiers: Iterable[object], *, sessions: bool = False) -> None:
        anyway = sessions and self._switches.pseudonyms
        for text in identifiers:
            if isinstance(text, str) and text and (anyway or self._private(text)):
                self._ids.hide(text)

    def _hide_in_head(self, head: dict[str, Any]) -> None:
        trajectory_id = head["trajectory_id"]
        self._hide((trajectory_id.removeprefix(_SESSION_PREFIX),), sessions=True)
        source = head["source"]
        sessions = [source["session"], source.get("run"), *(source.get("parents") or ())]
        for name in ("runtime_event_refs", "evidence_refs"):
            sessions += (reference.get("session_id") for reference in head.get(name, ()))
        self._hide(sessions, sessions=True)
        for named in sessions:
            self._ids.column("session_id", named)


class _Writing:
    """The second pass over one candidate."""

    def __init__(
        self,
        survey: Survey,
        publication: Publication,
        redactor: Redactor,
        guides: Guides,
        switches: Switches,
        *,
        reviewed: bool,
    ) -> None:
        self.kept: Kept = {}
        self._survey = survey
        self._publication = publication
        self._redactor = redactor
        self._guides = guides
        self._switches = switches
        self._shift = Shift(publication.shift(), survey.period) if switches.shift else None
        self._reviewed = reviewed
        self._quality = Quality()
        self._trajectory_id = ""
        self._omitted = 0
        self._reduced: Counter[str] = Counter()
        self._approved: Counter[str] = Counter()
        self._listed: Counter[str] = Counter()
        self._around: list[Redaction] = []

    def chunks(self) -> Iterator[bytes]:
        """Yield the file's bytes, in the order of the file, so that value numbers follow it."""
        head = self._survey.head
        before = {key: value for key, value in head.items() if key < "events"}
        after = {key: value for key, value in head.items() if key > "events"}
        yield frame(self._redact_head(before), encode)[0]
        with reading(self._survey.path) as stream:
            events = read(stream, place=self._survey.path.name).events
            yield from join(self._event(text.value) for text in events)
        yield frame(self._closing(after), encode)[1]

    def result(self, sha256: str, size: int) -> Redacted:
        """Return what was written."""
        redactions = self._listed + Counter(item.cls for item in self._around)
        return Redacted(
            self._trajectory_id,
            sha256,
            size,
            self._quality.events,
            statement.counts(self._approved),
            statement.counts(redactions),
        )

    def _event(self, candidate: dict[str, Any]) -> bytes:
        event, left_out = self._switches.reduced(candidate)
        self._reduced.update([left_out] if left_out else ())
        event = self._publication.event(self._shift.event(event) if self._shift else event)
        payload = event["payload"]
        entries = payload.pop("_redactions", None)
        payload, redactions = self._redact(payload, entries, event["ordinal"], event["kind"])
        if redactions:
            payload["_redactions"] = list(map(self._entry, redactions))
        seal(payload)
        event["payload"] = payload
        encoded = encode(event)
        _count(self._quality, event, encoded)
        self._omitted += "_content_omitted" in candidate["payload"]
        self._listed.update(item.cls for item in redactions)
        return encoded

    def _redact(
        self, value: dict[str, Any], entries: object, ordinal: int | None, kind: str = ""
    ) -> tuple[dict[str, Any], list[Redaction]]:
        """Redact a payload or a head; what an import had redacted takes part in the release's numbers."""
        guide: Guide | None = self._guides.of(ordinal)
        if drops := dropped(value, kind, self._switches):
            guide = DroppedGuide(guide, drops)
            self._reduced.update(guide.counts)
        value, done = self._redactor.redact(value, listing.listed(value, entries), renumber=True, guide=guide)
        if guide is None:
            return value, done
        root = "" if ordinal is None else PAYLOAD
        for one in done:
            if one.kept:
                places = self.kept.setdefault(ordinal, {})
                places.setdefault((root + one.pointer, one.in_key), []).append((one.start, one.end))
                self._approved[one.cls] += 1
        return value, [one for one in done if not one.kept]

    def _entry(self, redaction: Redaction) -> dict[str, object]:
        return listing.entry(redaction, self._redactor.scanner)

    def _redact_head(self, members: dict[str, Any]) -> dict[str, Any]:
        listed = self._survey.head["privacy"].get("_redactions")
        members = self._publication.head(self._shift.head(members) if self._shift else members)
        redacted, redactions = self._redact(members, listed, None)
        self._around += redactions
        return redacted

    def _closing(self, after: dict[str, Any]) -> dict[str, Any]:
        """Return the members behind the events, with what they state counted anew."""
        after = self._redact_head({**after, **statement.kept(self._survey.head, self._survey.quality)})
        around = list(map(self._entry, self._around))
        stated = statement.privacy(
            after["privacy"], self._listed, around, self._omitted, reviewed=self._reviewed
        )
        after["privacy"] = declared(stated, self._survey.head["privacy"], self._reduced, self._switches)
        after["integrity"] = statement.integrity(
            after["integrity"], after["privacy"], self._quality, self._listed
        )
        self._trajectory_id = after["trajectory_id"]
        return after


def is_private(text: str, scanner: Scanner) -> bool:
    """Tell whether an id or a name must not be shown."""
    # A placeholder in an id carries a number of the store that made it.
    return "[REDACTED:" in text or bool(scanner.find(text))


def public_name(name: str, scanner: Scanner, key: bytes, policy: Policy | None = None) -> str:
    """Return the name under which a trajectory may be published: its own, if nothing is found in it.

    A name may be made of a session's id or of a time: where the policy hides these, it is never its own.
    """
    switches = Switches.of(policy)
    hidden = switches.pseudonyms or (switches.shift and tells_time(name))
    if not hidden and not is_private(name, scanner):
        return name
    return f"trajectory-{Publication(key, Ids()).identifier(name)[:12]}.json"


def require_verified(path: Path, name: str) -> None:
    """Raise `DataError` TE303, naming the first error's code, for a trajectory that does not verify."""
    verified = verify_path(path, name=name)
    if verified.verdict not in ("valid", "incomplete"):
        code = next((finding.code for finding in verified.findings if finding.severity == "error"), "")
        raise DataError("TE303", place=name, what="the trajectory", why=code or verified.verdict)


def _count(quality: Quality, event: dict[str, Any], encoded: bytes | None) -> None:
    # The shortcut over the encoded bytes holds only where no character of them is escaped.
    plain = encoded if encoded is not None and b"\\u" not in encoded else None
    issue = has_issue(event["payload"], plain)
    quality.feed(event["kind"], event["session_id"], event["turn_id"], event["call_id"], issue=issue)
