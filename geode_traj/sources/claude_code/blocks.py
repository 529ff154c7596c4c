"""Content of a message, block by block, as what events say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.sources.claude_code.media import Attachments
from geode_traj.sources.fields import text_of, without
from geode_traj.sources.values import arguments

_CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})
_MEDIA: Final = frozenset({"image", "document", "audio", "video"})
_STATUS: Final = {True: "error", False: "ok", None: ""}
UNKNOWN: Final = "legacy.imported"


@dataclass(slots=True)
class Part:
    """What one event says: kind, payload and columns; `rest` is what of its block found no place."""

    kind: str
    payload: dict[str, Any]
    call_id: str = ""
    status: str = ""
    rest: dict[str, Any] = field(default_factory=dict)


def user_parts(content: Any) -> list[Part]:
    """Return results first, then the one message of a user row, then blocks of unknown types."""
    if not isinstance(content, list):
        return [Part("message.user", {"content": content if isinstance(content, str) else ""})]
    results: list[Part] = []
    unknown: list[Part] = []
    said: list[dict[str, Any]] = []
    for block in content:
        kind = _kind(block)
        if kind == "tool_result":
            results.append(_result(block))
        elif kind == "text" or kind in _MEDIA:
            said.append(block if isinstance(block, dict) else {"type": "text", "text": block})
        else:
            unknown.append(_unknown(block, kind))
    message = [Part("message.user", _said(said))] if said or not (results or unknown) else []
    return [*results, *message, *unknown]


def _said(blocks: list[dict[str, Any]]) -> dict[str, Any]:
    """Return content and attachments; `parts` tells how they are made up where that is more than one text."""
    texts = [block["text"] for block in blocks if block.get("type") == "text"]
    payload: dict[str, Any] = {"content": texts[0] if len(texts) == 1 else "\n".join(texts)}
    if len(blocks) == 1 and len(texts) == 1 and len(blocks[0]) == 2:
        return payload
    attachments = Attachments()
    parts = []
    for block in blocks:
        if block.get("type") == "text":
            parts.append(without(block, "text") | {"chars": len(block["text"])})
        else:
            parts.append(attachments.lifted(block))
    if attachments.items:
        payload["attachments"] = attachments.items
    if parts:
        payload["parts"] = parts
    return payload


def assistant_parts(content: Any, *, thought: bool) -> list[Part]:
    """Return one event a block in order; thoughts join the text that follows them.

    `thought` tells that an earlier line of the same response held thoughts (or this is known of it).
    """
    if not isinstance(content, list):
        payload = {"content": content if isinstance(content, str) else ""}
        return [Part("message.assistant", payload | {"reasoning": _no_thought(thought)})]
    parts: list[Part] = []
    pending: Part | None = None
    for block in content:
        kind = _kind(block)
        if kind in _THOUGHTS:
            if pending:
                parts.append(pending)
            pending, thought = _thought(block, kind), True
        elif kind == "text":
            own = block if isinstance(block, dict) else {"text": block}
            part = pending or Part("message.assistant", {"reasoning": _no_thought(thought)})
            part.payload["content"] = own["text"]
            part.rest |= without(own, "type", "text")
            parts.append(part)
            pending = None
        else:
            if pending:
                parts.append(pending)
            pending = None
            parts.append(_other(block, kind))
    if pending:
        parts.append(pending)
    return parts or [Part("message.assistant", {"content": "", "reasoning": _no_thought(thought)})]


def _other(block: Any, kind: str) -> Part:
    if kind in _CALLS:
        return _call(block, kind)
    if kind.endswith("tool_result"):
        return _result(block)
    if kind in _MEDIA:
        return Part("message.assistant", {**_said([block]), "reasoning": _no_thought(False)})
    return _unknown(block, kind)


def _kind(block: Any) -> str:
    """Return a block's type; bare text stands for a block of it, and `text` must hold a text."""
    if isinstance(block, str):
        return "text"
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text" and not isinstance(block.get("text"), str):
        return ""
    return kind if isinstance(kind, str) else ""


def _no_thought(elsewhere: bool) -> dict[str, Any]:
    """Say that a text comes without thoughts: they stand in an event before it, or there are none."""
    return {"status": "present" if elsewhere else "unavailable"}


def _thought(block: dict[str, Any], kind: str) -> Part:
    text = block.get("thinking")
    if kind == "thinking" and isinstance(text, str) and text:
        reasoning = {"status": "present", "text": text} | without(block, "type", "thinking")
    else:  # encrypted, or only signed: it was there, and is kept from us
        reasoning = {"status": "withheld"} | without(block, "type")
    return Part("message.assistant", {"content": "", "reasoning": reasoning})


def _call(block: dict[str, Any], kind: str) -> Part:
    rest = without(block, "type", "id", "name", "input")
    given = block.get("input")
    if isinstance(given, str):
        rest["input"] = given
    payload = {"tool": text_of(block, "name", rest), "arguments": arguments(given)}
    if kind != "tool_use":
        payload["call_type"] = kind
    return Part("tool.called", payload, text_of(block, "id", rest), rest=rest)


def _result(block: dict[str, Any]) -> Part:
    rest = without(block, "type", "tool_use_id", "content", "is_error")
    error = block.get("is_error")
    if error is not None and not isinstance(error, bool):
        rest["is_error"], error = error, None
    attachments = Attachments()
    payload: dict[str, Any] = {"is_error": error, "result": attachments.lifted(block.get("content"))}
    if attachments.items:
        payload["attachments"] = attachments.items
    if block["type"] != "tool_result":
        payload["result_type"] = block["type"]
    return Part("tool.completed", payload, text_of(block, "tool_use_id", rest), _STATUS[error], rest)


def _unknown(block: Any, kind: str) -> Part:
    return Part(UNKNOWN, {"operation": f"block.{kind}", "block": block})
