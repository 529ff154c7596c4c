"""Bodies that Nagato keeps as files beside its database: found, unpacked and held to their digest."""

from __future__ import annotations

import base64
import os
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from backports import zstd

from geode_traj.codec.files import read_bounded, sha256_bytes
from geode_traj.codec.reading import tolerant
from geode_traj.errors import TrajError

MAX_BODY: Final = 64 << 20
_MAX_STEPS: Final = 64
_GZIP, _ZLIB, _ZSTD = b"\x1f\x8b", b"\x78", b"\x28\xb5\x2f\xfd"


@dataclass(frozen=True, slots=True)
class Body:
    """What became of a blob: its body, or why there is none.

    `matched` says over which bytes the recorded digest is: `raw`, `compressed`, or `both` where nothing is
    packed. `loss` is a reason (blob_missing, blob_too_large, blob_differs, blob_not_readable), else "".
    """

    data: bytes = b""
    matched: str = ""
    loss: str = ""


def located(folder: Path, storage_path: Any) -> Path | None:
    """Return a blob's file below `folder`, None where there is none.

    A path from another place is looked for by its ends, since a database may have been moved together with
    its blobs; nothing outside the folder is ever read, whatever the database says.
    """
    if not isinstance(storage_path, str) or "\0" in storage_path:
        return None
    steps = [step for step in PurePosixPath(storage_path.replace("\\", "/")).parts if step != "/"]
    if not 0 < len(steps) <= _MAX_STEPS or ".." in steps:
        return None
    base = Path(os.path.realpath(folder))
    for start in range(len(steps)):
        try:
            file = Path(os.path.realpath(base.joinpath(*steps[start:])))
            if file.is_relative_to(base) and file.is_file():
                return file
        except OSError:  # a name that no file could have
            continue
    return None


def shown_path(storage_path: Any) -> dict[str, Any]:
    """Return how a storage path may be kept: a relative one as it is, of an absolute one only that."""
    text = storage_path if isinstance(storage_path, str) else ""
    absolute = text.startswith(("/", "\\", "~")) or text[1:2] == ":" or ".." in text
    return {"storage_path_absolute": True} if absolute else {"storage_path": text}


def read(folder: Path, row: dict[str, Any]) -> Body:
    """Return a blob's body, unpacked, if its digest is that of the packed or of the unpacked bytes."""
    file = located(folder, row.get("storage_path"))
    if file is None:
        return Body(loss="blob_missing")
    try:
        packed = read_bounded(file, MAX_BODY)
    except TrajError as error:
        return Body(loss="blob_too_large" if error.code == "TE203" else "blob_not_readable")
    wanted = str(row.get("sha256", "")).lower().removeprefix("sha256:")
    raw = _unpacked(packed, str(row.get("compression") or ""))
    of_packed = sha256_bytes(packed) == wanted
    if raw is None:
        return Body(loss="blob_not_readable" if of_packed else "blob_differs")
    of_raw = sha256_bytes(raw) == wanted if raw is not packed else of_packed
    if not (of_packed or of_raw):
        return Body(loss="blob_differs")
    matched = "both" if raw is packed else "raw" if of_raw else "compressed"
    return Body(raw, matched)


def _unpacked(data: bytes, compression: str) -> bytes | None:
    """Return the unpacked bytes, `data` itself where nothing is packed, None where it cannot be unpacked."""
    name = compression.lower()
    try:
        if name in ("", "none", "identity", "raw"):
            return data
        if "zst" in name or data.startswith(_ZSTD):
            unpacker = zstd.ZstdDecompressor()
            raw = unpacker.decompress(data, MAX_BODY)
            return raw if unpacker.eof else None
        if data.startswith((_GZIP, _ZLIB)):
            inflater = zlib.decompressobj(zlib.MAX_WBITS | 32)
            raw = inflater.decompress(data, MAX_BODY)
            return raw if inflater.eof else None
    except (zlib.error, zstd.ZstdError):
        return None
    return None


def value(body: Body, mime: Any) -> tuple[Any, list[dict[str, Any]]]:
    """Return a body as a value (JSON, else text) and as attachments where it is no text."""
    kind = mime if isinstance(mime, str) else ""
    try:
        text = body.data.decode()
    except UnicodeDecodeError:
        data = base64.b64encode(body.data).decode()
        return None, [{"media_type": kind or None, "bytes": len(body.data), "data": data}]
    if "json" in kind:
        try:
            read_json = tolerant(body.data)
        except (ValueError, RecursionError):
            return text, []
        if not (read_json.escaped or read_json.nonfinite or read_json.duplicates):
            return read_json.value, []
    return text, []
