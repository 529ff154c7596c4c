"""The SSH wire format (RFC 4251 §5): length-prefixed strings, read from bounded bytes to the last byte."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Final

from geode_traj.attest.ed25519 import check_public
from geode_traj.errors import TrajError

KEY_TYPE: Final = b"ssh-ed25519"

Fail = Callable[[str], TrajError]
"""Makes the error of the thing being read (a signature, a key file, an agent's reply) from a reason."""


def string(data: bytes) -> bytes:
    """Return `data` behind its length as a big-endian uint32."""
    return len(data).to_bytes(4, "big") + data


class Reader:
    """Takes SSH values off the front of `data`; whatever does not fit raises `fail(why)`."""

    def __init__(self, data: bytes, fail: Fail) -> None:
        self._data = data
        self._at = 0
        self._fail = fail

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes."""
        end = self._at + size
        if end > len(self._data):
            raise self._fail("it ends too early")
        taken, self._at = self._data[self._at : end], end
        return taken

    def uint32(self) -> int:
        """Return the next big-endian uint32."""
        return int.from_bytes(self.take(4), "big")

    def string(self) -> bytes:
        """Return the next length-prefixed string."""
        return self.take(self.uint32())

    def rest(self) -> bytes:
        """Return everything that is left."""
        return self.take(len(self._data) - self._at)

    def end(self) -> None:
        """Refuse bytes that nothing has read."""
        if self._at != len(self._data):
            raise self._fail("it has trailing bytes")


def public_blob(public_key: bytes) -> bytes:
    """Return an Ed25519 public key (32 bytes) as an SSH key blob (RFC 8709 §4)."""
    return string(KEY_TYPE) + string(public_key)


def read_public_blob(blob: bytes, fail: Fail, *, place: str = "") -> bytes:
    """Return the 32-byte Ed25519 key of an SSH key blob; weak keys are `DataError` TE311."""
    reader = Reader(blob, fail)
    if reader.string() != KEY_TYPE:
        raise fail("the key type is not ssh-ed25519")
    public_key = reader.string()
    reader.end()
    return check_public(public_key, place=place)


def read_signature_blob(blob: bytes, fail: Fail) -> bytes:
    """Return the 64-byte raw signature of an SSH signature blob (RFC 8709 §6)."""
    reader = Reader(blob, fail)
    if reader.string() != KEY_TYPE:
        raise fail("the signature type is not ssh-ed25519")
    signature = reader.string()
    reader.end()
    if len(signature) != 64:
        raise fail("the signature does not have 64 bytes")
    return signature


def decode_base64(text: bytes, fail: Fail) -> bytes:
    """Return what canonical base64 stands for; a second spelling of the same bytes is refused."""
    try:
        data = binascii.a2b_base64(text, strict_mode=True)
    except binascii.Error:
        raise fail("it is not base64") from None
    if base64.b64encode(data) != text:
        raise fail("its base64 is not canonical")
    return data
