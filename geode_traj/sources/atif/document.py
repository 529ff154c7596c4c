"""The trajectories of one ATIF document: the root, and those of sub-agents that it embeds."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.reading import Tolerated
from geode_traj.sources.fields import word

EMBEDDED: Final = "subagent_trajectories"
_RECORD: Final = re.compile(rf"((?:/{EMBEDDED}/\d+)*)(/steps/\d+)?", re.ASCII)
_VERSION: Final = re.compile(r"ATIF-v(\d{1,4})\.(\d{1,4})", re.ASCII)


@dataclass(slots=True)
class Trajectory:
    """One trajectory: its object, its session and its parent's (None for the root), its JSON pointer.

    `embedded` maps the ids of the trajectories directly below it to their sessions.
    """

    value: dict[str, Any]
    session_id: str
    parent: str | None = None
    pointer: str = ""
    embedded: dict[str, str] = field(default_factory=dict)

    @property
    def steps(self) -> list[Any]:
        """Its steps."""
        steps = self.value.get("steps")
        return steps if isinstance(steps, list) else []

    @property
    def agent(self) -> dict[str, Any]:
        """The agent that ran."""
        agent = self.value.get("agent")
        return agent if isinstance(agent, dict) else {}


def problem(value: Any) -> str | None:
    """Return what keeps a document from being read at all, None for nothing."""
    if not isinstance(value, dict):
        return "the document is no object"
    if "steps" not in value:
        return "steps is missing"
    return None if isinstance(value["steps"], list) else "steps is no list"


def version(value: dict[str, Any]) -> tuple[int, int]:
    """Return the format's version, (0, 0) where it cannot be read."""
    found = _VERSION.match(value["schema_version"]) if isinstance(value.get("schema_version"), str) else None
    return (int(found[1]), int(found[2])) if found else (0, 0)


def trajectories(value: dict[str, Any], default: str) -> list[Trajectory]:
    """Return the root and all that it embeds, each followed by its own.

    A root is the session that it names, else the trajectory. Since 1.7 a session id covers a whole run, so an
    embedded trajectory goes by its own id, by its session's where no other has it, else by its place.
    """
    root = Trajectory(value, word(value, "session_id") or word(value, "trajectory_id") or default)
    taken = {root.session_id}
    out: list[Trajectory] = []
    waiting = [root]
    while waiting:
        one = waiting.pop()
        out.append(one)
        below = one.value.get(EMBEDDED)
        children = []
        for index, child in enumerate(below if isinstance(below, list) else ()):
            if not isinstance(child, dict):
                continue
            pointer = f"{one.pointer}/{EMBEDDED}/{index}"
            own = (word(child, "trajectory_id"), word(child, "session_id"), f"{root.session_id}{pointer}")
            session = next((name for name in own if name and name not in taken), own[2])
            while session in taken:
                session += "'"
            taken.add(session)
            one.embedded |= {name: session for name in own[1::-1] if name and name != one.session_id}
            children.append(Trajectory(child, session, one.session_id, pointer))
        waiting += reversed(children)
    return out


def records(value: Any) -> list[Any]:
    """Return the records of a document: every trajectory, and after each its steps."""
    if problem(value):
        return []
    return [record for one in trajectories(value, "") for record in (one.value, *one.steps)]


def unit_key(root: Trajectory) -> str:
    """Return what stays the same while a run's file is rewritten.

    That is the trajectory's id; without one, its session and how it began: files of one run share the first.
    """
    own = word(root.value, "trajectory_id")
    if own:
        return own
    began = [root.agent.get("name"), root.agent.get("version"), continuation(root), root.steps[:1]]
    return f"{root.session_id}#{sha256_bytes(dumps(began))[:16]}"


def continuation(root: Trajectory) -> int:
    """Return how many trajectories the root continues: as it says, or 1 where it begins with copied steps."""
    extra = root.agent.get("extra")
    index = extra.get("continuation_index") if isinstance(extra, dict) else None
    if type(index) is int and 0 <= index < 1 << 31:
        return index
    first = root.steps[0] if root.steps else None
    return int(isinstance(first, dict) and first.get("is_copied_context") is True)


def by_record(read: Tolerated) -> dict[str, Tolerated]:
    """Return what a tolerant read met, by the JSON pointer of the record that it concerns."""
    escaped: dict[str, list[str]] = {}
    nonfinite: dict[str, list[str]] = {}
    duplicates: dict[str, dict[str, list[Any]]] = {}
    for pointer in read.escaped:
        where = _record(pointer)
        escaped.setdefault(where, []).append(pointer[len(where) :])
    for pointer in read.nonfinite:
        where = _record(pointer)
        nonfinite.setdefault(where, []).append(pointer[len(where) :])
    for pointer, earlier in read.duplicates.items():
        where = _record(pointer)
        duplicates.setdefault(where, {})[pointer[len(where) :]] = earlier
    return {
        where: Tolerated(None, escaped.get(where, ()), nonfinite.get(where, ()), duplicates.get(where, {}))
        for where in escaped.keys() | nonfinite.keys() | duplicates.keys()
    }


def _record(pointer: str) -> str:
    found = _RECORD.match(pointer)
    return found[0] if found else ""
