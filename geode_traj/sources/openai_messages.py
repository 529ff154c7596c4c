"""Conversations as OpenAI's chat interface takes them: one object with `messages`, or their list, a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

import jiter

from geode_traj.codec.jsonl import Line
from geode_traj.codec.reading import Tolerated, tolerant
from geode_traj.model.event import Event, Item
from geode_traj.sources.base import MAX_PROBED, Input, Probe
from geode_traj.sources.calls import Calls
from geode_traj.sources.chat.openai import ROLES, read
from geode_traj.sources.chat.record import Record
from geode_traj.sources.fields import without
from geode_traj.sources.lines import JsonLines

# What a message may hold: other programs' messages say more (an id, a time, a source, what was done).
_MEMBERS: Final = frozenset(
    """role content name tool_calls tool_call_id function_call refusal audio annotations reasoning
    reasoning_content reasoning_details thinking weight prefix cache_control partial""".split()
)
# A line that says one of these is another program's, though it holds such messages too.
_FOREIGN: Final = frozenset(
    """type event ts uuid sessionId schema_id schema_version session_start last_updated message_count
    started_at direction conversations trajectory trajectory_format info history steps simulations
    events""".split()
)
_OTHER_PARTS: Final = ("tool_use", "tool_result", "toolCall", "tool-call", "tool-result")
_SHOWN: Final = 64


class OpenAiMessages(JsonLines):
    """A file of conversations; each line is a session of its own."""

    name = "openai-messages"
    reads = "OpenAI chat messages JSONL"
    rows_are = (dict, list)
    gives_not = (
        "an explicit end",
        "session ids (a file's name and the line stand for them)",
        "message ids",
        "turn ids",
        "times",
        "the provider",
        "usage",
        "errors of tools",
        "call ids in the older function form",
    )

    def detect(self, probe: Probe) -> bool:
        """Match when most of the first lines are conversations, and nothing else's."""
        seen = matched = 0
        for value in _first_lines(probe.head):
            seen += _says_something(value)
            matched += is_conversation(value)
        return matched * 2 > seen

    def time_of(self, row: dict[str, Any]) -> float | None:
        """Return nothing: a conversation has no time."""
        return None

    def first_time(self, given: Input, stream: BinaryIO) -> float | None:
        """Return nothing: a conversation has no time."""
        return None

    def reader(self, given: Input) -> _Reader:
        """Return a reader of one file's lines."""
        return _Reader(given)


class _Reader:
    """Reads the lines of one file, each a conversation."""

    def __init__(self, given: Input) -> None:
        self._given = given

    def rows(self, line: Line, sha256: str, read_line: Tolerated) -> Iterator[Item]:
        """Yield what a line gives: the start of a session, which keeps what stands beside the messages."""
        value = read_line.value
        messages = value.get("messages") if isinstance(value, dict) else value
        record = Record(self._given, line.number, sha256, read_line, self._session(line.number))
        record.name = "messages"
        if not isinstance(messages, list) or not any(
            isinstance(one, dict) and "role" in one for one in messages
        ):
            record.unknown()
            yield from record.finish()
            return
        record.rest = without(value, "messages") if isinstance(value, dict) else {}
        words: dict[str, Any] = {"messages": len(messages)}
        if isinstance(record.rest.get("tools"), list):
            words["tool_definitions"] = record.rest.pop("tools")
        record.event("session.started", words)
        calls = Calls()
        for place, message in enumerate(messages, start=1):
            yield from record.take()
            read(record, calls, message, place)
            for item in record.items:
                if isinstance(item, Event):
                    item.payload["_legacy"]["message"] = place
        yield from record.finish()
        yield from calls.losses()

    def end(self) -> tuple[Item, ...]:
        """Return nothing: each line ends by itself."""
        return ()

    def _session(self, number: int) -> str:
        """Return the session of a line: the file's, for later lines with their number."""
        default = self._given.default_session
        return default if number == 1 else f"{default}-{number}"


def _says_something(value: Any) -> bool:
    """Tell whether a line may be a row of some program: an object that holds something, or a list of such."""
    rows = value if isinstance(value, list) else [value]
    return any(isinstance(row, dict) and row for row in rows)


def is_conversation(value: Any) -> bool:
    """Tell whether a line can only be a conversation of such messages."""
    messages = value
    if isinstance(value, dict):
        messages = value.get("messages")
        if not _FOREIGN.isdisjoint(value):
            return False
    if not isinstance(messages, list) or not messages:
        return False
    return all(map(_is_message, messages[:_SHOWN]))


def _is_message(message: Any) -> bool:
    if not isinstance(message, dict) or not _MEMBERS.issuperset(message):
        return False
    role, content, calls = (message.get(key) for key in ("role", "content", "tool_calls"))
    if not isinstance(role, str) or role not in ROLES:
        return False
    if isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") in _OTHER_PARTS for part in content
    ):
        return False
    calls = calls if isinstance(calls, list) else ()
    return all(isinstance(call, dict) and ("function" in call or "custom" in call) for call in calls)


def _first_lines(head: bytes) -> Iterator[Any]:
    """Yield the JSON values of the first lines; of one longer than the look, what it begins with."""
    seen = 0
    for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        data = line.strip().lstrip(b"\0")
        seen += bool(data)
        if seen > MAX_PROBED:
            return
        if data[:1] in (b"{", b"["):
            try:
                yield tolerant(data).value
            except (ValueError, RecursionError):
                if seen == 1:
                    yield _beginning(data)


def _beginning(data: bytes) -> Any:
    """Return what a cut line begins with, without the message that is cut, if it is not the only one."""
    try:
        value = jiter.from_json(data, partial_mode=True)
    except ValueError:
        return None
    messages = value.get("messages") if isinstance(value, dict) else value
    if isinstance(messages, list) and len(messages) > 1:
        del messages[-1]
    return value


SOURCE = OpenAiMessages()
