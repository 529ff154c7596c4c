"""Strict Ed25519 (RFC 8032): one encoding of a key, one encoding of a signature, no weak points.

Common libraries take a public key of small order, under which one signature fits nearly every message, and
some take a signature whose scalar was raised by the group order. Both are refused here before a library sees
them, so that whoever checks with whatever tool comes to one verdict.
"""

from __future__ import annotations

from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from geode_traj.errors import DataError

_P: Final = 2**255 - 19
_ORDER: Final = 2**252 + 27742317777372353535851937790883648493
_D: Final = -121665 * pow(121666, -1, _P) % _P
_Y8: Final = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
# y of the eight points of order 1, 2, 4 and 8. With both signs, and with the y >= p that are refused as
# non-canonical anyway, these are the 14 encodings of such points.
_SMALL_ORDER_Y: Final = frozenset({0, 1, _P - 1, _Y8, _P - _Y8})


def check_public(public_key: bytes, *, place: str = "") -> bytes:
    """Return a raw public key (32 bytes) unchanged if it is sound; `DataError` TE311 if not."""
    fault = _point_fault(public_key)
    if fault:
        raise DataError("TE311", place=place, why=f"the public key {fault}")
    return public_key


def verify(public_key: bytes, data: bytes, signature: bytes, *, place: str = "") -> None:
    """Return if the raw `signature` (64 bytes) of `data` is by `public_key` (32 bytes).

    Raises `DataError`: TE311 for a weak key, TE403 for a malformed or malleated signature, TE401 for one
    that is of other data or by another key.
    """
    check_public(public_key, place=place)
    if len(signature) != 64:
        raise DataError("TE403", place=place, why="it does not have 64 bytes")
    fault = _point_fault(signature[:32])
    if fault:
        raise DataError("TE403", place=place, why=f"its point {fault}")
    if int.from_bytes(signature[32:], "little") >= _ORDER:
        # s + ORDER verifies like s in lax tools: a second spelling that only someone else can have made.
        raise DataError("TE403", place=place, why="its scalar is not below the group order")
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, data)
    except InvalidSignature:
        why = "it is of other bytes, or by another key"
        raise DataError("TE401", place=place, what="signature", why=why) from None


def sign(private_key: Ed25519PrivateKey, data: bytes) -> bytes:
    """Return the raw deterministic signature of `data`, 64 bytes."""
    return private_key.sign(data)


def _point_fault(encoded: bytes) -> str | None:
    """Say what is wrong with an encoded point, or None: length, canonical form, small order, curve."""
    if len(encoded) != 32:
        return "does not have 32 bytes"
    y = int.from_bytes(encoded, "little") & (2**255 - 1)
    if y >= _P:
        return "is not in canonical form"
    if y in _SMALL_ORDER_Y:
        return "is a point of small order"
    x_squared = (y * y - 1) * pow(_D * y * y + 1, -1, _P)
    if pow(x_squared, (_P - 1) // 2, _P) != 1:
        return "is not a point of the curve"
    return None
