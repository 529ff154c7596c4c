"""Bounds of a release that is looked at: sizes and counts are judged before anything is parsed."""

from __future__ import annotations

from typing import Final

MAX_DEPTH: Final = 32
MAX_ENTRIES: Final = 100_000
MAX_TOTAL: Final = 1 << 40
"""Folders below each other; files and folders together; bytes of all files."""

MAX_LIST: Final = 64 << 20
"""Bytes of SHA256SUMS, release.json, manifest.json, review.json or disclosure.json, each read whole."""

MAX_LINE: Final = 256 << 20
"""Bytes of one line over which the gate classes are counted: a line is what that needs in memory."""
