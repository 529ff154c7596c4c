"""SSHSIG: the signatures of `ssh-keygen -Y sign` and `-Y verify` (OpenSSH PROTOCOL.sshsig), Ed25519 only.

Reading is strict: one spelling, the one ssh-keygen writes. Whom a key belongs to, and whether that one may
sign, is the caller's question; `verify` answers only which key signed.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import Final

from geode_traj.attest import ed25519, wire
from geode_traj.attest.signer import Signer
from geode_traj.errors import DataError

MAX_ARMORED: Final = 4096
"""Bytes of an armored signature that is looked at; ours have about 300."""

_MAGIC: Final = b"SSHSIG"
_BEGIN: Final = b"-----BEGIN SSH SIGNATURE-----\n"
_END: Final = b"-----END SSH SIGNATURE-----\n"
_COLUMNS: Final = 70
_HASHES: Final = {b"sha256": hashlib.sha256, b"sha512": hashlib.sha512}


@dataclass(frozen=True, slots=True)
class SshSignature:
    """A well-formed signature, not yet verified: who claims it, for what purpose, over which hash."""

    public_key: bytes
    namespace: str
    hash_name: str
    signature: bytes

    def verify_digest(self, digest: bytes, namespace: str, *, place: str = "") -> bytes:
        """Return the raw public key that signed the message with this `hash_name` digest.

        Raises `DataError` TE401 for another namespace, message or key; TE403 for a malleated signature.
        """
        if self.namespace != namespace:
            why = f"it was not made for the namespace {namespace}"
            raise DataError("TE401", place=place, what="signature", why=why)
        data = signed_data(digest, self.hash_name, namespace)
        ed25519.verify(self.public_key, data, self.signature, place=place)
        return self.public_key


def signed_data(digest: bytes, hash_name: str, namespace: str) -> bytes:
    """Return the bytes that the key signs for a message with this digest."""
    fields = (namespace.encode(), b"", hash_name.encode(), digest)
    return _MAGIC + b"".join(map(wire.string, fields))


def sign(signer: Signer, message: bytes, namespace: str) -> bytes:
    """Return the armored SHA-512 signature of `message`, as `ssh-keygen -Y sign -n namespace` writes it.

    It is verified before it is returned: a signer that errs fails here, not at a stranger's.
    """
    signature = signer.sign(signed_data(hashlib.sha512(message).digest(), "sha512", namespace))
    fields = (
        wire.public_blob(signer.public_key),
        namespace.encode(),
        b"",
        b"sha512",
        wire.string(wire.KEY_TYPE) + wire.string(signature),
    )
    armored = _armor(_MAGIC + (1).to_bytes(4, "big") + b"".join(map(wire.string, fields)))
    verify(armored, message, namespace)
    return armored


def verify(armored: bytes, message: bytes, namespace: str, *, place: str = "") -> bytes:
    """Return the raw public key (32 bytes) that signed `message` for `namespace`; errors as in `parse`."""
    signature = parse(armored, place=place)
    digest = _HASHES[signature.hash_name.encode()](message).digest()
    return signature.verify_digest(digest, namespace, place=place)


def parse(armored: bytes, *, place: str = "") -> SshSignature:
    """Read an armored signature; `DataError` TE403 if malformed, TE311 if its key is weak."""

    def fail(why: str) -> DataError:
        return DataError("TE403", place=place, why=why)

    reader = wire.Reader(_dearmor(armored, fail), fail)
    if reader.take(len(_MAGIC)) != _MAGIC:
        raise fail("it is not an SSHSIG")
    if reader.uint32() != 1:
        raise fail("only version 1 is known")
    public_key = wire.read_public_blob(reader.string(), fail, place=place)
    namespace, reserved, hash_name = reader.string(), reader.string(), reader.string()
    signature = wire.read_signature_blob(reader.string(), fail)
    reader.end()
    if not namespace or not namespace.isascii():
        raise fail("its namespace is empty or not ASCII")
    if reserved:
        raise fail("its reserved field is not empty")
    if hash_name not in _HASHES:
        raise fail("its hash is neither sha256 nor sha512")
    return SshSignature(public_key, namespace.decode(), hash_name.decode(), signature)


def _armor(blob: bytes) -> bytes:
    """Return the one text form of a signature: base64 in lines of 70, as ssh-keygen writes it."""
    body = base64.b64encode(blob)
    lines = (body[at : at + _COLUMNS] + b"\n" for at in range(0, len(body), _COLUMNS))
    return _BEGIN + b"".join(lines) + _END


def _dearmor(armored: bytes, fail: wire.Fail) -> bytes:
    """Return the bytes inside the armor; any other text of the same bytes is refused."""
    if len(armored) > MAX_ARMORED:
        raise fail(f"it is longer than {MAX_ARMORED} bytes")
    if not armored.startswith(_BEGIN):
        raise fail("it does not begin with the line of an SSH signature")
    if not armored.endswith(_END):
        raise fail("it does not end with the line of an SSH signature")
    body = armored[len(_BEGIN) : -len(_END)]
    blob = wire.decode_base64(body.replace(b"\n", b""), fail)
    if _armor(blob) != armored:
        raise fail("its lines are not broken as ssh-keygen breaks them")
    return blob
