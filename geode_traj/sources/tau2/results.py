"""Where a run's simulations are: in its results, or each in a file in the folder beside them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import reading, sha256_bytes, sha256_file
from geode_traj.codec.reading import Tolerated
from geode_traj.contract.ids import MAX_SESSION_ID, fit
from geode_traj.errors import DataError, TrajError
from geode_traj.model.event import Damaged
from geode_traj.sources import document, values
from geode_traj.sources.base import Input, file_text
from geode_traj.sources.fields import listed, objects, word
from geode_traj.sources.rewritten import beginning, head_of, within

RESULTS: Final = "results.json"
BESIDE: Final = "simulations"
LISTS: Final = ("tasks", "simulation_index", BESIDE)
_OWN: Final = frozenset({"termination_reason", "reward_info", "messages", "ticks"})
_REASONS: Final = {"TE203": "line_too_long", "TE204": "too_deep"}

Place = int | Path
"""Where a simulation stands: its index in the results, or its file."""


def is_results(value: Any) -> bool:
    """Tell by its members whether a value is the results of a run."""
    if not isinstance(value, dict) or not isinstance(value.get("info"), dict):
        return False
    info = value["info"]
    told = bool(set(LISTS) & value.keys()) or "num_trials" in info
    return told and bool({"user_info", "agent_info", "environment_info"} & info.keys())


def is_simulation(value: Any) -> bool:
    """Tell by its members whether a value is a simulation."""
    if not isinstance(value, dict) or not {"id", "task_id"} <= value.keys():
        return False
    return len(_OWN & value.keys()) > 1 or ("start_time" in value and bool(_OWN & value.keys()))


def load(path: Path) -> tuple[Tolerated, str]:
    """Return what a run's file holds, and its digest; raise `DataError` as `document.load`."""
    with reading(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        read = document.load(stream, size, os.fspath(path))
        stream.seek(0)
        return read, sha256_bytes(stream.read(size))


@dataclass(frozen=True, slots=True)
class Found:
    """One simulation: what was read of it, its session, what is said of its run.

    `receipt` is the digest of the file that holds its reward, `sha256` identifies all of it.
    """

    read: Tolerated
    session_id: str
    receipt: str
    info: dict[str, Any]
    task: Any
    run: str
    sha256: str


class Results:
    """One run: what its results say, and where its simulations are.

    Of a simulation's file alone it is the results above, if there are any, and that one file.
    """

    def __init__(self, path: Path, override: str | None) -> None:
        self._read, self._sha256 = load(path)
        self.has_run = is_results(self._read.value)
        self.files: tuple[Path, ...] = (path,)
        self._alone = "" if self.has_run else word(self._read.value, "id")
        if self.has_run:
            for key in LISTS:
                if not isinstance(self._read.value.get(key), list | None):
                    raise DataError("TE208", name="tau2", why=f"{key} is no list", place=str(path))
            beside = sorted((path.parent / BESIDE).glob("*.json"), key=os.fsencode)
            self.files = tuple(one for one in beside if one.is_file() and not one.is_symlink())
        elif is_simulation(self._read.value):
            self._read, self._sha256 = _above(path)
        else:
            raise DataError("TE208", name="tau2", why="no run's info and no simulation", place=str(path))
        self.value: dict[str, Any] = self._read.value
        self.session_id = _called(path, override) if self.has_run else _called(_results_of(path), override)

    @property
    def run_key(self) -> str:
        """What stays the same while a run goes on, and differs from other runs'."""
        return f"{self.session_id}#{beginning(self.value.get('timestamp'), self.value.get('info'))}"

    @property
    def first_time(self) -> float | None:
        """When the run began, in Unix seconds."""
        return values.iso_time(self.value.get("timestamp"))[0]

    def run_digest(self) -> str:
        """Return the digest of what the results say beside simulations, and of which files there are."""
        own = {key: item for key, item in self.value.items() if key != BESIDE}
        return sha256_bytes(dumps([own, [file_text(one.name) for one in self.files]]))

    def run_total(self) -> int:
        """Count the run's own records: itself, its tasks, what it lists of its simulations."""
        return 1 + sum(len(listed(self.value.get(key))) for key in LISTS[:2])

    @cached_property
    def simulations(self) -> dict[str, Place]:
        """Where each simulation stands, by key; an id that another bears already gets a number."""
        inside = listed(self.value.get(BESIDE)) if self.has_run else []
        names = [word(one, "id") for one in inside]
        keyed: list[tuple[str, Place]] = [
            (name or self._unnamed(place), place) for place, name in enumerate(names)
        ]
        known = set(names)
        # A file beside repeats a simulation that is in the results already: those are read.
        files = ((self._alone or file_text(one.stem), one) for one in self.files)
        keyed += [(key, one) for key, one in files if key not in known]
        found: dict[str, Place] = {}
        numbers: dict[str, int] = {}
        for key, place in keyed:
            own = fit(key, MAX_SESSION_ID)
            while own in found:
                numbers[key] = numbers.get(key, 1) + 1
                own = fit(f"{key}~{numbers[key]}", MAX_SESSION_ID)
            found[own] = place
        return found

    def simulation(self, place: Place) -> Found | None:
        """Return one simulation, None where nothing of it can be read."""
        if isinstance(place, int):
            read, receipt = self._inside[place], self._sha256
        else:
            try:
                read, receipt = load(place)
            except DataError:
                return None
        if not isinstance(read.value, dict):
            return None
        task = self._tasks.get(str(read.value.get("task_id")))
        rewarded = receipt if read.value.get("reward_info") is not None else ""
        sha256 = sha256_bytes(dumps([read.value, dict(read.duplicates), self._info_digest, task, rewarded]))
        session = word(read.value, "id") or self._unnamed(place)
        return Found(read, session, receipt, self._info, task, self.session_id, sha256)

    def damage(self, place: Place) -> Damaged:
        """Return what is there where no simulation can be read."""
        if isinstance(place, int):
            data = dumps(self.value[BESIDE][place])
            return Damaged(place + 1, 0, len(data), sha256_bytes(data), "not_object", data, self.session_id)
        reason = "not_object"
        try:
            load(place)
        except DataError as error:
            reason = _REASONS.get(error.code, "not_json")
        sha256, size = sha256_file(place)
        return Damaged(1, 0, size, sha256, reason, None, file_text(place.stem))

    def around(self) -> Tolerated:
        """Return what a tolerant read met in the results outside their lists."""
        return head_of(self._read, *(f"/{key}" for key in LISTS))

    def listed(self, key: str) -> list[Tolerated]:
        """Return the records of one of the results' lists with what a tolerant read met in them."""
        return within(self._read, f"/{key}", listed(self.value.get(key)))

    @cached_property
    def _inside(self) -> list[Tolerated]:
        return self.listed(BESIDE)

    @cached_property
    def _tasks(self) -> dict[str, Any]:
        tasks = objects(self.value.get("tasks"))
        return {str(task["id"]): task for task in reversed(tasks) if "id" in task}

    @cached_property
    def _info(self) -> dict[str, Any]:
        info = self.value.get("info")
        return info if isinstance(info, dict) else {}

    @cached_property
    def _info_digest(self) -> str:
        return sha256_bytes(dumps(self._info))

    def _unnamed(self, place: Place) -> str:
        return file_text(place.stem) if isinstance(place, Path) else f"{self.session_id}/{BESIDE}/{place}"


def opened(given: Input) -> Results:
    """Return the run that a path leads to, read once for all its units; raise `DataError` TE202, TE208."""
    path = given.path / RESULTS if given.path.is_dir() else given.path
    near = (path, path.parent / BESIDE, _results_of(path))
    return _opened(path, given.override, tuple(map(_stat, near)))


@lru_cache(maxsize=2)
def _opened(path: Path, override: str | None, stats: tuple[tuple[int, int, int], ...]) -> Results:
    return Results(path, override)


def _stat(path: Path) -> tuple[int, int, int]:
    try:
        stat = path.stat()
    except OSError:
        return (0, 0, 0)
    return (stat.st_ino, stat.st_mtime_ns, stat.st_size)


def _results_of(path: Path) -> Path:
    """Return where the results of a simulation's file are, if it stands where runs keep them."""
    return path.absolute().parent.parent / RESULTS


def _above(path: Path) -> tuple[Tolerated, str]:
    """Return the results that a simulation's file belongs to, {} where there are none."""
    try:
        if path.absolute().parent.name == BESIDE and _results_of(path).is_file():
            read, sha256 = load(_results_of(path))
            if is_results(read.value):
                return read, sha256
    except (OSError, TrajError):
        pass
    return Tolerated({}), ""


def _called(path: Path, override: str | None) -> str:
    """Return a run's session: the override, the file's name, or where that is the usual one its folder's."""
    name = path.absolute().parent.name if path.name == RESULTS else path.stem
    return file_text(override or name or path.stem)
