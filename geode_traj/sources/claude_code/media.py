"""Images and documents inside records, moved to a payload's attachments (importer decision J9)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Attachments:
    """Collects the media of one event; equal data is kept once."""

    def __init__(self, items: Iterable[dict[str, Any]] = ()) -> None:
        self.items = list(items)
        self._known = {item["data"]: index for index, item in enumerate(self.items)}

    def lifted(self, value: Any) -> Any:
        """Return `value` with base64 data replaced by `{"attachment": index}`, itself where it holds none."""
        if isinstance(value, dict):
            for key, other in (("data", "media_type"), ("base64", "type")):
                data, media_type = value.get(key), value.get(other)
                if isinstance(data, str) and data and isinstance(media_type, str) and "/" in media_type:
                    value = {**value, key: {"attachment": self._add(media_type, data)}}
            lifted = {key: self.lifted(item) for key, item in value.items()}
            return lifted if any(lifted[key] is not value[key] for key in value) else value
        if isinstance(value, list):
            items = [self.lifted(item) for item in value]
            return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
        return value

    def _add(self, media_type: str, data: str) -> int:
        index = self._known.get(data)
        if index is None:
            index = self._known[data] = len(self.items)
            size = len(data) * 3 // 4 - data[-2:].count("=")
            self.items.append({"media_type": media_type, "bytes": size, "data": data})
        return index
