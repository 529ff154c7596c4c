"""GT720 to GT725 and GT1201 to GT1209, frozen runs (`verify --run`, record contract §13).

A frozen run (`geode-traj.run@1`) states what a finished run was: its ids, its sessions with their end states,
its calls and totals, and the digests of what it left behind. `jobs.frozen_run` compares that with the files
themselves; here are only the pages. Rules:

1. Reading only: nothing is written, and no reward that a task's verifier gave is changed.
2. Calls and totals are those of the observation files where there are any, else of the trajectories.
3. A damaged observation file and a missing mandatory value are two findings: one tells of storage, the other
   of a provider. Neither stands for the other.
4. Unfinished work, a damaged file and an incomplete export never pass.
5. A run that passes is as it was frozen. That alone approves no further run.
"""

from __future__ import annotations

from geode_traj.verify.registry import engine_check


@engine_check("GT720", "error", "restore the file; what it held is not counted", since="2")
def observation_damaged() -> None:
    """A line of an observation file is no record of an attempt: torn, no JSON, or of another shape."""


@engine_check("GT721", "error", "the provider may not report it: then do not call it mandatory", since="2")
def mandatory_missing() -> None:
    """A finished attempt does not report a value that the run calls mandatory.

    A reported zero is a value; null and absence are none.
    """


@engine_check("GT722", "error", "an attempt that was not finished is not counted", since="2")
def attempt_open() -> None:
    """An attempt in an observation file was started and never finished (by session and attempt id)."""


@engine_check("GT723", "error", "each attempt starts once and finishes once", since="2")
def attempt_not_joined() -> None:
    """An attempt's end in an observation file has no start, or a record of it is repeated."""


@engine_check("GT724", "error", "an incomplete total is null; what was seen is its observed_sum", since="2")
def run_total_false() -> None:
    """A total that the run states is not what its calls give."""


@engine_check("GT725", "error", "count the finished attempts, and the calls that they belong to", since="2")
def run_calls_false() -> None:
    """A session's calls or attempts are not as many as the run states."""


@engine_check("GT1201", "error", "compare it with the run that was frozen", since="2")
def other_run() -> None:
    """A trajectory says that it is of another run.

    An export that knows no run names its session there: that says nothing.
    """


@engine_check("GT1202", "error", "compare it with the run that was frozen", since="2")
def other_task() -> None:
    """A trajectory says that it is of another task."""


@engine_check("GT1203", "error", "compare it with the run that was frozen", since="2")
def other_source() -> None:
    """A trajectory says that it comes from another source or revision."""


@engine_check(
    "GT1204", "error", "name the trajectory that holds it, with the paths or as an artifact", since="2"
)
def session_missing() -> None:
    """A session of the run is in none of its trajectories and observation files."""


@engine_check("GT1205", "error", "freeze the run anew if the session belongs to it", since="2")
def session_unknown() -> None:
    """A trajectory or observation file holds a session that the run does not state."""


@engine_check(
    "GT1206", "error", "a session that went on or never ended is not the one that was frozen", since="2"
)
def end_state_differs() -> None:
    """A session's end is not the one that the run states."""


@engine_check("GT1207", "error", "put the file where the run says it is", since="2")
def artifact_missing() -> None:
    """An artifact of the run cannot be read, or its path leads out of the run's folder."""


@engine_check("GT1208", "error", "the bytes changed since the run was frozen", since="2")
def artifact_differs() -> None:
    """The digest of an artifact (ATIF, derived replay, trajectory, observation) is not the frozen one."""


@engine_check("GT1209", "error", "see its own findings in this report", since="2")
def export_incomplete() -> None:
    """A trajectory of the run is unreadable, invalid, or its scope is not complete."""
