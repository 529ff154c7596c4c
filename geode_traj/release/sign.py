"""Signing: one role vouches for SHA256SUMS, and so for every file it lists."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from geode_traj.attest import sshsig
from geode_traj.attest.keyfile import fingerprint
from geode_traj.attest.signer import Signer
from geode_traj.codec.files import read_bounded, sync_folder, write_new
from geode_traj.errors import DataError, WorldError
from geode_traj.release import layout
from geode_traj.release.check.limits import MAX_LIST
from geode_traj.release.check.verdict import CheckResult, check
from geode_traj.release.placing import disk
from geode_traj.release.stated import require_signed


def refuse_bare(folder: Path) -> None:
    """Raise `DataError` TE303 for a bare GEODE folder: it is neither signed nor published as it is."""
    if os.path.lexists(folder / layout.MANIFEST) and not os.path.lexists(folder / layout.RELEASE):
        why = "it is a bare GEODE folder, without release.json"
        raise DataError("TE303", place=str(folder), what="the release", why=why)


def refuse_faults(result: CheckResult, folder: Path) -> None:
    """Raise `DataError` TE401 naming the first fault, missing signatures apart."""
    for finding in result.content_errors:
        where = finding.place.file or folder.name
        more = f", and {len(result.content_errors) - 1} more" if len(result.content_errors) > 1 else ""
        why = f"{where}: {finding.message} ({finding.code}){more}"
        raise DataError("TE401", place=str(folder), what="the release", why=why)


def sign(folder: Path, signer: Signer, role: str = layout.SIGNER) -> Path:
    """Check a staged release, sign its SHA256SUMS in a role and return the signature's path.

    The signatures that are there are checked too. Raises `DataError`: TE303 for a bare GEODE folder, TE401
    where the release is not whole, TE310 for a key that signed in another role, TE312 where the reviewer has
    to sign first, or signed the review with another key; `WorldError`: TE101 for a role that is none, TE601
    for one that has signed.
    """
    if not layout.is_role(role):
        raise WorldError("TE101", what="the role", why="it is not lower-case words joined by hyphens")
    folder = folder.resolve()
    refuse_bare(folder)
    signatures = folder / layout.SIGNATURES
    with suppress(OSError):
        signatures.rmdir()  # an empty one is what an interrupted signing left
    target = folder / layout.signature_path(role)
    if os.path.lexists(target):
        raise WorldError("TE601", path=target.name, place=str(target))
    result = check(folder)
    refuse_faults(result, folder)
    _refuse_order(result, role)
    if role == layout.REVIEWER:
        require_signed(folder, signer.public_key)
    key = fingerprint(signer.public_key)
    for other in result.signers:
        if other.key == key:
            raise DataError("TE310", what=f"the key, which signed as {other.role}")
    armored = sshsig.sign(signer, read_bounded(folder / layout.SUMS, MAX_LIST), layout.NAMESPACE)
    with disk(signatures):
        signatures.mkdir(exist_ok=True)
        sync_folder(folder)
    try:
        write_new(target, [armored])
    finally:
        with suppress(OSError):
            signatures.rmdir()
    return target


def _refuse_order(result: CheckResult, role: str) -> None:
    """Raise `DataError` TE312 where the signer would go before a reviewer whose signature is required."""
    missing = {finding.place.file for finding in result.errors}
    if role == layout.SIGNER and layout.signature_path(layout.REVIEWER) in missing:
        raise DataError("TE312", why=f"{layout.REVIEWER} signs before {layout.SIGNER} does")
