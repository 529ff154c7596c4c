"""Images and documents inside records, moved to a payload's attachments (importer decision J9)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from geode_traj.sources.attachments import held, walked


class Attachments:
    """Collects the media of one event; equal data is kept once."""

    def __init__(self, items: Iterable[dict[str, Any]] = ()) -> None:
        self.items = list(items)
        self._known = {item["data"]: index for index, item in enumerate(self.items)}

    def lifted(self, value: Any) -> Any:
        """Return `value` with base64 data replaced by `{"attachment": index}`, itself where it holds none."""
        if isinstance(value, str):
            return value
        if isinstance(value, dict):
            for key, other in (("data", "media_type"), ("base64", "type")):
                data, media_type = value.get(key), value.get(other)
                if isinstance(data, str) and data and isinstance(media_type, str) and "/" in media_type:
                    value = {**value, key: {"attachment": self._add(media_type, data)}}
        return walked(value, self.lifted)

    def _add(self, media_type: str, data: str) -> int:
        index = self._known.get(data)
        if index is None:
            index = self._known[data] = len(self.items)
            self.items.append(held(media_type, data))
        return index
