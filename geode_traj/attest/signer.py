"""What signs: a key file or a key held by an agent, behind one small interface."""

from __future__ import annotations

from typing import Protocol


class Signer(Protocol):
    """Something that holds an Ed25519 private key, or can reach one."""

    @property
    def public_key(self) -> bytes:
        """The raw public key, 32 bytes."""
        ...

    def sign(self, data: bytes) -> bytes:
        """Return the raw signature of exactly `data`, 64 bytes."""
        ...
