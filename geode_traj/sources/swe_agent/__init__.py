"""SWE-agent's `.traj` files: one JSON document a run, written anew after every step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Item, Link
from geode_traj.sources.base import Input, Probe, file_text
from geode_traj.sources.fields import listed, objects
from geode_traj.sources.rewritten import Rewritten, beginning, document, head_of, within
from geode_traj.sources.swe_agent.run import Run


class SweAgent(Rewritten):
    """A run's history (what the model saw) and its trajectory (what was done), told once.

    A retrying agent's file holds its attempts too: each is a session below that of the run.
    """

    name = "swe-agent"
    reads = "SWE-agent .traj files, JSON"
    gives_not = (
        "times",
        "session ids",
        "turn ids",
        "call ids, where actions are text",
        "usage of single calls",
        "whether a command failed",
    )

    def detect(self, probe: Probe) -> bool:
        """Match a document with steps of actions and observations, or a history of typed messages."""
        value = document(probe)
        if not isinstance(value, dict):
            return False
        steps, history = (objects(value.get(key)) for key in ("trajectory", "history"))
        return any(map(_is_step, steps[:8])) or (not steps and any(map(_is_message, history[:8])))

    def problem(self, value: Any) -> str | None:
        """Return what is missing for a run: a list of steps, or of messages."""
        if not isinstance(value, dict):
            return "the document is no object"
        lists = [key for key in ("trajectory", "history") if key in value]
        odd = [key for key in lists if not isinstance(value[key], list)]
        if odd:
            return f"{odd[0]} is no list"
        return None if lists else "trajectory and history are missing"

    def key(self, given: Input, value: Any) -> str:
        """Return the session with a digest of how it began: runs of one instance share their file's name."""
        steps, history = listed(value.get("trajectory")), listed(value.get("history"))
        told = steps[:1] if steps else history[:4]
        return f"{session_of(given)}#{beginning(value.get('environment'), told)}"

    def count(self, value: Any) -> int:
        """Count the head, the messages and the steps of the run and of each attempt."""
        own = 1 + len(listed(value.get("history"))) + len(listed(value.get("trajectory")))
        return own + sum(self.count(one) for one in _attempts(value))

    def first_time(self, value: Any) -> None:
        """Return nothing: the format has no times."""
        return None

    def run(self, given: Input, read: Tolerated, key: str) -> Iterator[Item]:
        """Yield the run's records, after those of its attempts."""
        session, value = session_of(given), read.value
        number = 0
        attempts = _attempts(value)
        for place, one in enumerate(within(read, "/attempts", attempts)):
            child = f"{session}/attempts/{place}"
            yield Link(child, "parent", session)
            yield from Run(given, child, f"{key}/attempts/{place}", one.value, _met(one), number).items()
            number += self.count(one.value)
        yield from Run(given, session, key, value, _met(read), number).items()


def _met(read: Tolerated) -> tuple[Tolerated, list[Tolerated], list[Tolerated]]:
    """Return what a tolerant read met in the head, in each message and in each step."""
    history, steps = (listed(read.value.get(key)) for key in ("history", "trajectory"))
    head = head_of(read, "/history", "/trajectory", "/attempts")
    return head, within(read, "/history", history), within(read, "/trajectory", steps)


def _attempts(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the attempts that can be read as runs of their own; none where one cannot."""
    given = listed(value.get("attempts"))
    lists = ("trajectory", "history")
    whole = all(
        isinstance(one, dict)
        and "attempts" not in one
        and all(isinstance(one.get(key, []), list) for key in lists)
        for one in given
    )
    return given if whole else []


def _is_step(given: dict[str, Any]) -> bool:
    return "action" in given and bool({"observation", "response"} & given.keys())


def _is_message(given: dict[str, Any]) -> bool:
    return "role" in given and bool({"message_type", "agent"} & given.keys())


def session_of(given: Input) -> str:
    """Return a run's session: the override, else the file's name without its suffixes."""
    return file_text(given.override or Path(given.path.stem.removesuffix(".traj")))


SOURCE = SweAgent()
