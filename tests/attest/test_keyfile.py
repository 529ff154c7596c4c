from __future__ import annotations

import base64
import os
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from geode_traj.attest import ed25519, keyfile, wire
from geode_traj.errors import DataError, TrajError, WorldError

PASSPHRASE = b"-".join([b"only", b"for", b"this", b"test"])


def keygen(*arguments: str | Path) -> str:
    done = subprocess.run(["ssh-keygen", *arguments], capture_output=True, check=True, text=True)
    return done.stdout.strip()


def code_of(path: Path, passphrase: bytes | None = None) -> str:
    with pytest.raises(TrajError) as caught:
        keyfile.load_key(path, passphrase)
    return caught.value.code


def write(path: Path, text: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(text)
    path.chmod(mode)
    return path


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "key"
    keyfile.new_key(path, PASSPHRASE, "demo_user@example.org")
    return path


def test_ssh_keygen_reads_an_encrypted_key(encrypted: Path) -> None:
    kind, key = keygen("-y", "-P", PASSPHRASE.decode(), "-f", encrypted).split()[:2]
    line = encrypted.with_name("key.pub").read_text()
    assert line == f"{kind} {key} demo_user@example.org\n"
    loaded = keyfile.load_key(encrypted, PASSPHRASE)
    assert keyfile.public_line(loaded.public_key) == f"{kind} {key}"
    ed25519.verify(loaded.public_key, b"data", loaded.sign(b"data"))


def test_encryption_is_bcrypt_of_at_least_24_rounds(encrypted: Path) -> None:
    blob = base64.b64decode(b"".join(encrypted.read_bytes().split(b"\n")[1:-2]))
    reader = wire.Reader(blob[len(b"openssh-key-v1\0") :], AssertionError)  # type: ignore[arg-type]
    cipher, kdf, options = reader.string(), reader.string(), reader.string()
    assert (cipher, kdf) == (b"aes256-ctr", b"bcrypt")
    assert int.from_bytes(options[-4:], "big") >= 24


@pytest.mark.parametrize("passphrase", [None, b"", b"wrong"])
def test_encrypted_key_wants_its_passphrase(encrypted: Path, passphrase: bytes | None) -> None:
    assert code_of(encrypted, passphrase) == "TE101"


def test_a_prompt_is_called_only_for_an_encrypted_key(tmp_path: Path, encrypted: Path) -> None:
    asked = []

    def prompt() -> bytes:
        asked.append(True)
        return PASSPHRASE

    public_key = keyfile.new_key(tmp_path / "clear", None)
    assert keyfile.load_key(tmp_path / "clear", prompt).public_key == public_key
    assert not asked
    assert keyfile.load_key(encrypted, prompt).public_key == keyfile.load_public(
        encrypted.with_name("key.pub")
    )
    assert asked == [True]


def test_clear_key_files(tmp_path: Path) -> None:
    path = tmp_path / "key"
    old = os.umask(0)
    try:
        public_key = keyfile.new_key(path, None)
    finally:
        os.umask(old)
    assert path.stat().st_mode & 0o7777 == 0o600
    assert keygen("-y", "-P", "", "-f", path) == keyfile.public_line(public_key)
    assert keygen("-l", "-f", f"{path}.pub").split()[1] == keyfile.fingerprint(public_key)
    assert keyfile.load_key(path).public_key == public_key == keyfile.load_public(tmp_path / "key.pub")
    assert "private_key" not in repr(keyfile.load_key(path))


@pytest.mark.parametrize("passphrase", ["", PASSPHRASE.decode()])
def test_keys_of_ssh_keygen_are_read(tmp_path: Path, passphrase: str) -> None:
    path = tmp_path / "key"
    keygen("-q", "-t", "ed25519", "-a", "1", "-N", passphrase, "-C", "a comment", "-f", path)
    public_key = keyfile.load_public(tmp_path / "key.pub")
    assert keyfile.load_key(path, passphrase.encode() or None).public_key == public_key


def test_openssl_takes_the_raw_signature(tmp_path: Path) -> None:
    keyfile.new_key(tmp_path / "key", None)
    key = keyfile.load_key(tmp_path / "key")
    pem = key.private_key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    (tmp_path / "pem").write_bytes(pem)
    (tmp_path / "data").write_bytes(b"data")
    (tmp_path / "signature").write_bytes(key.sign(b"data"))
    command = "openssl pkeyutl -verify -rawin -pubin -inkey pem -in data -sigfile signature"
    done = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["key", "key.pub"])
@pytest.mark.parametrize("link", [False, True])
def test_nothing_is_replaced_or_followed(tmp_path: Path, name: str, link: bool) -> None:
    taken = tmp_path / name
    if link:
        taken.symlink_to(tmp_path / "elsewhere")
    else:
        taken.write_text("mine")
    with pytest.raises(WorldError) as caught:
        keyfile.new_key(tmp_path / "key", None)
    assert caught.value.code == "TE601"
    assert list(tmp_path.iterdir()) == [taken]
    assert link or taken.read_text() == "mine"


@pytest.mark.parametrize(
    ("passphrase", "comment", "rounds"),
    [
        (b"", "", 24),
        (b"x" * 73, "", 24),
        (PASSPHRASE, "", 23),
        (PASSPHRASE, "", keyfile.MAX_ROUNDS + 1),
        (None, "two\nlines", 24),
        (None, "bidi \u202e", 24),
        (None, "\x1b[31m", 24),
        (None, " ", 24),
    ],
)
def test_bad_wishes_for_a_new_key(
    tmp_path: Path, passphrase: bytes | None, comment: str, rounds: int
) -> None:
    with pytest.raises(WorldError) as caught:
        keyfile.new_key(tmp_path / "key", passphrase, comment, rounds)
    assert caught.value.code == "TE101"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610, 0o601, 0o644])
def test_a_key_that_others_can_reach_is_refused(tmp_path: Path, mode: int) -> None:
    keyfile.new_key(tmp_path / "key", None)
    (tmp_path / "key").chmod(mode)
    assert code_of(tmp_path / "key") == "TE101"


def test_a_key_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keyfile.new_key(tmp_path / "key", None)
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    assert code_of(tmp_path / "key") == "TE101"


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo", 0o600)
    assert {code_of(tmp_path / name) for name in ("fifo", "missing")} == {"TE201"}


def key_text(blob: bytes) -> bytes:
    body = base64.encodebytes(blob)
    return b"-----BEGIN OPENSSH PRIVATE KEY-----\n" + body + b"-----END OPENSSH PRIVATE KEY-----\n"


def key_blob(
    public_blob: bytes, private: bytes = b"", kdf: bytes = b"none", options: bytes = b"", keys: int = 1
) -> bytes:
    cipher = b"none" if kdf == b"none" else b"aes256-ctr"
    head = b"".join(map(wire.string, (cipher, kdf, options))) + keys.to_bytes(4, "big")
    return b"openssh-key-v1\0" + head + wire.string(public_blob) + wire.string(private)


def private_part(seed: bytes, public_key: bytes) -> bytes:
    """The private section of a clear key file, padded to its block of 8."""
    part = bytes(8) + wire.public_blob(public_key) + wire.string(seed + public_key) + wire.string(b"")
    return part + bytes(range(1, 1 + -len(part) % 8))


SOUND = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
SEED = bytes(range(32))
OWN = Ed25519PrivateKey.from_private_bytes(SEED).public_key().public_bytes_raw()
BLOB = wire.public_blob(SOUND)
IDENTITY = (1).to_bytes(32, "little")
EC = ec.generate_private_key(ec.SECP256R1()).private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
)
PKCS8 = Ed25519PrivateKey.generate().private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
)
MALFORMED = {
    "empty": b"",
    "text": b"hello",
    "other armor": PKCS8,
    "other type": EC,
    "no body": key_text(b""),
    "not base64": key_text(b"x").replace(b"eA==", b"e*=="),
    "magic": key_text(b"openssh-key-v2\0" + bytes(40)),
    "cut": key_text(key_blob(BLOB)[:60]),
    "no private part": key_text(key_blob(BLOB)),
    "damaged private part": key_text(key_blob(BLOB, bytes(64))),
    "two keys": key_text(key_blob(BLOB, bytes(64), keys=2)),
    "weak key": key_text(key_blob(wire.public_blob(IDENTITY), bytes(64))),
    "weak key, whole": key_text(key_blob(wire.public_blob(IDENTITY), private_part(SEED, IDENTITY))),
    "public part of another": key_text(key_blob(BLOB, private_part(SEED, SOUND))),
    "unknown kdf": key_text(key_blob(BLOB, bytes(64), b"scrypt")),
    "endless rounds": key_text(key_blob(BLOB, bytes(64), b"bcrypt", wire.string(bytes(16)) + b"\xff" * 4)),
    "huge length": key_text(b"openssh-key-v1\0" + b"\xff" * 40),
}


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED)
def test_malformed_keys_are_refused(tmp_path: Path, text: bytes) -> None:
    assert code_of(write(tmp_path / "key", text), PASSPHRASE) == "TE311"


def test_the_same_parts_make_a_sound_key(tmp_path: Path) -> None:
    text = key_text(key_blob(wire.public_blob(OWN), private_part(SEED, OWN)))
    assert keyfile.load_key(write(tmp_path / "key", text)).public_key == OWN


def test_a_large_file_is_not_parsed(tmp_path: Path) -> None:
    assert code_of(write(tmp_path / "key", b"x" * (keyfile.MAX_KEY_FILE + 1))) == "TE203"


LINE = keyfile.public_line(SOUND, "demo_user@example.org").encode()


def test_public_line_round_trip() -> None:
    assert keyfile.read_public(LINE) == SOUND
    assert keyfile.read_public(LINE.rsplit(b" ", 1)[0]) == SOUND


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"ssh-ed25519",
        b"ssh-ed25519 ",
        b"ssh-rsa AAAA",
        b" " + LINE,
        LINE + b"\n" + LINE,
        LINE.replace(b" ", b"  "),
        LINE[:50],
        LINE.replace(b" demo", b"AAAA demo"),
        b"ssh-ed25519 " + base64.b64encode(wire.public_blob(IDENTITY)),
    ],
    ids=lambda line: f"{len(line)} bytes",
)
def test_malformed_public_lines_are_refused(line: bytes) -> None:
    with pytest.raises(DataError) as caught:
        keyfile.read_public(line, place="key.pub")
    assert (caught.value.code, caught.value.place) == ("TE311", "key.pub")
