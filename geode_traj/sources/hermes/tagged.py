"""Hermes's training form of a conversation: turns of `from` and `value`, with calls and thoughts in tags."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.codec.reading import Tolerated
from geode_traj.sources import values
from geode_traj.sources.hermes import parts

_THINK: Final = ("<think>", "</think>")
_CALL: Final = ("<tool_call>", "</tool_call>")
_RESPONSE: Final = ("<tool_response>", "</tool_response>")
_ROLES: Final = {
    "human": ("message.user", "user"),
    "gpt": ("message.assistant", "assistant"),
    "system": ("legacy.imported", "system"),
}


@dataclass(slots=True)
class Told:
    """One event of a conversation: `place` is its turn's number in the list."""

    kind: str
    payload: dict[str, Any]
    place: int
    role: str = ""
    call_id: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    raw: bool = False
    main: bool = True
    """Whether it is the first event of its turn."""


def conversation(turns: list[Any]) -> list[Told]:
    """Return the events of a conversation, in order.

    The k-th call of a step takes the id of the k-th response to it: only responses carry ids.
    """
    events: list[Told] = []
    waiting: list[Told] = []
    for place, turn in enumerate(turns):
        sender = turn.get("from") if isinstance(turn, dict) else None
        value = turn.get("value") if isinstance(turn, dict) else None
        if not isinstance(value, str) or sender not in (*_ROLES, "tool"):
            events.append(Told("legacy.imported", {"record": turn}, place, raw=True))
            continue
        extra = {key: turn[key] for key in turn if key not in ("from", "value")}
        if sender == "tool":
            told = _responses(value, place, waiting)
        else:
            told = _message(sender, value, place)
            waiting = [one for one in told if one.kind == "tool.called"]
        told[0].fields |= extra
        for one in told[1:]:
            one.main = False
        events += told
    return events


def _message(sender: str, value: str, place: int) -> list[Told]:
    kind, role = _ROLES[sender]
    if sender != "gpt":
        payload: dict[str, Any] = {"content": value}
        if sender == "system":  # made when the file was saved: not what was sent
            payload |= {"operation": "system_prompt", "generated_at_save": True}
        return [Told(kind, payload, place, role)]
    thought, rest = _thought(value)
    blocks, text = _blocks(rest, *_CALL)
    payload = {"content": text, "reasoning": values.reasoning(thought.strip() and thought)}
    message = Told(kind, payload, place, role)
    told = [message]
    for block, read in blocks:
        told.append(_call(block, read, place))
    return told


def _call(block: str, read: Tolerated | None, place: int) -> Told:
    given = read.value if read else None
    if read is None or not isinstance(given, dict):
        return Told("tool.called", {"tool": "", "arguments": {"_legacy_fragment": block}}, place)
    name = given.get("name") if isinstance(given.get("name"), str) else ""
    arguments, whole = parts.call_arguments(given.get("arguments"))
    placed = ({"name"} if name else set()) | ({"arguments"} if whole else set())
    fields = {key: given[key] for key in given if key not in placed} | _text_of(block, read)
    return Told("tool.called", {"tool": name, "arguments": arguments}, place, fields=fields)


def _text_of(block: str, read: Tolerated) -> dict[str, str]:
    """Return the text of a block whose JSON says less than it."""
    return {"text": block} if read.escaped or read.nonfinite or read.duplicates else {}


def _responses(value: str, place: int, waiting: list[Told]) -> list[Told]:
    blocks, text = _blocks(value, *_RESPONSE)
    told = []
    for block, read in blocks:
        if read is None or not isinstance(read.value, dict):
            told.append(Told("tool.completed", {"tool": "", "result": block, "is_error": None}, place))
        else:
            told.append(_response(read.value, place, _text_of(block, read)))
    if text or not told:  # no tags: the result stands as it is
        payload = {"tool": "", "result": text, "is_error": None}
        told.append(Told("tool.completed", payload, place))
    for call, result in zip(list(waiting), told, strict=False):
        call.call_id = result.call_id
        if call.call_id:
            call.fields["call_id_from"] = "result"
        if result.payload["tool"] in ("", "unknown"):
            result.fields["named"] = result.payload["tool"]
            result.payload["tool"] = call.payload["tool"]
        waiting.remove(call)
    return told


def _response(read: dict[str, Any], place: int, text: dict[str, str]) -> Told:
    name, call_id = read.get("name"), read.get("tool_call_id")
    payload = {
        "tool": name if isinstance(name, str) else "",
        "result": read.get("content"),
        "is_error": None,
    }
    told = Told("tool.completed", payload, place)
    told.call_id = call_id if isinstance(call_id, str) else ""
    placed = {
        "content",
        *(["name"] if isinstance(name, str) else []),
        *(["tool_call_id"] if told.call_id else []),
    }
    told.fields = {key: read[key] for key in read if key not in placed} | text
    return told


def _thought(value: str) -> tuple[str, str]:
    """Return what the leading think block holds, and what follows it."""
    start = value.lstrip()
    end = start.find(_THINK[1])
    if not start.startswith(_THINK[0]) or end < 0:
        return "", value
    return start[len(_THINK[0]) : end].strip("\n"), start[end + len(_THINK[1]) :].lstrip("\n")


def _blocks(text: str, opening: str, closing: str) -> tuple[list[tuple[str, Tolerated | None]], str]:
    """Return (text, JSON or None) of each tagged block, and the text around them.

    A block ends where its JSON does: the closing tag may stand inside a string of it.
    """
    found: list[tuple[str, Tolerated | None]] = []
    around: list[str] = []
    place = 0
    decoder = json.JSONDecoder()
    while (start := text.find(opening, place)) >= 0:
        around.append(text[place:start])
        start += len(opening)
        end = text.find(closing, start)
        block = text[start : end if end >= 0 else len(text)]
        read = parts.parsed(block)
        if read is None and end >= 0:
            begin = start + len(block) - len(block.lstrip())
            try:
                _, past = decoder.raw_decode(text, begin)
            except (ValueError, RecursionError):
                past = -1
            if past > end:
                block, end = text[start:past], text.find(closing, past)
                read = parts.parsed(block)
        found.append((block.strip(), read))
        place = end + len(closing) if end >= 0 else len(text)
    around.append(text[place:])
    return found, "".join(around).strip("\n")
