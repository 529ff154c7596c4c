"""Verifying the manifest of a release alone, by those rules of releases that need no other file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from geode_traj.codec import schema
from geode_traj.codec.files import read_bounded, sha256_bytes
from geode_traj.codec.reading import loads
from geode_traj.contract.kinds import RELEASE
from geode_traj.errors import DataError
from geode_traj.jobs.found import Found
from geode_traj.model.finding import Place
from geode_traj.release.check.facts import Facts, Json
from geode_traj.release.check.limits import MAX_LIST
from geode_traj.release.check.registry import all_checks
from geode_traj.release.check.tree import Tree
from geode_traj.sources.base import Probe
from geode_traj.sources.geode_trajectory import one_object
from geode_traj.verify import Verified

_NAMED: Final = re.compile(rb'"schema_id"\s*:\s*"' + re.escape(RELEASE.encode()) + rb'"')
_ALONE: Final = ("RL1201", "RL1202", "RL1205", "RL1209", "RL1210", "RL1211", "RL1308")
"""The rules that judge the manifest by itself; the others need the folder."""


def is_manifest(probe: Probe) -> bool:
    """Tell whether a file is one JSON object that names the schema of manifests."""
    return one_object(probe) and bool(_NAMED.search(probe.head) or _NAMED.search(probe.tail))


def verify_manifest(path: Path) -> Verified:
    """Verify a manifest; raise `DataError` TE203 where it is too large, `WorldError` TE201."""
    data = read_bounded(path, MAX_LIST)
    found = Found(str(path), sha256_bytes(data), len(data), RELEASE)
    manifest = _read(data)
    facts = Facts("", "", Tree(), {}, manifest)
    for code in _ALONE:
        for finding in all_checks()[code].findings(facts):
            found.take(replace(finding, place=replace(finding.place, file=found.file)))
    if manifest.value is None:
        return found.result(str(path), 0)
    for message, pointer in _totals(manifest.value):
        found.add("GT163", message, Place(found.file, pointer=pointer))
    found.add("GT155", f"{len(manifest.value['files'])} listed file(s) were not looked at")
    return found.result(str(path), len(manifest.value["files"]))


def _read(data: bytes) -> Json:
    try:
        value = loads(data)
    except DataError as error:
        return Json(fault=error)
    problems = schema.problems(RELEASE, value)
    return Json(problems=problems) if problems else Json(value)


def _totals(manifest: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each total of `quality` that the entries do not sum up to, and each id that stands twice."""
    files, quality = manifest["files"], manifest["quality"]
    truth = {"trajectory_events": sum(entry["records"] for entry in files)}
    for what in ("scope", "replay"):
        complete = sum(entry[f"{what}_complete"] for entry in files)
        truth[f"{what}_complete_trajectories"] = complete
        truth[f"{what}_incomplete_trajectories"] = len(files) - complete
    truth["complete_trajectories"] = truth["replay_complete_trajectories"]
    truth["incomplete_trajectories"] = truth["replay_incomplete_trajectories"]
    for key, value in truth.items():
        if quality[key] != value:
            yield f"the entries give {value}", f"/quality/{key}"
    ids = Counter(entry["trajectory_id"] for entry in files)
    for index, entry in enumerate(files):
        if ids[entry["trajectory_id"]] > 1:
            yield "another entry has this id", f"/files/{index}/trajectory_id"
