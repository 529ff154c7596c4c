"""Messages and reasoning in the encodings that Codex writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.model.event import Event
from geode_traj.sources.codex import content
from geode_traj.sources.codex.repeats import Said
from geode_traj.sources.codex.row import Row

_KINDS: Final = {"user": "message.user", "assistant": "message.assistant"}
# Text that the program wrote: kept, but no message of the conversation, and never the start of a turn.
_OPERATIONS: Final = {"user": "injected_context", "developer": "instructions", "system": "instructions"}
_PLAIN_KINDS: Final = (None, "plain")


@dataclass(slots=True)
class Made:
    """What a record of a message becomes: `placed` names the record's keys that `words` hold."""

    kind: str
    words: dict[str, Any]
    role: str
    placed: set[str] = field(default_factory=set)
    rest: dict[str, Any] = field(default_factory=dict)
    said: Said | None = None

    def event(self, row: Row) -> Event:
        """Return the message as an event."""
        return row.event(self.kind, self.words, self.placed, self.rest, role=self.role)

    def repeat(self, row: Row) -> Event:
        """Return the record as one that only says again what was said."""
        words = {"operation": "repeated_message", **self.words}
        return row.event("legacy.imported", words, self.placed, self.rest, role=self.role)


def speaks(row: Row) -> bool:
    """Tell whether a line is a user's message in any encoding."""
    payload = row.payload
    if row.kind == "response_item":
        return payload.get("type") == "message" and payload.get("role") == "user"
    item = payload.get("item")
    return row.kind == "event_msg" and (
        payload.get("type") == "user_message"
        or (isinstance(item, dict) and item.get("type") == "UserMessage")
    )


def of_item(payload: dict[str, Any]) -> Made:
    """Return what a model item of type `message` becomes."""
    role = payload.get("role")
    read = content.read(payload.get("content"))
    name = role if isinstance(role, str) else ""
    placed = {"role"} if name else set()
    made = _made(name, read, "item", injected=name == "user" and content.is_injected(read))
    made.placed = placed | {"content"} if read.whole or read.attachments else placed
    if read.attachments:
        made.rest["content"] = content.without_data(payload.get("content"))
    return made


def _made(role: str, read: content.Content, encoding: str, *, injected: bool = False) -> Made:
    words: dict[str, Any] = {"content": read.text}
    if read.attachments:
        words["attachments"] = read.attachments
    if injected or role not in _KINDS:
        operation = _OPERATIONS.get(role, "message")
        return Made("legacy.imported", {"operation": operation, **words}, role)
    return Made(_KINDS[role], words, role, said=Said(role, (read.said,), encoding))


def of_reasoning(payload: dict[str, Any]) -> Made:
    """Return what a model item of type `reasoning` becomes: a message that has only reasoning."""
    summary, whole = (content.read(payload.get(key) or []) for key in ("summary", "content"))
    words = _reasoning(whole.texts, summary.texts, payload.get("encrypted_content"))
    placed = {"encrypted_content"} if payload.get("encrypted_content") else set()
    shown, key = (whole, "content") if whole.texts else (summary, "summary")
    if shown.whole and shown.texts:
        placed.add(key)
    texts = tuple(text.strip() for text in (*summary.texts, *whole.texts))
    said = Said("reasoning", texts, "item") if texts else None
    return Made("message.assistant", words, "assistant", placed, said=said)


def _reasoning(whole: list[str], summary: list[str], encrypted: Any = None) -> dict[str, Any]:
    """Return the payload: reasoning is present, only summarised (a preview), withheld or unavailable (J1)."""
    out: dict[str, Any] = {"status": "unavailable"}
    if any(whole):
        out = {"status": "present", "text": "\n\n".join(whole)}
    elif any(summary):
        out = {"status": "preview", "text": "\n\n".join(summary)}
    elif encrypted:
        out = {"status": "withheld"}
    if encrypted:
        out["encrypted_content"] = encrypted
    return {"reasoning": out}


def of_event(payload: dict[str, Any]) -> Made | None:
    """Return what an event that carries a message becomes, None for other events."""
    kind = payload.get("type")
    if kind == "user_message":
        return _user_event(payload)
    if kind == "agent_message":
        made = _made("assistant", content.read(payload.get("message")), "event")
        made.placed = {"message"} if isinstance(payload.get("message"), str) else set()
        return made
    if kind in ("agent_reasoning", "agent_reasoning_raw_content"):
        text = payload.get("text")
        given = [text] if isinstance(text, str) else []
        raw = kind == "agent_reasoning_raw_content"
        words = _reasoning(given if raw else [], [] if raw else given)
        said = Said("reasoning", tuple(one.strip() for one in given), "event") if given else None
        return Made("message.assistant", words, "assistant", {"text"} if any(given) else set(), said=said)
    if kind == "item_completed" and isinstance(payload.get("item"), dict):
        return _completed(payload["item"])
    return None


def _user_event(payload: dict[str, Any]) -> Made:
    read = content.read(payload.get("message"))
    placed = {"message"} if isinstance(payload.get("message"), str) else set()
    for key in ("images", "local_images"):
        given = payload.get(key)
        if isinstance(given, list) and given:
            read.attachments += map(content.image, given)
            placed.add(key)
    kind = payload.get("kind")
    injected = kind not in _PLAIN_KINDS or (kind is None and content.is_injected(read))
    made = _made("user", read, "event", injected=injected)
    made.placed = placed
    return made


def _completed(item: dict[str, Any]) -> Made | None:
    """Return what a completed item becomes."""
    kind = item.get("type")
    rest = {key: value for key, value in item.items() if key != "content"}
    if kind in ("UserMessage", "AgentMessage"):
        read = content.read(item.get("content"))
        role = "user" if kind == "UserMessage" else "assistant"
        made = _made(role, read, "completed", injected=role == "user" and content.is_injected(read))
        if not read.whole:
            rest["content"] = content.without_data(item.get("content"))
    elif kind == "Reasoning":
        summary, whole = (content.read(item.get(key) or []) for key in ("summary_text", "raw_content"))
        texts = tuple(text.strip() for text in (*summary.texts, *whole.texts))
        said = Said("reasoning", texts, "completed") if texts else None
        made = Made("message.assistant", _reasoning(whole.texts, summary.texts), "assistant", said=said)
        rest = item
    elif kind == "Plan":
        made = Made("legacy.imported", {"operation": "plan", "plan": item.get("text")}, "assistant")
        rest = {key: value for key, value in item.items() if key != "text"}
    else:
        return None
    made.placed, made.rest = {"item"}, {"item": rest}
    return made


def of_history(row: Row, item: Any) -> Event:
    """Return an item of a compaction's replacement history as a copy."""
    if not isinstance(item, dict) or item.get("type") != "message":
        return row.kept("replacement_history", {"item": item})
    made = of_item(item)
    made.rest |= {key: value for key, value in item.items() if key not in made.placed}
    return made.event(row)
