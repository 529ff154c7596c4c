"""Members that no reader knows, to show that an import keeps them."""

from __future__ import annotations

from typing import Any


def marked(value: Any, path: str = "") -> list[str]:
    """Put a member that no reader knows into every object of a value; return their texts."""
    texts = []
    if isinstance(value, dict):
        for key, item in list(value.items()):
            texts += marked(item, f"{path}.{key}")
        value["unforeseen"] = f"unforeseen{path}"
        texts.append(value["unforeseen"])
    elif isinstance(value, list):
        for index, item in enumerate(value):
            texts += marked(item, f"{path}.{index}")
    return texts
