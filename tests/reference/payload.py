"""Redaction and bounds of a stored payload, and of the text columns beside it (record contract §3 and §4)."""

from __future__ import annotations

import math

from .gates import KNOWN_SECRET
from .text import compact, sha256

MAX_BYTES = 256 * 1024
MAX_TEXT = 100_000
MAX_ITEMS = 256
MAX_DEPTH = 12
MAX_KEY = 128
SENSITIVE = {"api_key", "authorization", "cookie", "headers", "password", "secret", "token"}
COLUMNS = {"session_id": 256, "turn_id": 256, "call_id": 256, "model": 256, "provider": 128, "status": 32}


def redact(text: str) -> str:
    return KNOWN_SECRET.sub("[REDACTED]", text)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…[truncated:{len(text) - limit}]"


def _storable(text: str) -> str:
    """Write what UTF-8 cannot hold as escapes: a bad byte `\\xNN`, a lone surrogate `\\uNNNN`."""
    readable = (f"\\x{ord(c) - 0xDC00:02x}" if "\udc80" <= c <= "\udcff" else c for c in text)
    return "".join(readable).encode("utf-8", "backslashreplace").decode("utf-8")


def _bound(value: object, depth: int) -> object:
    if depth >= MAX_DEPTH:
        return {"_truncated": "max_depth"}
    if isinstance(value, dict):
        kept: dict[str, object] = {}
        for key, item in list(value.items())[:MAX_ITEMS]:
            name = _cut(redact(_storable(key)), MAX_KEY)
            kept[name] = "<REDACTED>" if key.lower() in SENSITIVE else _bound(item, depth + 1)
        return kept if len(value) <= MAX_ITEMS else {**kept, "_truncated_items": len(value) - MAX_ITEMS}
    if isinstance(value, list):
        items = [_bound(item, depth + 1) for item in value[:MAX_ITEMS]]
        return items if len(value) <= MAX_ITEMS else [*items, {"_truncated_items": len(value) - MAX_ITEMS}]
    if isinstance(value, str):
        return _cut(redact(_storable(value)), MAX_TEXT)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    return {"_omitted_type": type(value).__name__}


def bounded(payload: dict) -> dict:
    """Return `payload` as it is stored: secrets out; text, collections, depth and size cut and marked."""
    kept = _bound(payload, 0)
    assert isinstance(kept, dict)
    text = compact(kept)
    if len(text.encode()) <= MAX_BYTES:
        return kept
    return {
        "_truncated": True,
        "original_bytes": len(text.encode()),
        "keys": sorted(kept)[:MAX_ITEMS],
        "payload_hash": sha256(text),
    }


def column(name: str, value: object) -> str:
    """Return a text column's value: redacted, then cut so that text, `:` and 16 hex digits fill its bound."""
    text = redact(_storable("" if value is None else str(value)))
    limit = COLUMNS[name]
    return text if len(text) <= limit else f"{text[: limit - 17]}:{sha256(text)[:16]}"
