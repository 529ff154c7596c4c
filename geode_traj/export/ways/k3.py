"""The K3 shape: messages by role and run, with calls and results numbered for each message (contract §14).

A run is opened by a session's start, and by what is said after its end. An assistant's message gathers what
was thought and called until it speaks, or until a result comes; results side by side stand in one message.
Call ids are written as exported; `pairing` tells how many of them a source gave.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, ClassVar, Final

from geode_traj.codec.framed import Document
from geode_traj.contract.encoding import encode
from geode_traj.export.ways import chat, said
from geode_traj.export.ways.base import Way
from geode_traj.export.ways.ledger import Ledger
from geode_traj.export.ways.words import derived_marks

_SHAPE: Final = "k3-shaped/1"
_SPOKEN: Final = chat.HELD | {"turn_id"}

Event = dict[str, Any]


class K3(Way):
    """One document a session."""

    name = "k3"
    format = _SHAPE
    writes = "k3-shaped/1, messages by role and run, JSON"
    suffix = ".k3.json"
    reasons: ClassVar = chat.REASONS | {
        "attachments": "content is text",
        "model": "messages do not name a model",
        "turn_id": "a message has one turn",
        "opens_turn": "the format cannot say which messages open a turn",
    }

    def session(self, document: Document, ledger: Ledger) -> Iterator[bytes]:
        """Yield the document: its messages first, since how they pair is counted meanwhile."""
        head = {"schema": _SHAPE, "source_schema": document.head["schema_id"]}
        head["trajectory_id"] = document.head["trajectory_id"]
        yield encode(head)[:-1] + b',"messages":['
        shape = _Shape(ledger)
        before = b"\n"
        for text in document.events:
            for message in shape.feed(text.value):
                yield before + encode(message)
                before = b",\n"
        for message in shape.flush():
            yield before + encode(message)
            before = b",\n"
        yield b"\n]," + encode({"pairing": shape.pairing()})[1:] + b"\n"


class _Shape:
    """Makes messages of events, in order."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._run = 0
        self._ended = True
        self._message: dict[str, Any] | None = None
        self._open: dict[str, deque[int]] = {}
        self._paired = {"results": 0, "by_call_id": 0, "positional": 0}

    def pairing(self) -> dict[str, Any]:
        """Return how results were paired with calls: by ids that a source gave, or by place."""
        counts = self._paired
        by_id = counts["results"] == counts["by_call_id"] > 0
        return {**counts, "mode": "call_id" if by_id else "positional"}

    def feed(self, event: Event) -> Iterator[dict[str, Any]]:
        """Take an event; yield the messages that are complete."""
        kind = event["kind"]
        reason = self._refused(event)
        if kind in ("session.started", "session.ended"):
            yield from self.flush()
            self._ended = kind == "session.ended"
            if not self._ended:
                self._begin()
        if reason is not None:
            self._ledger.left_out(event, reason)
            return
        if self._ended:
            self._begin()
        if kind == "message.user":
            yield from self.flush()
            yield {**self._head(event, "user"), "content": said.content(event)}
            self._ledger.carried(event, _SPOKEN - {"reasoning.text"})
        elif kind == "message.assistant":
            yield from self._spoke(event)
        elif kind == "tool.called":
            yield from self._called(event)
        else:
            yield from self._answered(event)

    def flush(self) -> Iterator[dict[str, Any]]:
        """Yield the message that is being gathered."""
        if self._message is not None:
            yield self._message
        self._message = None

    def _refused(self, event: Event) -> str | None:
        kind, payload = event["kind"], event["payload"]
        if kind not in ("message.user", "message.assistant", "tool.called", "tool.completed"):
            return "the format has no such role" if said.is_system(event) else chat.why_not(event)
        if payload.get("branch") == "abandoned":
            return chat.ABANDONED
        if payload.get("copied_context"):
            return chat.COPIED
        return chat.CUT if kind.startswith("message.") and chat.is_cut(event) else None

    def _begin(self) -> None:
        self._run += 1
        self._ended = False
        self._open = {}

    def _head(self, event: Event, role: str) -> dict[str, Any]:
        return {"role": role, "run": self._run, "turn_id": event["turn_id"]}

    def _gathering(self, event: Event, role: str) -> Iterator[dict[str, Any]]:
        """Make the message that is gathered one of this role, yielding what it was before."""
        if self._message is not None and self._message["role"] != role:
            yield from self.flush()
        if self._message is None:
            own = {"think": "", "response": "", "tools": []} if role == "assistant" else {"results": []}
            self._message = {**self._head(event, role), **own}

    def _turn(self, event: Event) -> set[str]:
        same = self._message is not None and self._message["turn_id"] == event["turn_id"]
        return {"turn_id"} if same else set()

    def _spoke(self, event: Event) -> Iterator[dict[str, Any]]:
        yield from self._gathering(event, "assistant")
        assert self._message is not None
        self._ledger.carried(event, chat.HELD | self._turn(event))
        thought = said.reasoning(event)
        if thought:
            self._message["think"] = "\n\n".join(filter(None, (self._message["think"], thought)))
        if said.content(event):  # a text closes its message
            self._message["response"] = said.content(event)
            yield from self.flush()

    def _called(self, event: Event) -> Iterator[dict[str, Any]]:
        yield from self._gathering(event, "assistant")
        assert self._message is not None
        index = len(self._message["tools"])
        self._message["tools"].append(
            {
                "tool": said.tool(event),
                "index": index,
                "call_id": event["call_id"],
                "arguments": _arguments(event),
            }
        )
        if event["call_id"]:
            self._open.setdefault(event["call_id"], deque()).append(index)
        self._ledger.carried(event, {"tool", "arguments", "call_id", "branch", *self._turn(event)})

    def _answered(self, event: Event) -> Iterator[dict[str, Any]]:
        yield from self._gathering(event, "tool")
        assert self._message is not None
        word, value = said.result(event)
        status = event["payload"]["status"]
        self._message["results"].append(
            {
                "tool": said.tool(event),
                "index": self._index(event),
                "call_id": event["call_id"],
                "status": status,
                "summary": said.plain(value),
            }
        )
        held = {"tool", "call_id", "status", "branch", word, *self._turn(event)}
        if (status, event["payload"].get("is_error")) in (("ok", False), ("error", True)):
            held.add("is_error")
        self._ledger.carried(event, held)

    def _index(self, event: Event) -> int | None:
        """Return the number of the call that a result answers, and count how it was found."""
        self._paired["results"] += 1
        waiting = self._open.get(event["call_id"])
        if not waiting:
            return None
        native = "call_id" not in derived_marks(event)
        self._paired["by_call_id" if native else "positional"] += 1
        index = waiting.popleft()
        if not waiting:
            del self._open[event["call_id"]]
        return index


def _arguments(event: Event) -> Any:
    given = event["payload"].get("arguments")
    if isinstance(given, dict) and given.keys() == {"_legacy_fragment"}:
        return {"_truncated": given["_legacy_fragment"]}
    return {} if given is None else given


WAYS = (K3(),)
