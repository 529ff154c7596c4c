"""RL14xx: signatures that sign nothing, or something else."""

from __future__ import annotations

import pytest
from faults import SIGNATURE, broken
from release_forge import KEY, Forge, new_key

from geode_traj.attest import sshsig, wire
from geode_traj.release import layout


@broken("RL1401")
def stripped(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / SIGNATURE).unlink()
    (forge.root / "signatures").rmdir()


@broken("RL1401")
def one_of_two_roles(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / layout.signature_path(layout.REVIEWER)).unlink()


@broken("RL1402")
def base64_of_another_spelling(forge: Forge, _: pytest.MonkeyPatch) -> None:
    armored = (forge.root / SIGNATURE).read_bytes()
    forge.write(SIGNATURE, armored.replace(b"=\n", b"\n"))


@broken("RL1402")
def malleated(forge: Forge, _: pytest.MonkeyPatch) -> None:
    order = 2**252 + 27742317777372353535851937790883648493
    signature = sshsig.parse((forge.root / SIGNATURE).read_bytes()).signature
    scalar = int.from_bytes(signature[32:], "little") + order
    forge.write(SIGNATURE, _armored(KEY.public_key, signature[:32] + scalar.to_bytes(32, "little")))


@broken("RL1403")
def weak_key(forge: Forge, _: pytest.MonkeyPatch) -> None:
    identity = (1).to_bytes(32, "little")
    forge.write(SIGNATURE, _armored(identity, identity + bytes(32)))


def _armored(public_key: bytes, signature: bytes) -> bytes:
    fields = (
        wire.public_blob(public_key),
        layout.NAMESPACE.encode(),
        b"",
        b"sha512",
        wire.string(wire.KEY_TYPE) + wire.string(signature),
    )
    return sshsig._armor(b"SSHSIG" + (1).to_bytes(4, "big") + b"".join(map(wire.string, fields)))


@broken("RL1404")
def signed_for_something_else(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.sign(namespace="file")


@broken("RL1405")
def signature_of_another_release(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write(SIGNATURE, sshsig.sign(KEY, b"other sums\n", layout.NAMESPACE))


@broken("RL1405")
def victims_key(forge: Forge, _: pytest.MonkeyPatch) -> None:
    parsed = sshsig.parse(sshsig.sign(new_key(), (forge.root / "SHA256SUMS").read_bytes(), layout.NAMESPACE))
    forge.write(SIGNATURE, _armored(KEY.public_key, parsed.signature))


@broken("RL1406")
def one_key_twice(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.signers = {layout.SIGNER: KEY, layout.REVIEWER: KEY}
    forge.sign()
