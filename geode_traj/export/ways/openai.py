"""Chat messages as OpenAI's APIs and most trainers take them: JSON Lines, one conversation a line.

`{"messages":[…],"tools":[…]}`: roles system, user, assistant (`reasoning_content` beside its text,
`tool_calls` with arguments as text) and tool, each result right after the message that called. There are no
times, no turns and no usage. `tools` stands there only where the source listed them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Final

from geode_traj.codec.framed import Document
from geode_traj.contract.encoding import encode
from geode_traj.export.ways import chat, said
from geode_traj.export.ways.base import Way
from geode_traj.export.ways.ledger import Ledger
from geode_traj.export.ways.steps import Event, Step

_IMAGE: Final = "image/"


class OpenAI(Way):
    """One line a session."""

    name = "openai"
    format = "OpenAI chat messages"
    writes = "OpenAI chat messages JSONL, a session a line"
    suffix = ".openai.jsonl"
    several = True
    reasons: ClassVar = chat.REASONS | {
        "model": "messages do not name a model",
        "attachments": "messages hold images of users only, and only their data",
    }

    def session(self, document: Document, ledger: Ledger) -> Iterator[bytes]:
        """Yield the line of one session, a message at a time; nothing where it has none."""
        turns = _Session(document, ledger)
        before = b'{"messages":['
        for step in turns:
            for message in _messages(step, ledger):
                yield before + encode(message)
                before = b","
        tools = turns.finish(written=before == b",")
        if before == b",":
            yield b"]" + (b',"tools":' + encode(tools) if tools else b"") + b"}\n"


class _Session(chat.Turns):
    """Keeps the tools that the session's start lists."""

    def __init__(self, document: Document, ledger: Ledger) -> None:
        super().__init__(document, ledger)
        self._started: Event | None = None

    def left_out(self, event: Event, reason: str) -> None:
        """Keep a start that lists tools until it is known that there are messages; enter any other event."""
        listed = event["kind"] == "session.started" and _are_objects(event["payload"].get("tool_definitions"))
        if listed and self._started is None:
            self._started = event
        else:
            super().left_out(event, reason)

    def finish(self, *, written: bool) -> list[Any]:
        """Return the tools, and enter the start that lists them: the line holds it only if there is one."""
        if self._started is None:
            return []
        if not written:
            super().left_out(self._started, chat.KINDS["session.started"])
            return []
        self.ledger.carried(self._started, {"tool_definitions"})
        return list(self._started["payload"]["tool_definitions"])


def _are_objects(given: Any) -> bool:
    return isinstance(given, list) and bool(given) and all(isinstance(one, dict) for one in given)


def _messages(step: Step, ledger: Ledger) -> Iterator[dict[str, Any]]:
    if step.source == "agent":
        yield _assistant(step)
        for event in step.messages:
            ledger.carried(event, chat.HELD | step.told(event))
        for call in step.calls:
            ledger.carried(call, {"tool", "arguments", "call_id"})
        if step.usage is not None:
            ledger.left_out(step.usage, chat.KINDS["usage.recorded"])
        for result in step.results:
            yield {"role": "tool", "tool_call_id": result["call_id"], "content": _result(result)}
            ledger.carried(result, {said.result(result)[0], "call_id", "tool"})
        return
    for event in step.messages:
        content, held = _spoken(event)
        yield {"role": "user" if step.source == "user" else event["actor"], "content": content}
        ledger.carried(event, chat.HELD | held)


def _assistant(step: Step) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": step.text}
    if step.reasoning:
        message["reasoning_content"] = step.reasoning
    if step.calls:
        message["content"] = step.text or None
        message["tool_calls"] = [
            {
                "id": call["call_id"],
                "type": "function",
                "function": {"name": said.tool(call), "arguments": said.arguments_text(call)},
            }
            for call in step.calls
        ]
    return message


def _result(event: Event) -> Any:
    """Return what a tool said: a text, or text parts where it said several."""
    value = said.result(event)[1]
    texts = said.text_blocks(value)
    if texts is None or len(texts) == 1:
        return said.plain(value)
    return [{"type": "text", "text": text} for text in texts]


def _spoken(event: Event) -> tuple[Any, set[str]]:
    """Return a message's content, with the images whose data is at hand, and which words that holds."""
    text = said.content(event)
    given = list(said.attachments(event))
    images = [
        one for one in given if said.text(one, "media_type").startswith(_IMAGE) and said.text(one, "data")
    ]
    if not images or event["kind"] != "message.user":
        return text, set()
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    parts += (
        {"type": "image_url", "image_url": {"url": f"data:{one['media_type']};base64,{one['data']}"}}
        for one in images
    )
    return parts, {"attachments"} if len(images) == len(given) else set()


WAYS = (OpenAI(),)
