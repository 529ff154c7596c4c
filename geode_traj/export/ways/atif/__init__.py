"""ATIF, the Agent Trajectory Interchange Format: one JSON document a session, 1.7 or 1.8.

A step is one message with its calls, what came of them, and what the model used. Short words that the
format's own fields do not hold stand in its `extra` objects, under the names they have in a trajectory. What
a session that was ATIF before said in such an object goes back where it stood.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from geode_traj.codec.framed import Document
from geode_traj.contract.encoding import encode
from geode_traj.errors import DataError
from geode_traj.export.ways import chat
from geode_traj.export.ways.atif.root import Root
from geode_traj.export.ways.atif.turns import Turns
from geode_traj.export.ways.base import Way
from geode_traj.export.ways.ledger import Ledger


class Atif(Way):
    """One document a session, written a step at a time."""

    suffix = ".atif.json"
    reasons: ClassVar = {
        **chat.REASONS,
        "attachments": "media lie in files of their own, and none is written",
        "model": "only a message names its model",
        "occurred_at": "a message has its step's time",
        "turn_id": "a step has one turn",
        "subagent": "the format refers to sub-agents by files, and none is named",
    }

    def __init__(self, version: str, name: str) -> None:
        self.name = name
        self.format = f"ATIF-v{version}"
        self.writes = f"ATIF {version} trajectories, JSON"
        self._audio = version == "1.8"

    def session(self, document: Document, ledger: Ledger) -> Iterator[bytes]:
        """Yield the document of one session: its steps first, since only its end tells the rest.

        Raises `DataError` TE302 where no event is a step: the format has no document without one.
        """
        root = Root(ledger)
        number = 0
        for number, step in enumerate(Turns(document, ledger, root, audio=self._audio), start=1):
            yield (b",\n" if number > 1 else self._opening(document, ledger)) + encode(
                {"step_id": number, **step}
            )
        if not number:
            raise DataError("TE302", what=f"{ledger.sessions[-1]} has no step of {self.format}")
        yield b"\n]," + encode(root.closing(number))[1:] + b"\n"

    def _opening(self, document: Document, ledger: Ledger) -> bytes:
        ids = {"session_id": ledger.sessions[-1], "trajectory_id": document.head["trajectory_id"]}
        return encode({"schema_version": self.format, **ids})[:-1] + b',"steps":[\n'


WAYS = (Atif("1.7", "atif"), Atif("1.8", "atif-1.8"))
