"""The signatures of a release: over the bytes of SHA256SUMS, and over what the reviewer states."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from geode_traj.attest import dsse, sshsig, statement
from geode_traj.attest.allowed_signers import Keyring
from geode_traj.contract.times import parse
from geode_traj.errors import DataError
from geode_traj.release import layout
from geode_traj.release.check.facts import Seen, Signature, Stated


def read_signatures(
    seen: Mapping[str, Seen], sums: bytes, keyring: Keyring | None, published_at: str | None
) -> list[Signature]:
    """Return every signature that could be read, in the order of roles.

    A key is trusted or not as of `published_at`, the time the release gives itself: the wall clock never
    counts.
    """
    at = _time(published_at)
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


def read_statement(
    seen: Seen | None, signatures: Sequence[Signature], keyring: Keyring | None, published_at: str | None
) -> Stated | None:
    """Return the reviewer's statement, None where there is none; trusted as of `published_at`, as above."""
    if seen is None or seen.data is None:
        return None
    try:
        envelope = dsse.read(seen.data, statement.PAYLOAD_TYPE, place=layout.REVIEW_STATEMENT)
        said = statement.read(envelope.payload, statement.PRIVACY_REVIEW, place=layout.REVIEW_STATEMENT)
    except DataError as error:
        return Stated(fault=error)
    here = {each.parsed.public_key for each in signatures if each.parsed and each.verified}
    known = here.union(keyring.public_keys if keyring else ())
    ids = {each.keyid for each in envelope.signatures}
    signed_by = envelope.verified_by(known)
    at = _time(published_at)
    return Stated(
        envelope,
        said,
        signed_by=signed_by,
        claimed=frozenset(key for key in known if dsse.keyid_of(key) in ids),
        trusted=any(keyring and keyring.signers_for(key, layout.NAMESPACE, at) for key in signed_by),
    )


def _time(published_at: str | None) -> datetime | None:
    time = parse(published_at) if published_at else None
    return datetime.fromtimestamp(time[0], UTC) if time else None


def _verify(signature: Signature, armored: bytes, sums: bytes) -> None:
    try:
        signature.parsed = sshsig.parse(armored, place=signature.path)
        digest = hashlib.new(signature.parsed.hash_name, sums).digest()
        signature.parsed.verify_digest(digest, layout.NAMESPACE, place=signature.path)
    except DataError as error:
        signature.fault = error
