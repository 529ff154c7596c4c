"""The payload policy: what is cut, how it is marked, and the cut bodies kept whole (record contract §4)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from geode_traj.codec.canonical import dumps, is_plain
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.pointer import below
from geode_traj.contract.kinds import CUT_MARK

MAX_BYTES: Final = 256 * 1024
MAX_TEXT: Final = 100_000
MAX_ITEMS: Final = 256
MAX_DEPTH: Final = 12
MAX_KEY: Final = 128
MEDIA_TYPE: Final = "application/json"
# An attachment's data is not text to read: it is kept as a body of its own though it would fit.
MAX_MEDIA: Final = 1024
_MEDIA: Final = re.compile(r"/attachments/\d+/data", re.ASCII)

Bodies = list[tuple[str, bytes]]
"""What was cut from a payload, whole: (JSON pointer in the bounded payload, canonical JSON)."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One body that the policy cut: its JSON pointer in the bounded payload ("" the whole), and it, whole."""

    pointer: str
    body: Any


def examine(payload: dict[str, Any]) -> tuple[bool, bool]:
    """Tell whether a payload passes no bound but the size in bytes, and whether all its floats are plain.

    One walk answers both, since it runs for every event (`codec.canonical.dumps` tells what plain is for). A
    payload with attachments is left to `bound` to decide.
    """
    if "attachments" in payload:
        return False, False
    plain = True
    level: list[Any] = [payload]
    for _ in range(MAX_DEPTH - 1):
        deeper: list[Any] = []
        for container in level:
            if len(container) > MAX_ITEMS:
                return False, False
            values = container
            if type(container) is dict:
                values = container.values()
                for key in container:
                    if len(key) > MAX_KEY:
                        return False, False
            for item in values:
                kind = type(item)  # exact types only, several times as fast as isinstance
                if kind is str:
                    if len(item) > MAX_TEXT:
                        return False, False
                elif kind is dict or kind is list:
                    deeper.append(item)
                elif kind is float and plain:
                    plain = is_plain(item)
        if not deeper:
            return True, plain
        level = deeper
    # What these containers hold stands at the depth where everything is cut; empty ones hold nothing.
    return not any(level), False


def stored(payload: dict[str, Any]) -> bytes:
    """Return the JSON that a store holds of a payload, cut where it must be."""
    encoded = dumps(payload)
    return encoded if len(encoded) <= MAX_BYTES and examine(payload)[0] else cut(payload)[0]


def cut(payload: dict[str, Any]) -> tuple[bytes, Bodies]:
    """Return the stored JSON of a payload that passes a bound, and the bodies that its `_blobs` lists.

    One that brings `_blobs` of its own, or so many cuts that their list alone is too large, is cut whole.
    """
    bounded, cuts = bound(payload)
    if not cuts:
        return dumps(bounded), []
    bodies = [(one.pointer, dumps(one.body)) for one in cuts]
    if "_blobs" not in payload or not cuts[0].pointer:
        encoded = dumps({**bounded, "_blobs": _listed(bodies)})
        if len(encoded) <= MAX_BYTES:
            return encoded, bodies
    data = dumps(payload)
    return dumps({**_marker(payload, data), "_blobs": _listed([("", data)])}), [("", data)]


def _listed(bodies: Bodies) -> list[dict[str, Any]]:
    return [
        {"pointer": pointer, "sha256": sha256_bytes(data), "bytes": len(data), "media_type": MEDIA_TYPE}
        for pointer, data in bodies
    ]


def _marker(payload: dict[str, Any], encoded: bytes) -> dict[str, Any]:
    return {
        "_truncated": True,
        "original_bytes": len(encoded),
        "keys": sorted(payload)[:MAX_ITEMS],
        "payload_hash": sha256_bytes(encoded),
    }


def bound(payload: dict[str, Any]) -> tuple[dict[str, Any], list[Cut]]:
    """Return the payload within the policy and what was cut from it, outermost cuts only.

    Each cut body is given whole, so that putting it back at its pointer restores the payload.
    """
    cuts: list[Cut] = []
    bounded = _bound(payload, "", 0, cuts.append)
    encoded = dumps(bounded)
    if len(encoded) > MAX_BYTES:
        return _marker(bounded, encoded), [Cut("", payload)]
    return bounded, cuts


def cut_text(text: str, limit: int) -> str:
    """Return `text` cut to `limit` characters with the marker `…[truncated:N]`, N the characters cut."""
    return f"{text[:limit]}{CUT_MARK}{len(text) - limit}]" if len(text) > limit else text


def _bound(value: Any, pointer: str, depth: int, note: Callable[[Cut], None]) -> Any:
    if depth >= MAX_DEPTH:
        note(Cut(pointer, value))
        return {"_truncated": "max_depth"}
    if isinstance(value, str):
        if len(value) > MAX_MEDIA and _MEDIA.fullmatch(pointer):
            note(Cut(pointer, value))
            return {"_omitted_type": "base64", "size": len(value)}
        if len(value) <= MAX_TEXT:
            return value
        note(Cut(pointer, value))
        return cut_text(value, MAX_TEXT)
    if isinstance(value, list):
        return _bound_list(value, pointer, depth, note)
    if isinstance(value, dict):
        return _bound_object(value, pointer, depth, note)
    return value


def _nothing(_: Cut) -> None:
    """Ignore cuts inside a body that is already kept whole."""


def _bound_list(value: list[Any], pointer: str, depth: int, note: Callable[[Cut], None]) -> list[Any]:
    over = len(value) - MAX_ITEMS
    if over > 0:
        note(Cut(pointer, value))
        note = _nothing
    bounded = [_bound(item, f"{pointer}/{i}", depth + 1, note) for i, item in enumerate(value[:MAX_ITEMS])]
    if over > 0:
        bounded.append({"_truncated_items": over})
    return bounded


def _bound_object(
    value: dict[str, Any], pointer: str, depth: int, note: Callable[[Cut], None]
) -> dict[str, Any]:
    over = len(value) - MAX_ITEMS
    if over > 0 or any(len(key) > MAX_KEY for key in value):
        note(Cut(pointer, value))
        note = _nothing
    bounded: dict[str, Any] = {}
    for key in sorted(value)[:MAX_ITEMS]:
        short = cut_text(key, MAX_KEY)
        bounded[short] = _bound(value[key], below(pointer, short), depth + 1, note)
    if over > 0:
        bounded["_truncated_items"] = over
    return bounded
