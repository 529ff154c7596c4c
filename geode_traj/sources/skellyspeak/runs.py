"""The runs of one file: which session each belongs to, what opens a session, how far each run has come.

A run is known by (session, id) and by its start, since ids are given again after the archive was cleared.
It is written anew when its application status changes: then the newest state takes its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.reading import Tolerated
from geode_traj.contract import times
from geode_traj.model.event import Event, Item, Loss, Session
from geode_traj.sources import values
from geode_traj.sources.base import Input
from geode_traj.sources.fields import id_text
from geode_traj.sources.parts import Part, damaged, inside
from geode_traj.sources.provenance import legacy
from geode_traj.sources.skellyspeak.run import NOT_REPORTED, Run

FAMILY: Final = "skellyspeak-runs"
GIVES_NOT: Final = (
    "an explicit end",
    "reasoning text",
    "evicted runs",
    "runs alive at a crash, cancelled and skipped work",
    "speech",
    "texts beyond the recording's budgets",
)
EVICTED: Final = "{count} run(s) evicted from the archive, which ones is unknown"
REPEATED: Final = "{count} earlier value(s) of repeated keys of the file left out"
# How far a run has come: of two states met in one import the further one is taken last.
_PROGRESS: Final = {NOT_REPORTED: 0, "reply_ready": 1}
_LAST: Final = 2


def is_run(value: Any) -> bool:
    """Tell whether a value is shaped like a run."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("operation"), str)
        and isinstance(value.get("attempts"), list)
        and isinstance(value.get("outcome"), str)
    )


def seconds(run: Any) -> float | None:
    """Return a run's start in Unix seconds."""
    return values.epoch_time(run.get("started_at_ms"), unit=0.001) if isinstance(run, dict) else None


def run_parts(document: Tolerated, pointer: str, listed: list[Any], session: str) -> Iterator[Part]:
    """Yield the opening of each session, then each run of the list at `pointer`, in file order."""
    named = _sessions(listed, session)
    first: dict[str, float] = {}
    for session_id, run in zip(named, listed, strict=True):
        start = seconds(run)
        if start is not None:
            first[session_id] = min(start, first.get(session_id, start))
    opened: dict[str, list[dict[str, Any]]] = {}
    for session_id, run in zip(named, listed, strict=True):
        if isinstance(run, dict):
            opened.setdefault(session_id, []).append(run)
    for session_id, runs in opened.items():
        yield _opening(session_id, runs, first.get(session_id))
    starts = _times(listed, named)
    for index, read in enumerate(inside(document, pointer, listed)):
        session_id, run = named[index], read.value
        if not isinstance(run, dict):
            yield damaged(index, run, session_id)
            continue
        sha256 = sha256_bytes(dumps(run))
        made = Run(read, index + 1, session_id, sha256, *starts[index])
        status = run.get("application_status", NOT_REPORTED)
        rank = index * 4 + (_PROGRESS.get(status, _LAST) if isinstance(status, str) else _LAST)
        yield Part(_key(session_id, run, sha256), sha256, 1, first.get(session_id), rank, made.items)


def _sessions(listed: list[Any], session: str) -> list[str]:
    """Return the session of each record; one that names none is `session`'s, a damaged one the last's."""
    found: list[str] = []
    for run in listed:
        if isinstance(run, dict):
            found.append(id_text(run.get("session_id")) or session)
        else:
            found.append(found[-1] if found else session)
    return found


def _key(session_id: str, run: dict[str, Any], sha256: str) -> str:
    number, start = id_text(run.get("id")), id_text(run.get("started_at_ms"))
    return f"{session_id}/{number or sha256[:16]}/{start}"


def _times(listed: list[Any], named: list[str]) -> list[tuple[float | None, str]]:
    """Return each run's start, else that of the run before it in its session, or after it, and the rule."""
    found: list[tuple[float | None, str]] = [(seconds(run), "") for run in listed]
    for rule, order in (
        ("previous_record", range(len(found))),
        ("next_record", range(len(found) - 1, -1, -1)),
    ):
        met: dict[str, float] = {}
        for index in order:
            time = found[index][0]
            if time is not None:
                met[named[index]] = time
            elif named[index] in met:
                found[index] = (met[named[index]], rule)
    return found


def _opening(session_id: str, runs: list[dict[str, Any]], first: float | None) -> Part:
    """Return what opens a session: no record of its own, but told by its first run."""
    version = next((run["app_version"] for run in runs if run.get("app_version") is not None), None)
    told = {"session_id": session_id, "app_version": version}
    sha256 = sha256_bytes(dumps(["session", told]))

    def items(given: Input) -> Iterator[Item]:
        yield Event(
            kind="session.started",
            session_id=session_id,
            line=0,
            record_sha256=sha256,
            payload={
                "app_version": version,
                "_legacy": legacy(given, "run", 0, {}, Tolerated(None)),
            },
            time=first,
            time_rule="first_run",
            key="session",
            n=1,
        )

    # Taken before any run of any file: another one may bring an earlier run of the session.
    return Part(session_id, sha256, 0, None if first is None else times.FIRST, -1, items)


def envelope_part(
    document: Tolerated,
    around: dict[str, Any],
    lists: list[str],
    sessions: list[str],
    sha256: str,
    evicted: int = 0,
) -> Part:
    """Return the part that stands for the file itself: what it says of all its sessions.

    `around` is the document without its runs, `lists` are the pointers of these, `evicted` is how many runs
    the file says are gone.
    """
    heads = tuple(pointer + "/" for pointer in lists)
    repeated = sum(len(found) for one, found in document.duplicates.items() if not one.startswith(heads))
    scope = [EVICTED.format(count=evicted)] if evicted else []
    if repeated:
        scope.append(REPEATED.format(count=repeated))
    declared: dict[str, Any] = {"scope": scope} if scope else {}
    if around:
        declared["envelope"] = around

    def items(_: Input) -> Iterator[Item]:
        if evicted:
            yield Loss("evicted_runs", evicted)
        if repeated:
            yield Loss("earlier_value_of_repeated_key", repeated)
        for session_id in dict.fromkeys(sessions) if declared else ():
            yield Session(session_id, declared)

    return Part("", sha256, 0, None, 0, items)
