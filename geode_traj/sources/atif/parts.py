"""Content of ATIF: a text, or a list of parts whose media lie in files beside the trajectory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.sources.attachments import elsewhere

_MEDIA: Final = frozenset({"image", "audio"})
_SHOWN: Final = frozenset({"media_type", "path"})


@dataclass(slots=True)
class Content:
    """Text and attachments; `whole` tells that the text is everything that was given."""

    texts: list[str] = field(default_factory=list)
    attachments: list[dict[str, Any]] = field(default_factory=list)
    whole: bool = True

    @property
    def text(self) -> str:
        """The texts, a line each."""
        return "\n".join(self.texts)


def read(given: Any) -> Content:
    """Read content; parts that are neither text nor media are left to the caller to keep."""
    out = Content()
    if isinstance(given, str):
        out.texts.append(given)
        return out
    out.whole = False
    for part in given if isinstance(given, list) else ():
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(part, str):
            out.texts.append(part)
        elif kind == "text" and isinstance(part.get("text"), str):
            out.texts.append(part["text"])
        elif isinstance(kind, str) and kind in _MEDIA:
            out.attachments.append(_reference(part))
    return out


def _reference(part: dict[str, Any]) -> dict[str, Any]:
    """Return an attachment that the trajectory only refers to: its bytes are in another file."""
    source = part.get("source")
    source = source if isinstance(source, dict) else {}
    rest = {key: value for key, value in {**part, **source}.items() if key not in ("type", "source")}
    return {
        **{key: value for key, value in rest.items() if key not in _SHOWN and key not in ("bytes", "data")},
        **elsewhere(rest.get("path"), rest.get("media_type")),
    }
