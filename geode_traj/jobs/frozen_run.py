"""A frozen run against what it left behind (`geode-traj.run@1`, record contract §13): `verify --run`.

Compared are run, task and source identifiers, the sessions and how each ended, calls, attempts and totals,
and the digests of ATIF, derived replay, trajectories and observations. The findings' pages, and the rules,
stand in `verify.checks.run`. Nothing is written: no reward is changed, and a run that passes approves no
further one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final

from geode_traj.codec import schema
from geode_traj.codec.files import read_bounded, reading, sha256_bytes, sha256_file
from geode_traj.codec.framed import EventText
from geode_traj.codec.reading import loads
from geode_traj.contract import dated
from geode_traj.contract.usage import FIELDS, Count, disagreement, number
from geode_traj.errors import DataError, TrajError
from geode_traj.jobs.observations import Fault, Observations
from geode_traj.model.finding import Finding, Place
from geode_traj.model.report import Report
from geode_traj.verify import Verified, verify_document
from geode_traj.verify.engine import PER_CODE, unreadable
from geode_traj.verify.registry import all_checks

SCHEMA_ID: Final = "geode-traj.run@1"
MAX_RUN: Final = 16 << 20
_BROKEN: Final = frozenset({"GT1207", "GT1208"})
_DEFAULT_HARNESS: Final = "geode"


@dataclass(frozen=True, slots=True)
class FrozenRun(Verified):
    """The result for a run's own file; `run` is what was computed of it."""

    run: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return one result of the verify report, with what was computed of the run."""
        told = Verified.to_json(self)
        return {**told, "run": self.run}


@dataclass(slots=True)
class _Session:
    """What trajectories tell of one session: its last event's kind and status, and its recorded calls."""

    file: str
    last: str = ""
    status: str = ""
    calls: int = 0


def verify_run(path: Path, trajectories: Iterable[Path] = ()) -> list[Verified]:
    """Compare a frozen run with its artifacts and with further trajectories.

    The first result is the run's own; then come the trajectories among its artifacts. Never raises for bad
    data.
    """
    try:
        data = read_bounded(path, MAX_RUN)
        run = _run(data, path)
    except TrajError as error:
        return [unreadable(str(path), error)]
    made = _Comparison(path, run)
    made.artifacts()
    for other in trajectories:
        made.trajectory(other, str(other), asked=False)
    made.compare()
    return [made.result(sha256_bytes(data), len(data)), *made.verified]


def is_broken(report: Report) -> bool:
    """Tell whether an artifact of a run is missing or another than the frozen one, and not known to be."""
    found = (one for entry in report.entries for one in entry.findings)
    return any(one.code in _BROKEN and not one.known for one in found)


def _run(data: bytes, path: Path) -> dict[str, Any]:
    value = loads(data, place=str(path))
    if isinstance(value, dict):
        value = {"schema_id": SCHEMA_ID, **value}
    for pointer, message in schema.problems(SCHEMA_ID, value, limit=1):
        raise DataError("TE208", name=SCHEMA_ID, why=f"{message} at {pointer or 'its root'}", place=str(path))
    run: dict[str, Any] = value
    return run


class _Comparison:
    """The state of one comparison."""

    def __init__(self, path: Path, run: dict[str, Any]) -> None:
        self.verified: list[Verified] = []
        self.counts: Counter[str] = Counter()
        self._name = str(path)
        self._folder = path.parent
        self._run = run
        self._findings: list[Finding] = []
        self._seen: dict[str, _Session] = {}
        self._digests: set[str] = set()
        self._observed = Observations(run["mandatory"])
        self._from_files = any(item["kind"] == "observation" for item in run["artifacts"])

    def artifacts(self) -> None:
        """Compare every artifact's digest; read observations, then trajectories."""
        listed = list(enumerate(self._run["artifacts"]))
        for index, item in sorted(listed, key=lambda one: one[1]["kind"]):
            pointer = f"/artifacts/{index}"
            found = _inside(self._folder, item["path"])
            if found is None:
                self._tell(
                    "GT1207", "the path leads out of the run's folder", Place(pointer=f"{pointer}/path")
                )
                continue
            try:
                self._artifact(item, found, pointer)
            except TrajError:
                self._tell("GT1207", f"the {item['kind']} file cannot be read", Place(pointer=pointer))

    def _artifact(self, item: dict[str, Any], path: Path, pointer: str) -> None:
        digest, _ = sha256_file(path)
        if digest != item["sha256"]:
            self._tell("GT1208", f"the {item['kind']} file is not the frozen one", Place(pointer=pointer))
        if item["kind"] == "observation":
            self._all(self._observed.read(path, str(path)))
        elif item["kind"] == "trajectory":
            self.trajectory(path, str(path), asked=True)

    def trajectory(self, path: Path, name: str, *, asked: bool) -> None:
        """Read a trajectory of the run; `asked` says that the run names it, so that it must be whole."""
        try:
            digest, size = sha256_file(path)
            if digest in self._digests:
                return
            with reading(path) as stream:
                document, dated_id = dated.read(stream, place=name, size=size)
                document.events = self._watched(document.events, name)
                found = verify_document(document, name=name, sha256=digest, size=size, dated_id=dated_id)
        except TrajError as error:
            found = unreadable(name, error)
        else:
            self._digests.add(digest)
            self._identity(document.head, name)
        if asked:
            self.verified.append(found)
            if found.verdict != "valid":
                self._tell("GT1209", f"the trajectory is {found.verdict}", Place(file=name))

    def _watched(self, events: Iterator[EventText], name: str) -> Iterator[EventText]:
        """Pass the events on, noting sessions and, where no observation file tells them, calls."""
        is_event = schema.validator("geode.trajectory@1", "event")
        for text in events:
            yield text
            if not is_event(text.value):
                continue
            event = text.value
            session = self._seen.setdefault(event["session_id"], _Session(name))
            if session.file != name:  # told by an earlier trajectory
                continue
            session.last = event["kind"]
            session.status = str(event["payload"].get("status") or "")
            session.calls += event["kind"] == "usage.recorded"
            if not self._from_files:
                self._all(self._observed.recorded(text, name))

    def _identity(self, head: dict[str, Any], name: str) -> None:
        source = head.get("source")
        source = source if isinstance(source, dict) else {}
        run, task = source.get("run"), source.get("task")
        if run not in (None, "", source.get("session"), self._run["run_id"]):
            self._tell("GT1201", "source.run is not the run's id", Place(file=name, pointer="/source/run"))
        if task not in (None, "", self._run["task_id"]):
            self._tell(
                "GT1202", "source.task is not the run's task", Place(file=name, pointer="/source/task")
            )
        wanted = self._run["source"]
        harness = source.get("harness")
        stated = source.get("name", None if harness == _DEFAULT_HARNESS else harness)
        revision = source.get("revision")
        if stated not in (None, "", wanted["name"]):
            self._tell("GT1203", "the source is another one", Place(file=name, pointer="/source"))
        elif revision not in (None, "") and wanted.get("revision") not in (None, "", revision):
            self._tell("GT1203", "the source's revision is another one", Place(file=name, pointer="/source"))

    def compare(self) -> None:
        """Compare sessions, calls and totals with what was read."""
        self._all(self._observed.unfinished())
        stated = {}
        for index, session in enumerate(self._run["sessions"]):
            stated[session["session_id"]] = session
            self._session(session, f"/sessions/{index}")
        unknown = [one for one in {**self._seen, **self._observed.attempts} if one not in stated]
        for one in unknown:
            seen = self._seen.get(one)
            self._tell(
                "GT1205", "a session that the run does not state", Place(file=seen.file if seen else None)
            )
        self._totals()

    def _session(self, stated: dict[str, Any], pointer: str) -> None:
        seen = self._seen.get(stated["session_id"])
        if seen is None:
            self._tell("GT1204", "no trajectory holds the session", Place(pointer=pointer))
        else:
            ended = seen.last == "session.ended"
            terminal = stated["terminal"]
            if ended != bool(terminal):
                is_ = "has" if ended else "has not"
                self._tell("GT1206", f"the session {is_} ended", Place(pointer=f"{pointer}/terminal"))
            elif isinstance(terminal, str) and ended and seen.status != terminal:
                self._tell("GT1206", "the session ended otherwise", Place(pointer=f"{pointer}/terminal"))
        told = f"{pointer}/calls"
        if not self._from_files:
            calls = self._observed.calls[stated["session_id"]]
            if calls not in (stated["calls"], stated["attempts"]):
                self._tell("GT725", f"{calls} call(s) are recorded", Place(pointer=told))
            return
        for key, counted in (("calls", self._observed.calls), ("attempts", self._observed.attempts)):
            count = counted[stated["session_id"]]
            if count != stated[key]:
                self._tell("GT725", f"{count} {key} finished", Place(pointer=f"{pointer}/{key}"))
        if seen and seen.calls and seen.calls not in (stated["calls"], stated["attempts"]):
            self._tell("GT725", f"the trajectory records {seen.calls} call(s)", Place(pointer=told))

    def _totals(self) -> None:
        totals = self._run["totals"]
        counted = {"calls": self._observed.calls.total(), "attempts": self._observed.attempts.total()}
        for key, count in counted.items():
            if key in totals and totals[key] != count and (self._from_files or key == "calls"):
                self._tell("GT724", f"{key} is not {count}", Place(pointer=f"/totals/{key}"))
        for key in FIELDS:
            if key in totals:
                why = _false(totals[key], self._observed.accounting.all.counts[key])
                if why:
                    self._tell("GT724", f"{key} {why}", Place(pointer=f"/totals/{key}"))

    def _all(self, faults: Iterable[Fault]) -> None:
        for fault in faults:
            self._tell(*fault)

    def _tell(self, code: str, message: str, place: Place) -> None:
        self.counts[code] += 1
        if self.counts[code] <= PER_CODE:
            check = all_checks()[code]
            where = place if place.file else Place(file=self._name, pointer=place.pointer)
            self._findings.append(Finding(code, check.severity, message, where, hint=check.hint))

    def result(self, sha256: str, size: int) -> FrozenRun:
        """Return the result for the run's own file."""
        more = [
            Finding(code, "note", f"{count - PER_CODE} more finding(s) of {code} are not listed",
                    Place(file=self._name))
            for code, count in sorted(self.counts.items()) if count > PER_CODE
        ]  # fmt: skip
        told = self._observed.accounting.to_json()
        return FrozenRun(
            self._name, sha256, size, SCHEMA_ID, "invalid" if self.counts else "valid",
            (*self._findings, *more), events=told["calls"], accounting=told,
            run={
                "sessions": len(self._run["sessions"]),
                "calls": self._observed.calls.total(),
                "observations": {"files": self._observed.files, "damaged_lines": self._observed.damaged},
                "artifacts": len(self._run["artifacts"]),
                "approves_next_run": False,
                "changes_reward": False,
            },
        )  # fmt: skip


def _inside(folder: Path, path: str) -> Path | None:
    """Return an artifact's place, None where it would lead out of the run's folder."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or "\0" in path:
        return None
    found = folder / pure
    return found if found.resolve().is_relative_to(folder.resolve()) else None


def _false(stated: Any, count: Count) -> str:
    """Return why a stated total is false against what was counted, "" where it holds."""
    told = count.to_json()
    if isinstance(stated, dict):
        for key in ("total", "observed_sum", "seen", "missing"):
            if key in stated and not _equal(stated[key], told[key]):
                return f"states another {key}"
        return ""
    if stated is None:
        return "is null, but every call reports it" if count.total is not None else ""
    if not stated and not count.seen + count.missing:  # nothing was called
        return ""
    why = disagreement(number(stated, whole=False) or 0, [count])
    return {
        "": "",
        "differs": "is not the sum of its calls",
        "below": "is less than its calls report",
        "unreported": f"is stated, but {count.missing} call(s) do not report it",
    }[why]


def _equal(stated: Any, counted: Any) -> bool:
    if stated is None or counted is None:
        return stated is counted
    return abs(float(stated) - float(counted)) <= 5e-5
