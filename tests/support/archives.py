"""Zip archives made from members that can be read in a diff."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from backports.zstd import zipfile

METHODS = {"stored": zipfile.ZIP_STORED, "deflate": zipfile.ZIP_DEFLATED, "zstd": zipfile.ZIP_ZSTANDARD}


def pack(path: Path, members: Iterable[tuple[str, Any]], method: str = "zstd") -> Path:
    """Write an archive; a member is JSON, or the text in `{"raw": text}`. Names may come twice."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", METHODS[method]) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a name comes twice is what a case may be about
        for name, value in members:
            raw = value.get("raw") if isinstance(value, dict) else None
            info = zipfile.ZipInfo(name)
            info.compress_type = METHODS[method]
            archive.writestr(info, json.dumps(value) if raw is None else raw)
    return path
