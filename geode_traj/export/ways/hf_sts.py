"""The simple format of session traces that the Hugging Face Hub shows: JSON Lines, a session a file.

The first line names the harness, each further one is a message. The harness is the one that the source names,
else the source's format. Times are whole milliseconds; content is text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Final

from geode_traj.codec.framed import Document
from geode_traj.contract.encoding import encode
from geode_traj.contract.times import parse
from geode_traj.export.ways import chat, said
from geode_traj.export.ways.base import Way
from geode_traj.export.ways.ledger import Ledger
from geode_traj.export.ways.steps import Event, Step
from geode_traj.export.ways.words import time

_DEVELOPER: Final = "the format has no developers: their messages are written as the system's"

_HARNESS: Final = "harness is required and not recorded: the source's format stands there"


class HfSts(Way):
    """One session a file."""

    name = "hf-sts"
    format = "Hugging Face session traces, simple format"
    writes = "Hugging Face session traces (simple format) JSONL"
    suffix = ".hf-sts.jsonl"
    reasons: ClassVar = chat.REASONS | {
        "attachments": "content is text",
        "model": "only an assistant's message names its model",
        "occurred_at": "a message has one time, in whole milliseconds",
    }

    def session(self, document: Document, ledger: Ledger) -> Iterator[bytes]:
        """Yield the head before the first message, then a line a message."""
        turns = _Session(document, ledger)
        for step in turns:
            if not turns.begun:
                turns.begun = True
                yield encode(turns.head(step.first)) + b"\n"
            for message in _messages(step, ledger):
                yield encode({"type": "message", "message": message}) + b"\n"
        turns.finish()


class _Session(chat.Turns):
    """Keeps what the session's start says for the head."""

    def __init__(self, document: Document, ledger: Ledger) -> None:
        super().__init__(document, ledger)
        self.begun = False
        self._started: Event | None = None

    def left_out(self, event: Event, reason: str) -> None:
        """Take the session's start; enter any other event."""
        if event["kind"] == "session.started" and not self.begun and self._started is None:
            self._started = event
        else:
            super().left_out(event, reason)

    def finish(self) -> None:
        """Enter the session's start: without a message there is no head that could hold it."""
        if self._started is None:
            return
        if not self.begun:
            super().left_out(self._started, chat.KINDS["session.started"])
            return
        named = "name" if said.text(self._started["payload"], "name") else "title"
        self.ledger.carried(self._started, {"harness", named})

    def head(self, first: Event) -> dict[str, Any]:
        """Return the first line; `first` is the event of the first message."""
        payload = self._started["payload"] if self._started else {}
        if not said.text(payload, "harness"):
            self.ledger.note(_HARNESS)
        head = {
            "type": "session",
            "harness": said.text(payload, "harness") or first["payload"]["source"],
            "id": first["session_id"],
        }
        name = said.text(payload, "name") or said.text(payload, "title")
        return head | ({"name": name} if name else {})


def _messages(step: Step, ledger: Ledger) -> Iterator[dict[str, Any]]:
    if step.source == "agent":
        yield _assistant(step, ledger)
        if step.usage is not None:
            ledger.left_out(step.usage, chat.KINDS["usage.recorded"])
        for result in step.results:
            word, value = said.result(result)
            yield {
                "role": "tool",
                "toolCallId": result["call_id"],
                "content": said.plain(value),
                **_timestamp(result),
            }
            ledger.carried(result, {word, "call_id", "tool", *_timed(result, result)})
        return
    for event in step.messages:
        if event["actor"] == "developer":
            ledger.note(_DEVELOPER)
        role = "user" if step.source == "user" else "system"
        yield {"role": role, "content": said.content(event), **_timestamp(event)}
        ledger.carried(event, chat.HELD | _timed(event, event))


def _assistant(step: Step, ledger: Ledger) -> dict[str, Any]:
    first = step.first
    model = next(filter(None, (event["payload"]["model"] for event in (*step.messages, *step.calls))), "")
    message: dict[str, Any] = {"role": "assistant", "content": step.text, **_timestamp(first)}
    if model:
        message["model"] = model
    if step.reasoning:
        message["reasoningContent"] = step.reasoning
    if step.calls:
        message["toolCalls"] = [
            {
                "id": call["call_id"],
                "function": {"name": said.tool(call), "arguments": said.arguments_text(call)},
            }
            for call in step.calls
        ]
    for event in step.messages:
        ledger.carried(event, chat.HELD | {"model"} | step.told(event) | _timed(event, first))
    for call in step.calls:
        ledger.carried(call, {"tool", "arguments", "call_id", "model", *_timed(call, first)})
    return message


def _milliseconds(event: Event) -> int | None:
    parsed = parse(time(event))
    return round(parsed[0] * 1000) if parsed else None


def _timestamp(event: Event) -> dict[str, int]:
    milliseconds = _milliseconds(event)
    return {} if milliseconds is None else {"timestamp": milliseconds}


def _timed(event: Event, first: Event) -> set[str]:
    """Return the word for an event's time, if its message has just that."""
    written = _milliseconds(first)
    parsed = parse(time(event))
    return {"occurred_at"} if parsed and written is not None and parsed[0] * 1000 == written else set()


WAYS = (HfSts(),)
