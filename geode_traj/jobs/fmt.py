"""Rewriting trajectory files into the canonical line-framed form."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from geode_traj.codec.files import reading, sha256_file, write_new
from geode_traj.codec.framed import frame, join, read
from geode_traj.contract.encoding import encode
from geode_traj.contract.kinds import DATED_PREFIX, TRAJECTORY
from geode_traj.errors import DataError


def canonical(path: Path) -> Iterator[bytes]:
    """Yield the canonical form of a trajectory file; raise `DataError` when it is none."""
    with reading(path) as stream:
        document = read(stream, place=str(path))
        for _ in document.events:
            pass
        head = document.head
        if not str(head.get("schema_id")).startswith(DATED_PREFIX):
            raise DataError("TE208", name=TRAJECTORY, why="another schema_id, or none", place=str(path))
        stream.seek(0)
        document = read(stream, place=str(path))
        opening, closing = frame(head, encode)
        yield opening
        yield from join(encode(text.value) for text in document.events)
        yield closing


def is_canonical(path: Path) -> bool:
    """Tell whether a file's bytes are its canonical form."""
    digest = hashlib.sha256()
    for chunk in canonical(path):
        digest.update(chunk)
    return digest.hexdigest() == sha256_file(path)[0]


def rewrite(path: Path) -> bool:
    """Rewrite a file in place, atomically; return whether it changed.

    A link is refused (`DataError` TE402): replacing it would leave the file it leads to as it was.
    """
    if is_canonical(path):
        return False
    if path.is_symlink():
        raise DataError("TE402", path=path.name, why="a symbolic link", place=str(path))
    write_new(path, canonical(path), force=True, mode=path.stat().st_mode & 0o777)
    return True
