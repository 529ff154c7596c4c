"""Event ids and bounded columns (record contract §1, §3; importer decision J8)."""

from __future__ import annotations

import hashlib
from typing import Final

# UUIDv5 hashes the namespace's 16 bytes and the name; the standard library spends most of its time elsewhere.
_URL_NAMESPACE: Final = bytes.fromhex("6ba7b8119dad11d180b400c04fd430c8")

_VARIANT: Final = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}

COLUMN_BOUNDS: Final = {
    "turn_id": 256,
    "call_id": 256,
    "parent_event_id": 256,
    "role": 32,
    "status": 32,
    "model": 256,
    "provider": 128,
}
MIN_BOUND: Final = min(COLUMN_BOUNDS.values())
MAX_SESSION_ID: Final = 256
MAX_EVENT_ID: Final = 128
MAX_SOURCE: Final = 64


def uuid5_url(name: str) -> str:
    """Return the UUIDv5 of `name` in the URL namespace, as text."""
    text = hashlib.sha1(_URL_NAMESPACE + name.encode(), usedforsecurity=False).hexdigest()
    variant = _VARIANT[text[16]]
    return f"{text[:8]}-{text[8:12]}-5{text[13:16]}-{variant}{text[17:20]}-{text[20:32]}"


def legacy_event_id(session_id: str, line_number: int, line_sha256: str) -> str:
    """Return the id that GEODE gives a line of a legacy transcript."""
    return uuid5_url(f"geode:legacy-transcript:{session_id}:{line_number}:{line_sha256}")


def foreign_event_id(format_name: str, session_id: str, key: str, n: int, record_sha256: str) -> str:
    """Return the id of the n-th event that one record of another format gives (J8)."""
    return uuid5_url(f"geode-traj:{format_name}:{session_id}:{key}:{n}:{record_sha256}")


def fit(text: str, bound: int) -> str:
    """Cut redacted text longer than `bound` so that text, `:` and 16 hex of its SHA-256 fill it exactly."""
    if len(text) <= bound:
        return text
    return f"{text[: bound - 17]}:{hashlib.sha256(text.encode()).hexdigest()[:16]}"
