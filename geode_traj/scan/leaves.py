"""Every string of a JSON value, keys included, with its JSON pointer."""

from __future__ import annotations

from collections.abc import Iterator


def escape(token: str) -> str:
    """Return one reference token of a JSON pointer (RFC 6901)."""
    return token.replace("~", "~0").replace("/", "~1") if "~" in token or "/" in token else token


def child_name(key: str, name: str) -> str:
    """Return the name that what stands under `key` goes by, in a container that goes by `name`."""
    return name if key.isdigit() else key


def name_of(pointer: str) -> str:
    """Return the name a leaf goes by: the last token of its pointer that is no number, unescaped."""
    tokens = pointer.split("/")[1:]
    while tokens and tokens[-1].isdigit():
        tokens.pop()
    return tokens[-1].replace("~1", "/").replace("~0", "~") if tokens else ""


def leaves(value: object) -> Iterator[tuple[str, str, bool]]:
    """Yield (pointer, text, is key) for every string in `value`, in document order.

    A key is reported with the pointer of its member. Iterative: depth costs memory, never the stack.
    """
    stack: list[tuple[str, object]] = [("", value)]
    while stack:
        pointer, item = stack.pop()
        if isinstance(item, str):
            yield pointer, item, False
        elif isinstance(item, dict):
            members = [(f"{pointer}/{escape(key)}", key, child) for key, child in item.items()]
            for where, key, _ in members:
                yield where, key, True
            stack.extend((where, child) for where, _, child in reversed(members))
        elif isinstance(item, list):
            stack.extend((f"{pointer}/{index}", child) for index, child in reversed(list(enumerate(item))))
