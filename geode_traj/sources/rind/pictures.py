"""Images that rows of a Rind session refer to, taken in as attachments (importer decision J9)."""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import reading, sha256_bytes
from geode_traj.codec.jsonl import MAX_LINE
from geode_traj.errors import TrajError
from geode_traj.model.event import Loss
from geode_traj.sources.rind.folder import ATTACHMENTS, Folder

_SHA256: Final = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_MEDIA: Final = {"png": "image/png", "jpg": "image/jpeg"}


class Pictures:
    """The images of one folder; what is missing, changed or never referred to becomes a loss."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._names = {name[:64]: name for name in folder.pictures()}
        self._used: set[str] = set()
        self._losses: Counter[str] = Counter()

    def attach(self, given: Any) -> list[dict[str, Any]]:
        """Return the attachments of a row: each reference with its image, or why it is not there."""
        references = given if isinstance(given, list) else [] if given is None else [given]
        return [self._one(reference) for reference in references]

    def losses(self) -> Iterator[Loss]:
        """Yield what was lost, and images that no row refers to."""
        unused = len(self._names.keys() - self._used)
        if unused:
            self._losses["attachment_not_referred_to"] += unused
        yield from (Loss(reason, count) for reason, count in sorted(self._losses.items()))

    def _one(self, reference: Any) -> dict[str, Any]:
        found = _SHA256.search(dumps(reference))
        digest = found[0].decode() if found else ""
        name = self._names.get(digest, "")
        stated = reference.get("media_type") if isinstance(reference, dict) else None
        media = _MEDIA.get(name.rpartition(".")[2]) or (stated if isinstance(stated, str) else None)
        entry: dict[str, Any] = {"media_type": media, "bytes": None, "reference": reference}
        try:
            data = self._read(name) if name else None
        except TrajError:
            data = None
        if data is None:
            self._losses["attachment_missing"] += 1
            return {**entry, "omitted": "missing"}
        self._used.add(digest)
        if len(data) > MAX_LINE:
            self._losses["attachment_too_large"] += 1
            return {**entry, "omitted": "too_large"}
        if sha256_bytes(data) != digest:
            self._losses["attachment_differs_from_its_digest"] += 1
        return {**entry, "bytes": len(data), "data": base64.b64encode(data).decode()}

    def _read(self, name: str) -> bytes:
        with reading(self._folder.path / ATTACHMENTS / name) as stream:
            return stream.read(MAX_LINE + 1)
