"""Files of messages and results as attachments (importer decision J9)."""

from __future__ import annotations

import re
from typing import Any, Final

_DATA_URL: Final = re.compile(
    r"data:([\w.+-]{1,127}/[\w.+-]{1,127})?((?:;[\w=.+-]{1,127}){0,16}?);base64,", re.ASCII
)
_OWN: Final = frozenset(
    {"type", "url", "mime", "id", "messageID", "sessionID", "media_type", "bytes", "data"}
)
_NOT_HELD: Final = (_OWN - {"url", "mime"}) | {"omitted"}


def attachment(part: dict[str, Any]) -> dict[str, Any]:
    """Return a file as an attachment: its data, or where it was said to be."""
    rest = {key: value for key, value in part.items() if key not in _OWN and key != "omitted"}
    url = part.get("url")
    head = _DATA_URL.match(url) if isinstance(url, str) else None
    if head is None or not isinstance(url, str):
        told = {"bytes": None, "omitted": "by_reference", "reference": url}
        return {**rest, "media_type": part.get("mime"), **told}
    data = url[head.end() :]
    size = len(data) * 3 // 4 - data[-2:].count("=")
    if head[1] != part.get("mime") or head[2]:
        rest["url_head"] = head[0]
    return {**rest, "media_type": part.get("mime", head[1]), "bytes": size, "data": data}


def outline(part: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a file that its attachment does not hold."""
    return {key: part[key] for key in part if key in _NOT_HELD}


def all_files(given: Any) -> list[dict[str, Any]]:
    """Return the files of a list, none where not all of it are files."""
    if not isinstance(given, list) or not all(isinstance(one, dict) and "url" in one for one in given):
        return []
    return list(given)
