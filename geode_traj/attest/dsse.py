"""DSSE envelopes: a payload, its type and signatures over both (DSSE 1.0.2, protocol.md and envelope.md).

Reading is strict, but members of unknown names are ignored, as DSSE asks. Which keys one trusts, and how many
have to sign, is the caller's question; `Envelope.verified_by` answers only which of them did.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from geode_traj.attest import ed25519, wire
from geode_traj.attest.signer import Signer
from geode_traj.codec import canonical, reading
from geode_traj.errors import DataError

MAX_BYTES: Final = 18 << 20
MAX_SIGNATURES: Final = 16
"""Bounds of an envelope: its bytes, and the signatures that each trusted key is tried on."""

_URL_SAFE: Final = bytes.maketrans(b"-_", b"+/")


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature as it stands in an envelope: the key that it claims (may be empty), and its bytes."""

    keyid: str
    raw: bytes


@dataclass(frozen=True, slots=True)
class Envelope:
    """A well-formed envelope, not yet verified: its payload may be by anybody."""

    payload_type: str
    payload: bytes
    signatures: tuple[Signature, ...] = ()

    def verified_by(self, keys: Iterable[bytes]) -> frozenset[bytes]:
        """Return those of `keys` (raw Ed25519, 32 bytes) that signed this payload as this type.

        Each key counts once, however often it signed and whatever key ids are claimed. Signatures that are
        malformed, malleated or by other keys are passed over: an envelope may hold some that others made
        with other algorithms. Raises `DataError` TE311 if one of `keys` is weak.
        """
        candidates = frozenset(map(ed25519.check_public, keys))
        signed = pae(self.payload_type, self.payload)
        return frozenset(
            key for key in candidates if any(_holds(key, signed, each.raw) for each in self.signatures)
        )


def pae(payload_type: str, payload: bytes) -> bytes:
    """Return the bytes that are signed for a payload of a type (protocol.md, PAE)."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def keyid_of(public_key: bytes) -> str:
    """Return the key id of a raw Ed25519 key: the hex SHA-256 of its canonical description, as TUF has it."""
    public = {"public": public_key.hex()}
    description = {"keytype": "ed25519", "keyval": public, "scheme": "ed25519"}
    return hashlib.sha256(canonical.dumps(description)).hexdigest()


def sign(signer: Signer, payload: bytes, payload_type: str) -> bytes:
    """Return the canonical envelope of `payload` with one signature; errors as in `add_signature`."""
    return add_signature(Envelope(payload_type, payload), signer)


def add_signature(envelope: Envelope, signer: Signer) -> bytes:
    """Return the canonical envelope with one more signature, or as it is where the signer has signed it.

    The signature is verified and the envelope read before it is returned: a signer that errs fails here, not
    at a stranger's. Raises `DataError` TE311 for a weak key, TE401 or TE403 for such a signer, TE403 for an
    envelope beyond the bounds.
    """
    public_key = signer.public_key
    if not envelope.verified_by((public_key,)):
        signed = pae(envelope.payload_type, envelope.payload)
        signature = Signature(keyid_of(public_key), signer.sign(signed))
        ed25519.verify(public_key, signed, signature.raw)
        envelope = replace(envelope, signatures=(*envelope.signatures, signature))
    written = canonical.dumps(
        {
            "payload": _encode(envelope.payload),
            "payloadType": envelope.payload_type,
            "signatures": [{"keyid": each.keyid, "sig": _encode(each.raw)} for each in envelope.signatures],
        }
    )
    read(written, envelope.payload_type)
    return written


def read(data: bytes, payload_type: str, *, place: str = "") -> Envelope:
    """Read an envelope whose payload claims to be of `payload_type`; `DataError` TE403 if malformed."""

    def fail(why: str) -> DataError:
        return DataError("TE403", place=place, why=why)

    names = ("payload", "payloadType", "signatures")
    envelope = fields(load(data, MAX_BYTES, fail), names, fail)
    if text(envelope, "payloadType", fail) != payload_type:
        raise fail(f"its payload type is not {payload_type}")
    signatures = envelope.get("signatures")
    if not isinstance(signatures, list) or not 1 <= len(signatures) <= MAX_SIGNATURES:
        raise fail(f"it does not hold 1 to {MAX_SIGNATURES} signatures")
    payload = _decode(text(envelope, "payload", fail), fail)
    return Envelope(payload_type, payload, tuple(_signature(each, fail) for each in signatures))


def load(data: bytes, limit: int, fail: wire.Fail) -> object:
    """Return the value of strict JSON of at most `limit` bytes; whatever is none raises `fail(why)`."""
    if len(data) > limit:
        raise fail(f"it is longer than {limit} bytes")
    try:
        return reading.loads(data)
    except DataError as error:
        raise fail(f"it is {error.message}") from None


def fields(value: object, names: Collection[str], fail: wire.Fail) -> dict[str, Any]:
    """Return a JSON object in which none of `names` has a twin in other letters.

    Readers that do not tell case apart (Go's) would take the twin for the member: two payloads in one.
    """
    if not isinstance(value, dict):
        raise fail("a JSON object is missing")
    folded = {name.casefold() for name in names}
    if any(name.casefold() in folded and name not in names for name in value):
        raise fail("a member is spelled in other letters")
    return value


def text(record: dict[str, Any], name: str, fail: wire.Fail, default: str | None = None) -> str:
    """Return a member that is text; without a `default` it must be there."""
    value = record.get(name, default)
    if not isinstance(value, str):
        raise fail(f"{name} is missing or not text")
    return value


def _signature(value: object, fail: wire.Fail) -> Signature:
    record = fields(value, ("keyid", "sig"), fail)
    return Signature(text(record, "keyid", fail, ""), _decode(text(record, "sig", fail), fail))


def _holds(public_key: bytes, signed: bytes, signature: bytes) -> bool:
    try:
        ed25519.verify(public_key, signed, signature)
    except DataError:
        return False
    return True


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _decode(written: str, fail: wire.Fail) -> bytes:
    """Return what canonical base64 stands for, in either of the alphabets that a reader has to take."""
    body = written.encode()
    if b"+" not in body and b"/" not in body:
        body = body.translate(_URL_SAFE)
    return wire.decode_base64(body, fail)
