"""What a message holds: text, reasoning, media, calls of tools that the provider ran itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.sources import values
from geode_traj.sources.attachments import data_url, elsewhere, held

_MEDIA: Final = ("image", "audio", "video", "document")


@dataclass(slots=True)
class Content:
    """Content as payload words need it; `parts` is what it was made of where it is more than one text.

    In `parts` a text is replaced by its length in characters, media by the index of its attachment.
    """

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    withheld: bool = False
    attachments: list[dict[str, Any]] = field(default_factory=list)
    server_calls: list[dict[str, Any]] = field(default_factory=list)
    parts: list[Any] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The texts, a line each."""
        return "\n".join(self.texts)

    @property
    def reasoning(self) -> dict[str, Any]:
        """The reasoning field of a message (importer decision J1)."""
        status = "withheld" if self.withheld and not self.thoughts else "present"
        return values.reasoning("\n".join(self.thoughts), status=status)

    @property
    def words(self) -> dict[str, Any]:
        """Text and attachments as payload words."""
        return {"content": self.text} | ({"attachments": self.attachments} if self.attachments else {})


def read(given: Any) -> Content:
    """Read the content of a message, or the result of a tool."""
    out = Content()
    if not isinstance(given, list):
        out.texts.append(values.text(given))
        if given is not None and not isinstance(given, str):
            out.parts = [given]
        return out
    for part in given:
        out.parts.append(_part(part, out))
    if len(out.parts) == 1 and isinstance(given[0], dict) and given[0].keys() == {"type", "text"}:
        out.parts = []
    return out


def _part(part: Any, out: Content) -> Any:
    """Take one part; return what is to be kept of it beside the words."""
    if isinstance(part, str):
        out.texts.append(part)
        return {"chars": len(part)}
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "text" and isinstance(part.get("text"), str):
        return _measured(part, "text", out.texts)
    if kind == "reasoning" and isinstance(part.get("reasoning"), str):
        if part.get("redacted") is True:
            out.withheld = True  # what stands there is sealed; a summary beside it may be readable
            summary = part.get("summary")
            return _measured(part, "summary", out.thoughts) if isinstance(summary, str) and summary else part
        return _measured(part, "reasoning", out.thoughts)
    if kind in _MEDIA and isinstance(part.get(kind), str):
        return {**part, kind: {"attachment": _attach(part, kind, out)}}
    if kind == "tool_use":
        out.server_calls.append(part)
        return {"type": kind, "id": part.get("id")}
    return part


def _measured(part: dict[str, Any], key: str, into: list[str]) -> dict[str, Any]:
    into.append(part[key])
    return {**{name: value for name, value in part.items() if name != key}, "chars": len(part[key])}


def _attach(part: dict[str, Any], kind: str, out: Content) -> int:
    named = part.get("mime_type")
    out.attachments.append(attachment(part[kind], named if isinstance(named, str) else None))
    return len(out.attachments) - 1


def attachment(text: str, media_type: str | None = None) -> dict[str, Any]:
    """Return media as an attachment: data, or a reference to where it is."""
    head = data_url(text)
    return held(head[1] or media_type, text[head.end() :]) if head else elsewhere(text, media_type)
