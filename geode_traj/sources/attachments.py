"""Media as attachments of a payload (importer decision J9)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

_DATA_URL: Final = re.compile(
    r"data:([\w.+-]{1,127}/[\w.+-]{1,127})?((?:;[^,;]{1,127}){0,16}?);base64,", re.ASCII
)


def held(media_type: Any, data: str) -> dict[str, Any]:
    """Return base64 data as an attachment."""
    size = len(data) * 3 // 4 - data[-2:].count("=")
    return {"media_type": media_type, "bytes": size, "data": data}


def elsewhere(reference: Any, media_type: Any = None) -> dict[str, Any]:
    """Return an attachment whose data is where it was said to be."""
    return {"media_type": media_type, "bytes": None, "omitted": "by_reference", "reference": reference}


def data_url(given: Any) -> re.Match[str] | None:
    """Match what stands before the base64 data of a URL: 1 is its media type, if told, 2 its parameters."""
    return _DATA_URL.match(given) if isinstance(given, str) else None


def walked(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a value with `change` made to each of its items, the value itself where that changes none."""
    if isinstance(value, dict):
        made = {key: change(item) for key, item in value.items()}
        return made if any(made[key] is not value[key] for key in value) else value
    if isinstance(value, list):
        items = [change(item) for item in value]
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value
