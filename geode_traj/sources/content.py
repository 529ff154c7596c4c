"""Content as model providers' APIs write it: a text, or parts of texts and images."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from geode_traj.sources.attachments import data_url, elsewhere, held


@dataclass(slots=True)
class Content:
    """Texts and attachments; `whole` tells that they hold everything that was given."""

    texts: list[str] = field(default_factory=list)
    attachments: list[dict[str, Any]] = field(default_factory=list)
    whole: bool = True

    @property
    def text(self) -> str:
        """The texts, each on lines of its own."""
        head = (text if text.endswith("\n") else f"{text}\n" for text in self.texts[:-1])
        return "".join([*head, *self.texts[-1:]])

    @property
    def words(self) -> dict[str, Any]:
        """The attachments as a payload's words."""
        return {"attachments": self.attachments} if self.attachments else {}


def read(given: Any) -> Content:
    """Read content: a text, a part, or a list of parts."""
    out = Content()
    if isinstance(given, str):
        out.texts.append(given)
        return out
    parts = [given] if isinstance(given, dict) else given
    out.whole = isinstance(parts, list) and len(parts) == 1
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, str):
            out.texts.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            out.texts.append(part["text"])
            out.whole = out.whole and part.keys() <= {"type", "text"}
        elif isinstance(part, dict) and _images(part):
            out.attachments += [image(one) for one in _images(part)]
            out.whole = False
        else:
            out.whole = False
    return out


def _images(part: dict[str, Any]) -> list[Any]:
    many = part.get("image_urls")
    if isinstance(many, list):
        return many
    return [part["image_url"]] if part.get("image_url") is not None else []


def image(given: Any) -> dict[str, Any]:
    """Return an image as an attachment: its data, or where it was said to be."""
    if isinstance(given, dict):
        given = given.get("url")
    found = data_url(given)
    return held(found[1], given[found.end() :]) if found else elsewhere(given)


def without_data(given: Any) -> Any:
    """Return content without the data that its attachments hold."""
    if isinstance(given, list):
        return [without_data(part) for part in given]
    if not isinstance(given, dict) or isinstance(given.get("text"), str) or not _images(given):
        return given
    key = "image_urls" if isinstance(given.get("image_urls"), list) else "image_url"
    return {**given, key: shortened(given[key])}


def shortened(url: Any) -> Any:
    """Return an image's URL cut before its data, each of a list; one that is elsewhere as it is."""
    if isinstance(url, list):
        return [shortened(one) for one in url]
    if isinstance(url, dict):
        return {**url, "url": shortened(url["url"])} if "url" in url else url
    found = data_url(url)
    return url[: found.end()] if found else url
