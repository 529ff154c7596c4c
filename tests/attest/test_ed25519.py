from __future__ import annotations

import secrets

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import given, settings
from hypothesis import strategies as st

from geode_traj.attest import ed25519
from geode_traj.errors import DataError

# The curve from its definition (RFC 8032 §5.1), affine and slow, sharing nothing with what is tested.
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
Point = tuple[int, int]


def add(a: Point, b: Point) -> Point:
    (x1, y1), (x2, y2) = a, b
    k = D * x1 * x2 * y1 * y2 % P
    return (
        (x1 * y2 + x2 * y1) * pow(1 + k, P - 2, P) % P,
        (y1 * y2 + x1 * x2) * pow(1 - k, P - 2, P) % P,
    )


def times(n: int, point: Point) -> Point:
    total: Point = (0, 1)
    while n:
        if n & 1:
            total = add(total, point)
        point = add(point, point)
        n >>= 1
    return total


def x_of(y: int) -> int | None:
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    root = pow(square, (P + 3) // 8, P)
    for candidate in (root, root * pow(2, (P - 1) // 4, P) % P):
        if candidate * candidate % P == square:
            return candidate
    return None


def torsion() -> set[Point]:
    """The eight points whose order divides 8: multiples of L·Q for any Q of the whole group."""
    for y in range(2, 200):
        x = x_of(y)
        if x is None:
            continue
        point = times(L, (x, y))
        if times(4, point) != (0, 1):
            return {times(n, point) for n in range(8)}
    raise AssertionError("no point of order 8 found")


def weak_encodings() -> set[bytes]:
    """Every 32 bytes that a lax decoder reads as one of the eight: y or y + p, and either sign of x = 0."""
    found = set()
    for x, y in torsion():
        for spelling in (y, y + P):
            signs = (0, 1) if x == 0 else (x & 1,)
            found |= {(spelling | sign << 255).to_bytes(32, "little") for sign in signs if spelling < 2**255}
    return found


WEAK = sorted(weak_encodings())


def code_of(call: object, *args: bytes) -> str:
    with pytest.raises(DataError) as caught:
        call(*args)  # type: ignore[operator]
    return caught.value.code


def new_pair() -> tuple[Ed25519PrivateKey, bytes]:
    private_key = Ed25519PrivateKey.generate()
    return private_key, private_key.public_key().public_bytes_raw()


def test_there_are_fourteen_weak_encodings() -> None:
    assert len(WEAK) == 14


@pytest.mark.parametrize("encoding", WEAK, ids=bytes.hex)
def test_weak_key_is_refused(encoding: bytes) -> None:
    assert code_of(ed25519.check_public, encoding) == "TE311"
    assert code_of(ed25519.verify, encoding, b"data", bytes(64)) == "TE311"


@pytest.mark.parametrize("encoding", WEAK, ids=bytes.hex)
def test_weak_point_in_a_signature_is_refused(encoding: bytes) -> None:
    assert code_of(ed25519.verify, new_pair()[1], b"data", encoding + bytes(32)) == "TE403"


def test_universal_signature_is_refused_though_the_library_takes_it() -> None:
    identity = (1).to_bytes(32, "little")
    universal = identity + bytes(32)
    Ed25519PublicKey.from_public_bytes(identity).verify(universal, b"whatever you like")
    assert code_of(ed25519.verify, identity, b"whatever you like", universal) == "TE311"


@pytest.mark.parametrize("y", range(P, 2**255))
@pytest.mark.parametrize("sign", [0, 1])
def test_non_canonical_key_is_refused(y: int, sign: int) -> None:
    assert code_of(ed25519.check_public, (y | sign << 255).to_bytes(32, "little")) == "TE311"


@settings(deadline=None)
@given(st.integers(0, P - 1), st.integers(0, 1))
def test_a_key_is_sound_exactly_when_it_is_a_point_of_large_order(y: int, sign: int) -> None:
    encoding = (y | sign << 255).to_bytes(32, "little")
    if x_of(y) is None or encoding in WEAK:
        assert code_of(ed25519.check_public, encoding) == "TE311"
    else:
        assert ed25519.check_public(encoding) == encoding


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_wrong_sizes_are_refused(size: int) -> None:
    private_key, public_key = new_pair()
    assert code_of(ed25519.check_public, bytes(size)) == "TE311"
    signature = ed25519.sign(private_key, b"data")
    assert code_of(ed25519.verify, public_key, b"data", (signature * 2)[: size + 65]) == "TE403"


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_signs_and_verifies_like_the_library(data: bytes) -> None:
    private_key, public_key = new_pair()
    signature = ed25519.sign(private_key, data)
    assert signature == private_key.sign(data)
    ed25519.verify(public_key, data, signature)
    assert code_of(ed25519.verify, public_key, data + b"\0", signature) == "TE401"
    assert code_of(ed25519.verify, new_pair()[1], data, signature) == "TE401"


@pytest.mark.parametrize("turns", [1, 2, 7])
def test_malleated_signature_is_refused(turns: int) -> None:
    private_key, public_key = new_pair()
    signature = ed25519.sign(private_key, b"data")
    raised = int.from_bytes(signature[32:], "little") + turns * L
    malleated = signature[:32] + raised.to_bytes(32, "little")
    assert code_of(ed25519.verify, public_key, b"data", malleated) == "TE403"


def test_rfc_8032_vector() -> None:
    seed = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    private_key = Ed25519PrivateKey.from_private_bytes(seed)
    public_key = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    assert private_key.public_key().public_bytes_raw() == public_key
    ed25519.verify(public_key, b"", ed25519.sign(private_key, b""))


def test_a_flipped_bit_never_verifies() -> None:
    private_key, public_key = new_pair()
    signature = ed25519.sign(private_key, b"data")
    for _ in range(64):
        at, bit = secrets.randbelow(64), 1 << secrets.randbelow(8)
        flipped = signature[:at] + bytes([signature[at] ^ bit]) + signature[at + 1 :]
        assert code_of(ed25519.verify, public_key, b"data", flipped) in ("TE401", "TE403")
