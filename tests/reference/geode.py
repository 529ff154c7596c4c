"""The second GEODE's face: what a test needs of it, in one name."""

from __future__ import annotations

from .export import digest_payload, export_session
from .gates import gate_hits
from .legacy import import_legacy
from .quality import completeness, quality
from .release import read_release, record_sha256, release_name, release_quality
from .store import create_store, import_into, read_hook_events, read_store
from .text import Refused, compact, iso, sha256
from .trajectory import check_trajectory

__all__ = [
    "Refused",
    "check_trajectory",
    "compact",
    "completeness",
    "create_store",
    "digest_payload",
    "export_session",
    "gate_hits",
    "import_into",
    "import_legacy",
    "iso",
    "quality",
    "read_hook_events",
    "read_release",
    "read_store",
    "record_sha256",
    "release_name",
    "release_quality",
    "sha256",
]
