"""What messages hold: text, and media moved to attachments (importer decision J9)."""

from __future__ import annotations

import re
from typing import Any, Final

from geode_traj.sources.attachments import elsewhere, held, walked

_TEXTS: Final = frozenset({"text", "input_text", "output_text"})
_MEDIA: Final = frozenset(
    "image image_url input_image input_audio audio video file input_file document".split()
)
_TYPES: Final = ("mimeType", "media_type", "mime_type")
_REFERENCES: Final = ("url", "image_url", "file_id", "file_url", "file", "source", "path", "data", "id")
_DATA_URL: Final = re.compile(
    r"data:([\w.+-]+/[\w.+-]+(?:;[\w.+-]+=[\w.+-]+)*);base64,([A-Za-z0-9+/_=-]*)", re.ASCII
)


class Attachments:
    """Collects the media of one event; equal data is kept once."""

    def __init__(self) -> None:
        self.items: list[dict[str, Any]] = []
        self._known: dict[tuple[str | None, str], int] = {}

    def lifted(self, value: Any) -> Any:
        """Return `value` with base64 data replaced by `{"attachment": index}`, itself where it holds none."""
        if isinstance(value, str):
            found = _DATA_URL.fullmatch(value) if value.startswith("data:") else None
            return self._add(found[1], found[2]) if found else value
        lifted = walked(value, self.lifted)
        if not isinstance(value, dict):
            return lifted
        data, kind = value.get("data"), _media_type(value)
        if kind and isinstance(data, str) and data and lifted["data"] is data:
            return {**lifted, "data": self._add(kind, data)}
        return lifted

    def refer(self, block: dict[str, Any]) -> Any:
        """Return a medium that only refers to its data, with a note of it among the attachments."""
        for key in _REFERENCES:
            given = block.get(key)
            told = given.get("url", given.get("file_id")) if isinstance(given, dict) else given
            if isinstance(told, str) and told:
                self._add(_media_type(block) or None, told, here=False)
                break
        return block

    def _add(self, media_type: str | None, data: str, *, here: bool = True) -> dict[str, int]:
        here = here and not data.startswith("blob:")
        index = self._known.get((media_type, data))
        if index is None:
            index = self._known[media_type, data] = len(self.items)
            self.items.append(held(media_type, data) if here else elsewhere(data, media_type))
        return {"attachment": index}

    def put(self, payload: dict[str, Any]) -> int:
        """Put what was collected into a payload; return how many of it are kept elsewhere."""
        if self.items:
            payload["attachments"] = self.items
        return sum("omitted" in item for item in self.items)


def attach(payload: dict[str, Any], data: str) -> dict[str, int]:
    """Add data of a type that is not told to a payload's attachments; return what stands for it."""
    listed = payload.setdefault("attachments", [])
    listed.append(held(None, data))
    return {"attachment": len(listed) - 1}


def _media_type(block: dict[str, Any]) -> str:
    for key in _TYPES:
        given = block.get(key)
        if isinstance(given, str) and "/" in given:
            return given
    given = block.get("format")
    return f"audio/{given}" if isinstance(given, str) and given.isalnum() else ""


def is_text(block: Any) -> bool:
    """Tell whether a part of a content is a text."""
    if isinstance(block, str):
        return True
    kind = block.get("type") if isinstance(block, dict) else None
    return isinstance(kind, str) and kind in _TEXTS and isinstance(block.get("text"), str)


def is_media(block: Any) -> bool:
    """Tell whether a part of a content is an image, a sound, a film or a file."""
    kind = block.get("type") if isinstance(block, dict) else None
    return isinstance(kind, str) and kind in _MEDIA


def said(content: Any) -> tuple[dict[str, Any], dict[str, Any], int]:
    """Return a message's payload, what of its content found no place, and how many media are elsewhere.

    The payload holds `content`, the texts of it; `attachments`; and, where it was more than one plain text,
    `parts`: how it was made up, a text told by the number of its characters.
    """
    if not isinstance(content, list):
        whole = isinstance(content, str)
        return (
            {"content": content if whole else ""},
            {} if whole or content is None else {"content": content},
            0,
        )
    texts: list[str] = []
    parts: list[Any] = []
    attachments = Attachments()
    plain = len(content) == 1
    for block in content:
        if is_text(block):
            texts.append(block if isinstance(block, str) else block["text"])
            own = {} if isinstance(block, str) else {k: v for k, v in block.items() if k != "text"}
            parts.append({**own, "chars": len(texts[-1])})
            plain = plain and len(own) < 2
            continue
        plain = False
        before = len(attachments.items)
        lifted = attachments.lifted(block)
        if is_media(block) and len(attachments.items) == before and lifted is block:
            lifted = attachments.refer(block)
        parts.append(lifted)
    payload: dict[str, Any] = {"content": texts[0] if len(texts) == 1 else "\n".join(texts)}
    if parts and not plain:
        payload["parts"] = parts
    return payload, {}, attachments.put(payload)
