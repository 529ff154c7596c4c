"""The strings of a JSON value, and the names they go by."""

from __future__ import annotations

from collections.abc import Iterator

from geode_traj.codec import pointer
from geode_traj.codec.pointer import Trail


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


def placed_texts(value: object) -> Iterator[tuple[tuple[str, bool], str]]:
    """Yield every string and every key with its place: its pointer, and whether it is the key there."""
    stack: list[tuple[Trail, object]] = [(None, value)]
    while stack:
        trail, item = stack.pop()
        if isinstance(item, str):
            yield (pointer.of(trail), False), item
        elif isinstance(item, dict):
            for key, child in item.items():
                yield (pointer.of((trail, key)), True), key
                stack.append(((trail, key), child))
        elif isinstance(item, list):
            stack.extend(((trail, i), item[i]) for i in range(len(item)))
