"""Steps of a conversation: what one party said at once, with the calls it made and what came of them.

Formats that write a conversation keep calls, results and usage with the message they belong to; events tell
them one after the other. A step is handed out when all its calls are answered, in the order in which steps
began. So that nothing accumulates, only so many wait: the first of more is handed out as it is, and a result
that comes later still stands alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from geode_traj.codec.framed import Document
from geode_traj.export.ways import said

MAX_WAITING: Final = 64
MAX_WAITING_BYTES: Final = 8 << 20
_SUMMING: Final = "hermes"
"""Sources of this family count over a session or a run, never for one response."""

Event = dict[str, Any]
Source = Literal["system", "user", "agent", "result", "usage", "other"]


@dataclass(slots=True)
class Step:
    """One step; its events in order, by what they are.

    A `result` is one whose call is not known, `usage` one that belongs to no message, `other` an event that
    is no part of a conversation; each of these stands alone. `late` tells of a result that its call was
    there, but had been handed out.
    """

    source: Source
    messages: list[Event] = field(default_factory=list)
    calls: list[Event] = field(default_factory=list)
    results: list[Event] = field(default_factory=list)
    usage: Event | None = None
    late: bool = False
    _open: int = 0
    _bytes: int = 0

    @property
    def events(self) -> list[Event]:
        """All its events, by what they are."""
        return [*self.messages, *self.calls, *([self.usage] if self.usage else []), *self.results]

    @property
    def first(self) -> Event:
        """The event that the step began with."""
        return min(self.events, key=lambda event: event["ordinal"])

    @property
    def text(self) -> str:
        """What was said: the texts of its messages, a paragraph each."""
        return "\n\n".join(filter(None, map(said.content, self.messages)))

    @property
    def reasoning(self) -> str:
        """What was thought: the texts of its messages' reasoning, a paragraph each."""
        return "\n\n".join(filter(None, map(said.reasoning, self.messages)))

    def told(self, event: Event) -> set[str]:
        """Return the word of a message's reasoning that the step's own tells: it is present, beside it."""
        given = event["payload"].get("reasoning")
        present = isinstance(given, dict) and given.get("status") == "present"
        return {"reasoning.status"} if present and self.reasoning else set()

    @property
    def response_id(self) -> str:
        """The id of the model response it is, "" where no event tells."""
        return next(filter(None, map(said.response_id, (*self.messages, *self.calls))), "")


def steps(document: Document) -> Iterator[Step]:
    """Yield the steps of one session, every event of it in one of them."""
    conversation = _Conversation()
    for text in document.events:
        yield from conversation.feed(text.value, len(text.data or b""))
    yield from conversation.end()


class _Conversation:
    def __init__(self) -> None:
        self._waiting: deque[Step] = deque()
        self._bytes = 0
        self._agent: Step | None = None  # which further events of a response may still join
        self._calls: dict[str, deque[Step]] = {}
        self._gone: set[str] = set()

    def feed(self, event: Event, size: int) -> Iterator[Step]:
        """Take the next event; yield the steps that are complete."""
        step = self._place(event)
        step._bytes += size
        self._bytes += size
        yield from self._ready(MAX_WAITING, MAX_WAITING_BYTES)

    def end(self) -> Iterator[Step]:
        """Yield the rest."""
        self._agent = None
        yield from self._ready(0, 0)

    def _ready(self, most: int, most_bytes: int) -> Iterator[Step]:
        while self._waiting:
            step = self._waiting[0]
            over = len(self._waiting) > most or self._bytes > most_bytes
            if not over and (step._open or step is self._agent):
                return
            self._waiting.popleft()
            self._bytes -= step._bytes
            self._close(step)
            yield step

    def _close(self, step: Step) -> None:
        if step is self._agent:
            self._agent = None
        for call in step.calls if step._open else ():
            queue = self._calls.get(call["call_id"])
            if queue and step in queue:
                queue.remove(step)
                self._gone.add(call["call_id"])
                if not queue:
                    del self._calls[call["call_id"]]

    def _place(self, event: Event) -> Step:
        kind = event["kind"]
        if kind == "message.assistant":
            step = self._said(event)
            step.messages.append(event)
        elif kind == "tool.called":
            step = self._called(event)
        elif kind == "tool.completed":
            step = self._answered(event)
        elif kind == "usage.recorded":
            step = self._used(event)
        else:
            speaks = kind == "message.user" or said.is_system(event)
            source: Source = "user" if kind == "message.user" else "system" if speaks else "other"
            if speaks:
                self._agent = None
            step = self._new(Step(source, messages=[event]))
        return step

    def _new(self, step: Step) -> Step:
        self._waiting.append(step)
        if step.source == "agent":
            self._agent = step
        return step

    def _said(self, event: Event) -> Step:
        step, own = self._agent, said.response_id(event)
        if step is not None:
            begun = step.response_id
            if own and begun:
                joins = own == begun
            else:
                joins = not (step.text or step.calls or step.results or step.usage)
            if joins and _marks(step.messages[-1:] or step.calls) == _marks([event]):
                return step
        return self._new(Step("agent"))

    def _called(self, event: Event) -> Step:
        step, own = self._agent, said.response_id(event)
        if step is not None:
            begun = step.response_id
            joins = own == begun if own and begun else not (step.results or step.usage)
            if not joins or _marks(step.messages[-1:] or step.calls) != _marks([event]):
                step = None
        step = step or self._new(Step("agent"))
        step.calls.append(event)
        step._open += 1
        self._calls.setdefault(event["call_id"], deque()).append(step)
        return step

    def _answered(self, event: Event) -> Step:
        call_id = event["call_id"]
        queue = self._calls.get(call_id) if call_id else None
        if not queue:
            return self._new(Step("result", results=[event], late=call_id in self._gone))
        step = queue.popleft()
        if not queue:
            del self._calls[call_id]
        step._open -= 1
        step.results.append(event)
        return step

    def _used(self, event: Event) -> Step:
        step, own = self._agent, said.response_id(event)
        payload = event["payload"]
        summed = payload.get("observed_sum") or said.text(payload, "source").startswith(_SUMMING)
        if step is not None and step.usage is None and not summed:
            begun = step.response_id
            if own == begun if own and begun else not payload.get("purpose"):
                step.usage = event
                return step
        return self._new(Step("usage", usage=event))


def _marks(events: list[Event]) -> list[Any]:
    """Return what sets events apart that stand side by side: a copy, a branch that was left."""
    return [(one["payload"].get("copied_context"), one["payload"].get("branch")) for one in events]
