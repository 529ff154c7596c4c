"""Files of messages and results as attachments (importer decision J9)."""

from __future__ import annotations

from typing import Any, Final

from geode_traj.sources.attachments import data_url, elsewhere, held

_OWN: Final = frozenset(
    {"type", "url", "mime", "id", "messageID", "sessionID", "media_type", "bytes", "data"}
)
_NOT_HELD: Final = (_OWN - {"url", "mime"}) | {"omitted"}


def attachment(part: dict[str, Any]) -> dict[str, Any]:
    """Return a file as an attachment: its data, or where it was said to be."""
    rest = {key: value for key, value in part.items() if key not in _OWN and key != "omitted"}
    url = part.get("url")
    head = data_url(url)
    if head is None or not isinstance(url, str):
        return {**rest, **elsewhere(url, part.get("mime"))}
    if head[1] != part.get("mime") or head[2]:
        rest["url_head"] = head[0]
    return {**rest, **held(part.get("mime", head[1]), url[head.end() :])}


def outline(part: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a file that its attachment does not hold."""
    return {key: part[key] for key in part if key in _NOT_HELD}


def all_files(given: Any) -> list[dict[str, Any]]:
    """Return the files of a list, none where not all of it are files."""
    if not isinstance(given, list) or not all(isinstance(one, dict) and "url" in one for one in given):
        return []
    return list(given)
