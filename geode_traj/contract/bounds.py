"""The payload policy: what is cut, how it is marked, and what was cut (record contract §4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.reading import pointer_join
from geode_traj.contract.kinds import CUT_MARK

MAX_BYTES: Final = 256 * 1024
MAX_TEXT: Final = 100_000
MAX_ITEMS: Final = 256
MAX_DEPTH: Final = 12
MAX_KEY: Final = 128


@dataclass(frozen=True, slots=True)
class Cut:
    """One body that the policy cut: its JSON pointer in the bounded payload ("" the whole), and it, whole."""

    pointer: str
    body: Any


def within(payload: dict[str, Any]) -> bool:
    """Tell whether no bound but the size in bytes is passed: almost every payload, so it must be quick."""
    level: list[Any] = [payload]
    for _ in range(MAX_DEPTH):
        deeper: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is str:
                if len(item) > MAX_TEXT:
                    return False
            elif kind is dict:
                if len(item) > MAX_ITEMS or max(map(len, item), default=0) > MAX_KEY:
                    return False
                deeper += item.values()
            elif kind is list:
                if len(item) > MAX_ITEMS:
                    return False
                deeper += item
        if not deeper:
            return True
        level = deeper
    return False


def bound(payload: dict[str, Any]) -> tuple[dict[str, Any], list[Cut]]:
    """Return the payload within the policy and what was cut from it, outermost cuts only.

    Each cut body is given whole, so that putting it back at its pointer restores the payload.
    """
    cuts: list[Cut] = []
    bounded = _bound(payload, "", 0, cuts.append)
    encoded = dumps(bounded)
    if len(encoded) > MAX_BYTES:
        marker = {
            "_truncated": True,
            "original_bytes": len(encoded),
            "keys": sorted(bounded)[:MAX_ITEMS],
            "payload_hash": sha256_bytes(encoded),
        }
        return marker, [Cut("", payload)]
    return bounded, cuts


def cut_text(text: str, limit: int) -> str:
    """Return `text` cut to `limit` characters with the marker `…[truncated:N]`, N the characters cut."""
    return f"{text[:limit]}{CUT_MARK}{len(text) - limit}]" if len(text) > limit else text


def _bound(value: Any, pointer: str, depth: int, cut: Callable[[Cut], None]) -> Any:
    if depth >= MAX_DEPTH:
        cut(Cut(pointer, value))
        return {"_truncated": "max_depth"}
    if isinstance(value, str):
        if len(value) <= MAX_TEXT:
            return value
        cut(Cut(pointer, value))
        return cut_text(value, MAX_TEXT)
    if isinstance(value, list):
        return _bound_list(value, pointer, depth, cut)
    if isinstance(value, dict):
        return _bound_object(value, pointer, depth, cut)
    return value


def _nothing(_: Cut) -> None:
    """Ignore cuts inside a body that is already kept whole."""


def _bound_list(value: list[Any], pointer: str, depth: int, cut: Callable[[Cut], None]) -> list[Any]:
    over = len(value) - MAX_ITEMS
    if over > 0:
        cut(Cut(pointer, value))
        cut = _nothing
    bounded = [_bound(item, f"{pointer}/{i}", depth + 1, cut) for i, item in enumerate(value[:MAX_ITEMS])]
    if over > 0:
        bounded.append({"_truncated_items": over})
    return bounded


def _bound_object(
    value: dict[str, Any], pointer: str, depth: int, cut: Callable[[Cut], None]
) -> dict[str, Any]:
    over = len(value) - MAX_ITEMS
    if over > 0 or any(len(key) > MAX_KEY for key in value):
        cut(Cut(pointer, value))
        cut = _nothing
    bounded: dict[str, Any] = {}
    for key in sorted(value)[:MAX_ITEMS]:
        short = cut_text(key, MAX_KEY)
        bounded[short] = _bound(value[key], pointer_join(pointer, short), depth + 1, cut)
    if over > 0:
        bounded["_truncated_items"] = over
    return bounded
