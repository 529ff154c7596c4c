"""The signatures of a release, read and verified over the bytes of SHA256SUMS."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime

from geode_traj.attest import sshsig
from geode_traj.attest.allowed_signers import Keyring
from geode_traj.contract.times import parse
from geode_traj.errors import DataError
from geode_traj.release import layout
from geode_traj.release.check.facts import Seen, Signature


def read_signatures(
    seen: Mapping[str, Seen], sums: bytes, keyring: Keyring | None, published_at: str | None
) -> list[Signature]:
    """Return every signature that could be read, in the order of roles.

    A key is trusted or not as of `published_at`, the time the release gives itself: the wall clock never
    counts.
    """
    time = parse(published_at) if published_at else None
    at = datetime.fromtimestamp(time[0], UTC) if time else None
    signatures: list[Signature] = []
    for path, file in sorted(seen.items()):
        role = layout.signature_role(path)
        if role is not None and file.data is not None:
            signature = Signature(role, path)
            _verify(signature, file.data, sums)
            if keyring and signature.parsed and signature.verified:
                key = signature.parsed.public_key
                signature.principals = keyring.signers_for(key, layout.NAMESPACE, at)
            signatures.append(signature)
    return signatures


def _verify(signature: Signature, armored: bytes, sums: bytes) -> None:
    try:
        signature.parsed = sshsig.parse(armored, place=signature.path)
        digest = hashlib.new(signature.parsed.hash_name, sums).digest()
        signature.parsed.verify_digest(digest, layout.NAMESPACE, place=signature.path)
    except DataError as error:
        signature.fault = error
