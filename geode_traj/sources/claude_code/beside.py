"""What Claude Code keeps beside a transcript, in the session's folder: long outputs, and facts of sub-agents.

    <sessionId>.jsonl
    <sessionId>/tool-results/<name>.txt or .json
    <sessionId>/subagents/agent-<agentId>.jsonl and agent-<agentId>.meta.json
    <sessionId>/subagents/workflows/<runId>/agent-<agentId>.jsonl and agent-<agentId>.meta.json

Nothing outside that folder is ever read, whatever a transcript says, and no link in it is followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from geode_traj.codec.files import read_bounded
from geode_traj.codec.jsonl import MAX_LINE
from geode_traj.codec.reading import Tolerated, tolerant
from geode_traj.errors import TrajError
from geode_traj.sources.base import Input, file_text

OUTPUTS: Final = "tool-results"
AGENTS: Final = "subagents"
MAX_META: Final = 1 << 16
MAX_AGENTS: Final = 10_000
_NESTED: Final = 4
"""How many folders above a sub-agent's transcript the one of all sub-agents may be."""
_NAME: Final = re.compile(r"[\w-][\w.-]{0,200}", re.ASCII)
_META: Final = re.compile(r"agent-([\w-][\w.-]{0,200})\.meta\.json", re.ASCII)


_NOTHING: Final = Tolerated(None)


@dataclass(frozen=True, slots=True)
class Output:
    """A long output as it was read (a text, or what a JSON file holds), and its size in bytes; or why not.

    `loss` is a reason: output_elsewhere (it is not in the session's folder), output_missing, output_too_large
    or output_unreadable.
    """

    read: Tolerated = _NOTHING
    size: int = 0
    loss: str = ""


class Beside:
    """The folder of a transcript's session; where there is none, nothing is found in it."""

    def __init__(self, folder: Path | None = None, agents: Path | None = None) -> None:
        self._folder = folder
        self._agents = agents.relative_to(folder).parts if folder and agents else ()

    @classmethod
    def of(cls, given: Input, session_id: str) -> Beside:
        """Return what lies beside a transcript: the folder that is called after it, or after its session."""
        here = given.path.absolute().parent
        for folder in islice((here, *here.parents), _NESTED):
            if folder.name == AGENTS:
                return cls(folder.parent, here)
        for name in (given.stem, session_id):
            if _NAME.fullmatch(name) and (here / name).is_dir():
                return cls(here / name, here / name / AGENTS)
        return cls()

    def output(self, told: str) -> Output:
        """Return the output that a transcript says is kept at the path `told`, on whatever machine it was."""
        place, _, name = told.replace("\\", "/").rpartition("/")
        if place.rpartition("/")[2] != OUTPUTS or not _NAME.fullmatch(name):
            return Output(loss="output_elsewhere")
        file = self._held(OUTPUTS, name)
        if file is None:
            return Output(loss="output_missing")
        try:
            data = read_bounded(file, MAX_LINE)
        except TrajError as error:
            return Output(loss="output_too_large" if error.code == "TE203" else "output_unreadable")
        return Output(_value(data, name), len(data))

    def agent(self, agent_id: str) -> Tolerated | None:
        """Return what is told of a sub-agent, an object, or None."""
        return self._meta(f"agent-{agent_id}.meta.json") if _NAME.fullmatch(agent_id) else None

    def has_agent(self, agent_id: str) -> bool:
        """Tell whether the transcript of a sub-agent lies there."""
        name = f"agent-{agent_id}.jsonl"
        return _NAME.fullmatch(agent_id) is not None and self._held(*self._agents, name) is not None

    def started(self) -> dict[str, str]:
        """Return {call id: the sub-agent that says this call started it}, of several the first by name."""
        found: dict[str, str] = {}
        for name, agent_id in self._metas():
            read = self._meta(name)
            call_id = read.value.get("toolUseId") if read else None
            if isinstance(call_id, str) and call_id:
                found.setdefault(call_id, agent_id)
        return found

    def _metas(self) -> Iterator[tuple[str, str]]:
        if self._folder is None:
            return
        try:
            held = self._folder.joinpath(*self._agents).iterdir()
            names = sorted(file_text(path.name) for path in held)[:MAX_AGENTS]
        except OSError:
            return
        for name in names:
            if match := _META.fullmatch(name):
                yield name, match[1]

    def _meta(self, name: str) -> Tolerated | None:
        file = self._held(*self._agents, name)
        if file is None:
            return None
        try:
            read = tolerant(read_bounded(file, MAX_META))
        except (TrajError, ValueError, RecursionError):
            return None
        return read if isinstance(read.value, dict) else None

    def _held(self, *steps: str) -> Path | None:
        """Return a file of the folder, None where there is none or a link leads to it."""
        if self._folder is None:
            return None
        wanted = self._folder.parent.resolve().joinpath(self._folder.name, *steps)
        return wanted if wanted.is_file() and wanted.resolve() == wanted else None


def _value(data: bytes, name: str) -> Tolerated:
    r"""Read an output: JSON that says no less than its text, else the text, bytes that are none as `\xNN`."""
    if name.endswith(".json"):
        try:
            read = tolerant(data)
        except (ValueError, RecursionError):
            pass
        else:
            if not read.duplicates:
                return read
    text = data.decode("utf-8", "backslashreplace")
    return Tolerated(text, ("",) if len(text.encode()) != len(data) else ())
