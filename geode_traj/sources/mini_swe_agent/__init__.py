"""mini-swe-agent's `.traj.json` files: one JSON document a run, written anew after every step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event
from geode_traj.sources.base import Input, Probe, file_text
from geode_traj.sources.fields import listed, member, word
from geode_traj.sources.mini_swe_agent.messages import Messages, moment, text_action
from geode_traj.sources.mini_swe_agent.run import ended, started
from geode_traj.sources.record import Record
from geode_traj.sources.rewritten import Rewritten, beginning, document, head_of, within

_FORMAT: Final = re.compile(rb'"trajectory_format"\s{0,16}:\s{0,16}"mini-swe-agent')
_PACKAGE: Final = "minisweagent."
_OBSERVED: Final = ("<returncode>", "Observation: {", "<output>", "<exception>")


class MiniSweAgent(Rewritten):
    """A run as its flat list of messages, with or without what the agent says of itself."""

    name = "mini-swe-agent"
    reads = "mini-swe-agent .traj.json files, JSON"
    gives_not = (
        "session ids",
        "turn ids",
        "call ids, where actions are text",
        "times and usage, in the oldest files",
        "whether a person or the program interrupted, in older files",
    )

    def detect(self, probe: Probe) -> bool:
        """Match a document of messages that names the format or its agent, or messages of its protocol."""
        value = document(probe, lists=True)
        if isinstance(value, list):
            return _is_protocol(value)
        if not isinstance(value, dict) or "history" in value or "trajectory" in value:
            return False
        if word(value, "trajectory_format").startswith("mini-swe-agent"):
            return True
        if not isinstance(value.get("messages", []), list):
            return False
        info = value.get("info")
        if isinstance(info, dict) and "mini_version" in info:
            return True
        if word(info, "config", "agent_type").startswith(_PACKAGE):
            return True
        return "messages" in value and _FORMAT.search(probe.tail) is not None

    def problem(self, value: Any) -> str | None:
        """Return what is missing for a run: a list of messages."""
        if isinstance(value, list):
            return None
        if not isinstance(value, dict):
            return "the document is no object"
        if "messages" not in value:
            return "messages is missing"
        return None if isinstance(value["messages"], list) else "messages is no list"

    def key(self, given: Input, value: Any) -> str:
        """Return the session with a digest of how it began: runs of one task share their file's name."""
        return f"{session_of(given)}#{beginning(_messages(value)[:3])}"

    def count(self, value: Any) -> int:
        """Count the messages, and the head where there is one."""
        return len(_messages(value)) + (not isinstance(value, list))

    def first_time(self, value: Any) -> float | None:
        """Return the first message's time that can be read."""
        times = (moment(message)[0] for message in _messages(value))
        return next((time for time in times if time is not None), None)

    def run(self, given: Input, read: Tolerated, key: str) -> Iterator[Event]:
        """Yield the head's start, the messages, and the end if one is told."""
        value, session = read.value, session_of(given)
        pointer = "" if isinstance(value, list) else "/messages"
        head = None
        if not isinstance(value, list):
            own = {name: item for name, item in value.items() if name != "messages"}
            head = Record(given, session, 1, f"{key}:head", own, "run", head_of(read, pointer))
            yield started(head)
        info = member(value, "info")
        exited = bool(word(info, "exit_status"))
        reader = Messages(word(info, "config", "model", "model_name"), exited=exited)
        messages = within(read, pointer, _messages(value))
        for place, met in enumerate(messages):
            number = place + 1 + (head is not None)
            record = Record(given, session, number, f"{key}:message:{place}", met.value, met=met)
            record.time, record.time_rule = moment(met.value)
            if head is not None and not reader.ended and word(met.value, "role") == "exit":
                yield from ended(head, told=True, counted=reader.counted)  # the end stays the last
            yield from reader.read(record, last=place == len(messages) - 1)
        if head is not None and not reader.ended:
            yield from ended(head, told=False, counted=reader.counted)


def _messages(value: Any) -> list[Any]:
    return value if isinstance(value, list) else listed(member(value, "messages"))


def _is_protocol(messages: list[Any]) -> bool:
    """Tell whether a bare list is a run: a command in an answer, and its observation behind it."""
    if not all(isinstance(one, dict) and {"role", "content"} <= one.keys() for one in messages[:3]):
        return False
    if [word(one, "role") for one in messages[:3]] != ["system", "user", "assistant"]:
        return False
    acted = any(
        text_action(word(one, "content")) for one in messages[2:12] if word(one, "role") == "assistant"
    )
    seen = (word(one, "content") for one in messages[3:12] if word(one, "role") == "user")
    return acted and any(text.startswith(_OBSERVED) for text in seen)


def session_of(given: Input) -> str:
    """Return a run's session: the override, else the file's name without its suffixes."""
    return file_text(given.override or Path(given.path.stem.removesuffix(".traj")))


SOURCE = MiniSweAgent()
