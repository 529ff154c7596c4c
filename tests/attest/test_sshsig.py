from __future__ import annotations

import base64
import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from geode_traj.attest import keyfile, sshsig, wire
from geode_traj.attest.allowed_signers import allowed_line
from geode_traj.errors import DataError

NAMESPACE = "geode.trajectory-release@1"
SIGNER = "release@example.org"
MESSAGE = b"0123  data/file.json\n"
ORDER = 2**252 + 27742317777372353535851937790883648493
BEGIN, END = b"-----BEGIN SSH SIGNATURE-----\n", b"-----END SSH SIGNATURE-----\n"


def new_signer() -> keyfile.FileKey:
    private_key = Ed25519PrivateKey.generate()
    return keyfile.FileKey(private_key.public_key().public_bytes_raw(), private_key)


KEY = new_signer()


def fields(**changed: bytes) -> bytes:
    """A blob with its fields replaced, signed over the fields that it then has."""
    values = {
        "magic": b"SSHSIG",
        "version": (1).to_bytes(4, "big"),
        "key": wire.public_blob(KEY.public_key),
        "namespace": NAMESPACE.encode(),
        "reserved": b"",
        "hash": b"sha512",
    } | changed
    body = b"".join(map(wire.string, (values["namespace"], values["reserved"], values["hash"])))
    digest = hashlib.new(values["hash"].decode() if values["hash"] == b"sha256" else "sha512", MESSAGE)
    raw = KEY.sign(b"SSHSIG" + body + wire.string(digest.digest()))
    signature = values.get("signature", wire.string(b"ssh-ed25519") + wire.string(raw))
    head = values["magic"] + values["version"] + wire.string(values["key"])
    return head + body + wire.string(signature) + values.get("tail", b"")


def armor(blob: bytes, columns: int = 70) -> bytes:
    text = base64.b64encode(blob)
    return BEGIN + b"".join(text[i : i + columns] + b"\n" for i in range(0, len(text), columns)) + END


def code_of(armored: bytes, message: bytes = MESSAGE, namespace: str = NAMESPACE) -> str:
    with pytest.raises(DataError) as caught:
        sshsig.verify(armored, message, namespace)
    return caught.value.code


def ssh_keygen_verify(folder: Path, armored: bytes, message: bytes, namespace: str = NAMESPACE) -> bool:
    signers, signature = folder / "allowed_signers", folder / "signature"
    signers.write_text(allowed_line(SIGNER, NAMESPACE, KEY.public_key) + "\n")
    signature.write_bytes(armored)
    command = ["ssh-keygen", "-Y", "verify", "-f", signers, "-I", SIGNER, "-n", namespace, "-s", signature]
    return subprocess.run(command, input=message, capture_output=True, check=False).returncode == 0


def test_ssh_keygen_accepts_what_we_sign(tmp_path: Path) -> None:
    armored = sshsig.sign(KEY, MESSAGE, NAMESPACE)
    assert ssh_keygen_verify(tmp_path, armored, MESSAGE)
    assert not ssh_keygen_verify(tmp_path, armored, MESSAGE + b"x")
    assert not ssh_keygen_verify(tmp_path, armored, MESSAGE, "another@1")


@pytest.mark.parametrize("hash_name", ["sha256", "sha512"])
def test_we_accept_what_ssh_keygen_signs(tmp_path: Path, hash_name: str) -> None:
    key, message = tmp_path / "key", tmp_path / "SHA256SUMS"
    public_key = keyfile.new_key(key, None)
    message.write_bytes(MESSAGE)
    option = f"hashalg={hash_name}"
    command = ["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", NAMESPACE, "-O", option, message]
    subprocess.run(command, check=True, capture_output=True)
    armored = (tmp_path / "SHA256SUMS.sig").read_bytes()
    assert sshsig.verify(armored, MESSAGE, NAMESPACE) == public_key
    signature = sshsig.parse(armored)
    assert signature.hash_name == hash_name
    digest = hashlib.new(hash_name, MESSAGE).digest()
    assert signature.verify_digest(digest, NAMESPACE) == public_key
    if hash_name == "sha512":
        assert sshsig.sign(keyfile.load_key(key), MESSAGE, NAMESPACE) == armored


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_round_trip_and_determinism(message: bytes) -> None:
    armored = sshsig.sign(KEY, message, NAMESPACE)
    assert armored == sshsig.sign(KEY, message, NAMESPACE)
    assert sshsig.verify(armored, message, NAMESPACE) == KEY.public_key
    assert code_of(armored, message + b"\n") == "TE401"
    assert code_of(armored, message, "git") == "TE401"


def test_unchanged_fields_make_a_good_signature() -> None:
    assert sshsig.verify(armor(fields()), MESSAGE, NAMESPACE) == KEY.public_key
    assert sshsig.verify(armor(fields(hash=b"sha256")), MESSAGE, NAMESPACE) == KEY.public_key


def malleated() -> bytes:
    raw = sshsig.parse(armor(fields())).signature
    raised = int.from_bytes(raw[32:], "little") + ORDER
    return wire.string(b"ssh-ed25519") + wire.string(raw[:32] + raised.to_bytes(32, "little"))


IDENTITY_KEY = wire.public_blob((1).to_bytes(32, "little"))
UNIVERSAL = wire.string(b"ssh-ed25519") + wire.string((1).to_bytes(32, "little") + bytes(32))
RSA = wire.string(b"ssh-rsa") + wire.string(b"\1\0\1") + wire.string(b"\1" * 256)
SECURITY_KEY = wire.string(b"sk-ssh-ed25519@openssh.com") + wire.string(KEY.public_key) + wire.string(b"ssh:")

BAD_FIELDS: dict[str, tuple[dict[str, bytes], str]] = {
    "magic": ({"magic": b"SSHSIH"}, "TE403"),
    "version 0": ({"version": bytes(4)}, "TE403"),
    "version 2": ({"version": (2).to_bytes(4, "big")}, "TE403"),
    "other namespace": ({"namespace": b"git"}, "TE401"),
    "no namespace": ({"namespace": b""}, "TE403"),
    "namespace not ASCII": ({"namespace": b"\xff"}, "TE403"),
    "namespace with NUL": ({"namespace": NAMESPACE.encode() + b"\0"}, "TE401"),
    "reserved": ({"reserved": b"x"}, "TE403"),
    "hash sha1": ({"hash": b"sha1"}, "TE403"),
    "hash empty": ({"hash": b""}, "TE403"),
    "rsa key": ({"key": RSA}, "TE403"),
    "security key": ({"key": SECURITY_KEY}, "TE403"),
    "key with tail": ({"key": wire.public_blob(KEY.public_key) + b"\0"}, "TE403"),
    "short key": ({"key": wire.public_blob(KEY.public_key[:31])}, "TE311"),
    "other key": ({"key": wire.public_blob(new_signer().public_key)}, "TE401"),
    "identity key, universal signature": ({"key": IDENTITY_KEY, "signature": UNIVERSAL}, "TE311"),
    "universal signature": ({"signature": UNIVERSAL}, "TE403"),
    "malleated": ({"signature": malleated()}, "TE403"),
    "signature type": ({"signature": wire.string(b"ssh-rsa") + wire.string(bytes(64))}, "TE403"),
    "short signature": ({"signature": wire.string(b"ssh-ed25519") + wire.string(bytes(63))}, "TE403"),
    "signature with tail": ({"signature": UNIVERSAL + b"\0"}, "TE403"),
    "trailing byte": ({"tail": b"\0"}, "TE403"),
    "second blob": ({"tail": b"SSHSIG"}, "TE403"),
}


@pytest.mark.parametrize(("changed", "code"), BAD_FIELDS.values(), ids=BAD_FIELDS)
def test_bad_fields_are_refused(changed: dict[str, bytes], code: str) -> None:
    assert code_of(armor(fields(**changed))) == code


BAD_ARMOR: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda good: b"",
    "no final line end": lambda good: good[:-1],
    "CRLF": lambda good: good.replace(b"\n", b"\r\n"),
    "leading space": lambda good: b" " + good,
    "leading line": lambda good: b"\n" + good,
    "trailing line": lambda good: good + b"\n",
    "trailing text": lambda good: good + b"x",
    "twice": lambda good: good * 2,
    "byte order mark": lambda good: b"\xef\xbb\xbf" + good,
    "PGP": lambda good: good.replace(b"SSH", b"PGP"),
    "no end": lambda good: good[: -len(END)],
    "no body": lambda good: BEGIN + END,
    "begin alone": lambda good: BEGIN,
    "blank line": lambda good: good.replace(b"\n", b"\n\n", 1),
    "space in a line": lambda good: good[:50] + b" " + good[50:],
    "space at a line's end": lambda good: good.replace(b"\n", b" \n", 2),
    "one line": lambda good: BEGIN + good[len(BEGIN) : -len(END)].replace(b"\n", b"") + b"\n" + END,
    "64 columns": lambda good: armor(fields(), 64),
    "76 columns": lambda good: armor(fields(), 76),
    "cut": lambda good: armor(fields()[:-1]),
    "padding missing": lambda good: good.replace(b"=", b""),
    "padding doubled": lambda good: good.replace(b"\n" + END, b"=\n" + END),
    "junk character": lambda good: good[:50] + b"*" + good[51:],
    "URL alphabet": lambda good: good[:50] + b"-_" + good[52:],
    "NUL": lambda good: good[:50] + b"\0" + good[51:],
    "PEM header": lambda good: BEGIN + b"Comment: x\n\n" + good[len(BEGIN) :],
    "huge": lambda good: BEGIN + b"A" * sshsig.MAX_ARMORED + b"\n" + END,
    "huge length": lambda good: armor(b"SSHSIG" + (1).to_bytes(4, "big") + b"\xff" * 40),
}


@pytest.mark.parametrize("change", BAD_ARMOR.values(), ids=BAD_ARMOR)
def test_other_spellings_of_the_armor_are_refused(change: Callable[[bytes], bytes]) -> None:
    good = armor(fields())
    assert change(good) != good
    assert code_of(change(good)) == "TE403"


def test_spare_bits_of_the_last_character_are_refused() -> None:
    text = base64.b64encode(fields(namespace=b"n" * 26)).decode()
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    assert text.endswith("=")
    at = len(text.rstrip("=")) - 1
    twin = text[:at] + alphabet[alphabet.index(text[at]) + 1] + text[at + 1 :]
    assert base64.b64decode(twin) == base64.b64decode(text)
    lines = "".join(twin[i : i + 70] + "\n" for i in range(0, len(twin), 70))
    assert code_of(BEGIN + lines.encode() + END, namespace="n" * 26) == "TE403"


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_refused_with_a_code(blob: bytes) -> None:
    for armored in (blob, armor(blob), BEGIN + blob + END, armor(b"SSHSIG\0\0\0\1" + blob)):
        assert code_of(armored) in ("TE403", "TE311")


@settings(deadline=None)
@given(st.data())
def test_any_changed_byte_is_refused(data: st.DataObject) -> None:
    good = sshsig.sign(KEY, MESSAGE, NAMESPACE)
    at = data.draw(st.integers(0, len(good) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != good[at]))
    assert code_of(good[:at] + bytes([byte]) + good[at + 1 :]) in ("TE401", "TE403", "TE311")


class Erring:
    """A signer that signs something else."""

    public_key = KEY.public_key

    def sign(self, data: bytes) -> bytes:
        return KEY.sign(data + b"x")


def test_a_signer_that_errs_is_caught() -> None:
    with pytest.raises(DataError) as caught:
        sshsig.sign(Erring(), MESSAGE, NAMESPACE)
    assert caught.value.code == "TE401"


@pytest.mark.parametrize("namespace", ["", "é", "x" * 5000])
def test_a_namespace_that_could_not_be_read_is_not_signed(namespace: str) -> None:
    with pytest.raises(DataError) as caught:
        sshsig.sign(KEY, MESSAGE, namespace)
    assert caught.value.code == "TE403"


def test_errors_name_their_place() -> None:
    with pytest.raises(DataError, match="signatures") as caught:
        sshsig.verify(armor(fields(namespace=b"git")), MESSAGE, NAMESPACE, place="signatures/a.sshsig")
    assert caught.value.place == "signatures/a.sshsig"
