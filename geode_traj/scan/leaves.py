"""The strings of a JSON value, and the names they go by."""

from __future__ import annotations

from collections.abc import Iterator


def child_name(key: str, name: str) -> str:
    """Return the name that what stands under `key` goes by, in a container that goes by `name`."""
    return name if key.isdigit() else key


def texts(value: object) -> Iterator[str]:
    """Yield every string and every key in `value`. Iterative: depth costs memory, never the stack."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            yield from item
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
