"""What messages hold: text, attachments, and text that no person typed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.sources.attachments import elsewhere, held

_TEXTS: Final = frozenset({"input_text", "output_text", "text", "Text", "summary_text", "reasoning_text"})
_IMAGES: Final = frozenset({"input_image", "image", "local_image", "Image", "LocalImage", "image_url"})
_PLAIN: Final = frozenset({"type", "text"})
_DATA_URL: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+)?((?:;[\w=.+-]+)*?)(;base64)?,", re.ASCII)
_BEGINNINGS: Final = {"iVBORw0K": "image/png", "/9j/": "image/jpeg", "UklGR": "image/webp"}
_IMAGE_TAG: Final = re.compile(r"</?image(?: [^<>]{0,256})?>\s*")
# What Codex writes in the user's name: a whole text in one of these tags, or under this heading.
_INJECTED: Final = frozenset(
    """environment_context user_instructions permissions|instructions turn_aborted recommended_plugins skill
    skills_instructions apps_instructions plugins_instructions collaboration_mode personality_spec
    subagent_notification user_shell_command hook_prompt model_switch realtime_conversation user_action
    codex_internal_context developer_instructions INSTRUCTIONS""".replace("\n", " ").split()
)
_TAG: Final = re.compile(r"\s*<([A-Za-z_]+(?: instructions)?)(?: [^<>]*)?>")
_HEADING: Final = "# AGENTS.md instructions"


@dataclass(slots=True)
class Content:
    """A message's text and attachments; `whole` tells that they hold everything that the content said."""

    texts: list[str] = field(default_factory=list)
    attachments: list[dict[str, Any]] = field(default_factory=list)
    whole: bool = True

    @property
    def text(self) -> str:
        """The texts, one after the other."""
        return "\n".join(self.texts)

    @property
    def said(self) -> str:
        """The text to compare encodings by: without the tags that stand around images."""
        text = self.text
        return (_IMAGE_TAG.sub("", text) if "<" in text else text).strip()


def read(given: Any) -> Content:
    """Read a message's content: a text, or a list of parts."""
    out = Content()
    if isinstance(given, str):
        out.texts.append(given)
        return out
    out.whole = isinstance(given, list) and len(given) == 1
    for part in given if isinstance(given, list) else ():
        kind = part.get("type") if isinstance(part, dict) else None
        kind = kind if isinstance(kind, str) else ""
        if isinstance(part, str):
            out.texts.append(part)
        elif kind in _TEXTS and isinstance(part.get("text"), str):
            out.texts.append(part["text"])
            out.whole = out.whole and _PLAIN.issuperset(part)
        elif kind in _IMAGES:
            out.attachments.append(image(part.get("image_url", part.get("path"))))
            out.whole = False
        else:
            out.whole = False
    return out


def image(given: Any) -> dict[str, Any]:
    """Return an image as an attachment: its data, or where it was said to be."""
    if isinstance(given, dict):
        given = given.get("url")
    found = _DATA_URL.match(given) if isinstance(given, str) else None
    if found is None:
        return elsewhere(given)
    data, kind = given[found.end() :], found[1] or "text/plain"
    return held(kind, data) if found[3] else {"media_type": kind, "bytes": len(data), "data": data}


def encoded(data: str) -> dict[str, Any]:
    """Return base64 data as an attachment, its type told by how it begins."""
    kind = next((kind for begin, kind in _BEGINNINGS.items() if data.startswith(begin)), None)
    return held(kind, data)


def without_data(given: Any) -> Any:
    """Return content without the data that its attachments hold: each image's URL is cut before its data."""
    if isinstance(given, list):
        return [without_data(part) for part in given]
    if isinstance(given, dict):
        return {key: without_data(item) for key, item in given.items()}
    found = _DATA_URL.match(given) if isinstance(given, str) else None
    return given[: found.end()] if found else given


def is_injected(content: Content) -> bool:
    """Tell whether all of a user message's text was put there by the program."""
    texts = [text for text in content.texts if text.strip()]
    return bool(texts) and all(map(_injected, texts))


def _injected(text: str) -> bool:
    if text.lstrip().startswith(_HEADING):
        return True
    tag = _TAG.match(text)
    if tag is None or tag[1].replace(" ", "|") not in _INJECTED:
        return False
    return text.rstrip().endswith(f"</{tag[1]}>")
