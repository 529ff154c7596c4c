"""Publishing into a folder: nothing or everything stands at the final name, whenever the process dies.

Order: check the source, signatures included → copy to `TARGET/staging/<id>`, each file synced → folders
synced from the deepest up → read back and check → one rename that cannot replace → sync its folder → check
again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from geode_traj.attest.allowed_signers import Keyring
from geode_traj.codec.files import CHUNK
from geode_traj.errors import DataError, WorldError
from geode_traj.release.check.tree import opened, walk
from geode_traj.release.check.verdict import check
from geode_traj.release.geode_folder import write
from geode_traj.release.placing import disk, locked, place_verified
from geode_traj.release.sign import refuse_bare, refuse_faults

STAGING: Final = "staging"


def publish(folder: Path, target: Path, *, keyring: Keyring | None = None) -> Path:
    """Publish a signed release into the folder `target` and return its path there, `target/<release-id>`.

    With a keyring its signers must be known. Publishers into one target wait for each other. What a killed
    one left in `target/staging` goes at the next run. Raises `DataError` TE303, TE312 or TE401 where the
    release is not whole and signed, `WorldError` TE601 where it is published already, TE602 where the disk
    refuses.
    """
    folder = folder.resolve()
    refuse_bare(folder)
    _passes(folder, keyring)
    final = target / folder.name
    copy = target / STAGING / folder.name
    with disk(target), locked(copy.parent):
        try:
            _discard(copy)
            if os.path.lexists(final):
                raise WorldError("TE601", path=final.name, place=str(final))
            _copy(folder, copy)
            place_verified(copy, final, lambda path: _passes(path, keyring))
        finally:
            _discard(copy)
            with suppress(OSError):
                copy.parent.rmdir()
    return final


def _passes(folder: Path, keyring: Keyring | None) -> None:
    result = check(folder, keyring=keyring)
    refuse_faults(result, folder)
    for finding in result.errors:
        raise DataError("TE312", place=str(folder), why=finding.message)
    if keyring is not None and result.verdict != "valid":
        raise DataError("TE312", place=str(folder), why="a required signer is not in the keyring")


def _discard(folder: Path) -> None:
    if os.path.lexists(folder):
        shutil.rmtree(folder)


def _copy(source: Path, target: Path) -> None:
    """Copy every file of a folder, each made durable; links are not followed."""
    root = os.open(source, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for path in walk(root, lambda _folder, _name: True).files:
            copy = target / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            with opened(root, path) as descriptor:
                write(copy, _chunks(descriptor))
    finally:
        os.close(root)


def _chunks(descriptor: int) -> Iterator[bytes]:
    while chunk := os.read(descriptor, CHUNK):
        yield chunk
