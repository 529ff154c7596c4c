"""An answer in the shape of the OpenAI chat API, whole or in pieces, as Rind's raw traces hold it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

# One answer is put together in memory: what is larger stays in its pieces.
MAX_CHARS: Final = 4 << 20
_REASONING: Final = ("reasoning_content", "reasoning")


@dataclass(slots=True)
class Call:
    """A tool call of an answer; `arguments` is its text."""

    id: str = ""
    name: str = ""
    arguments: Any = ""


@dataclass(slots=True)
class Answer:
    """What a model answered; `usage` has the words of importer decision J9, None where unreported."""

    content: Any = ""
    reasoning: str = ""
    response_id: str = ""
    calls: list[Call] = field(default_factory=list)
    usage: dict[str, Any] | None = None
    words: dict[str, Any] = field(default_factory=dict)


class Stream:
    """Puts the pieces of one answer together; only its first choice is followed."""

    def __init__(self) -> None:
        self.pieces = 0
        self._chars = 0
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, Call] = {}
        self._arguments: dict[int, list[str]] = {}
        self._id = ""
        self._finish: Any = None
        self._usage: dict[str, Any] | None = None

    @property
    def too_large(self) -> bool:
        """Whether the answer outgrew what is put together."""
        return self._chars > MAX_CHARS

    def piece(self, chunk: dict[str, Any]) -> None:
        """Take the next piece of a stream."""
        self.pieces += 1
        self._head(chunk)
        choice = _first(chunk)
        if choice.get("finish_reason") is not None:
            self._finish = choice["finish_reason"]
        delta = choice.get("delta")
        if not isinstance(delta, dict) or self.too_large:
            return
        self._add(self._content, delta.get("content"))
        for key in _REASONING:
            if isinstance(delta.get(key), str):
                self._add(self._reasoning, delta[key])
                break
        calls = delta.get("tool_calls")
        for number, call in enumerate(calls if isinstance(calls, list) else []):
            if isinstance(call, dict):
                self._call(call, number)

    def whole(self, value: dict[str, Any]) -> dict[str, Any]:
        """Take an answer given at once; return it without what has a place of its own."""
        self._head(value)
        choice = _first(value)
        self._finish = choice.get("finish_reason")
        message = choice.get("message")
        if not isinstance(message, dict):
            return value
        placed = set()
        if isinstance(message.get("content"), str):
            self._content.append(message["content"])
            placed.add("content")
        for key in _REASONING:
            if isinstance(message.get(key), str):
                self._reasoning.append(message[key])
                placed.add(key)
                break
        calls = message.get("tool_calls")
        for number, call in enumerate(calls if isinstance(calls, list) else []):
            if isinstance(call, dict):
                self._call({**call, "index": number}, number)
        kept = {key: item for key, item in message.items() if key not in placed}
        return {**value, "choices": [{**choice, "message": kept}, *value["choices"][1:]]}

    def answer(self) -> Answer:
        """Return what was taken so far."""
        for index, parts in self._arguments.items():
            self._calls[index].arguments = "".join(parts)
        return Answer(
            content="".join(self._content),
            reasoning="".join(self._reasoning),
            response_id=self._id,
            calls=[self._calls[index] for index in sorted(self._calls)],
            usage=self._usage,
            words={"finish_reason": self._finish} if self._finish is not None else {},
        )

    def _head(self, value: dict[str, Any]) -> None:
        if isinstance(value.get("id"), str) and value["id"]:
            self._id = value["id"]
        if isinstance(value.get("usage"), dict):
            self._usage = _usage(value["usage"])

    def _call(self, call: dict[str, Any], number: int) -> None:
        index = call.get("index")
        index = index if type(index) is int else number
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        made = self._calls.setdefault(index, Call())
        made.id = call["id"] if isinstance(call.get("id"), str) and call["id"] else made.id
        made.name = (
            function["name"] if isinstance(function.get("name"), str) and function["name"] else made.name
        )
        self._add(self._arguments.setdefault(index, []), function.get("arguments"))

    def _add(self, parts: list[str], more: Any) -> None:
        if isinstance(more, str) and more:
            self._chars += len(more)
            parts.append(more)


def _first(value: dict[str, Any]) -> dict[str, Any]:
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _usage(given: dict[str, Any]) -> dict[str, Any]:
    """Return the counters that the provider reported, under our words."""
    inner = {
        "cache_read_tokens": ("prompt_tokens_details", "cached_tokens"),
        "reasoning_tokens": ("completion_tokens_details", "reasoning_tokens"),
    }
    found: dict[str, Any] = {
        "input_tokens": given.get("prompt_tokens"),
        "output_tokens": given.get("completion_tokens"),
        "total_tokens": given.get("total_tokens"),
    }
    for word, (outer, key) in inner.items():
        details = given.get(outer)
        found[word] = details.get(key) if isinstance(details, dict) else None
    return found
