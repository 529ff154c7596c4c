"""Ed25519 keys in files, as ssh-keygen and ssh-add read and write them (OpenSSH PROTOCOL.key)."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from geode_traj.attest import ed25519, wire
from geode_traj.codec import files
from geode_traj.codec.text import neutralise
from geode_traj.errors import DataError, TrajError, WorldError

MIN_ROUNDS: Final = 24
MAX_ROUNDS: Final = 1024
"""Bounds of the bcrypt rounds of a key file: 24 take about half a second."""

MAX_KEY_FILE: Final = 16 * 1024
MAX_PASSPHRASE: Final = 72
"""Bytes of a key file, and of the passphrase of a new one (a limit of the library that writes it)."""

_MAGIC: Final = b"openssh-key-v1\0"
_BEGIN: Final = b"-----BEGIN OPENSSH PRIVATE KEY-----\n"
_END: Final = b"-----END OPENSSH PRIVATE KEY-----"


@dataclass(frozen=True, slots=True)
class FileKey:
    """A private key read from a file; a `Signer`."""

    public_key: bytes
    private_key: Ed25519PrivateKey = field(repr=False)

    def sign(self, data: bytes) -> bytes:
        """Return the raw signature of `data`, 64 bytes."""
        return ed25519.sign(self.private_key, data)


def new_key(path: Path, passphrase: bytes | None, comment: str = "", rounds: int = MIN_ROUNDS) -> bytes:
    """Make a key, write it to `path` (mode 0600) and `<path>.pub`, and return the raw public key.

    The file is encrypted under bcrypt with `rounds`, or in clear where `passphrase` is None. The comment
    stands in the public file only. Raises `WorldError`: TE601 where either file exists, TE602 where it cannot
    be written, TE101 for a passphrase, comment or number of rounds that does not fit.
    """
    private_key = Ed25519PrivateKey.generate()
    public_key = private_key.public_key().public_bytes_raw()
    line = public_line(public_key, comment) + "\n"
    text = private_key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, _encryption(passphrase, rounds)
    )
    public_path = path.with_name(path.name + ".pub")
    # The public half first: without its private one it is harmless.
    files.write_new(public_path, [line.encode()])
    try:
        files.write_new(path, [text], mode=0o600)
    except BaseException:
        public_path.unlink()
        raise
    return public_key


def load_key(path: Path, passphrase: bytes | Callable[[], bytes] | None = None) -> FileKey:
    """Read a private key that nobody but its owner may read.

    `passphrase` may be a function, which is called (to prompt, say) only where the file is encrypted; it is
    ignored for a clear file. Raises `WorldError` TE201 where the file cannot be read, TE101 for its owner,
    mode, or a passphrase that is missing or wrong; `DataError` TE203 or TE311 for what is in it.
    """
    place = str(path)
    text = _read_private(path)
    public_key, encrypted = _read_header(text, place)
    if callable(passphrase):
        passphrase = passphrase() if encrypted else None
    if encrypted and not passphrase:
        raise WorldError("TE101", place=place, what="key file", why="it is encrypted: give its passphrase")
    try:
        private_key = serialization.load_ssh_private_key(text, passphrase if encrypted else None)
    except (ValueError, TypeError, InvalidTag, UnsupportedAlgorithm):
        # A wrong passphrase and damaged ciphertext look alike.
        if encrypted:
            why = "it does not open the key"
            raise WorldError("TE101", place=place, what="passphrase", why=why) from None
        raise DataError("TE311", place=place, why="the private part is damaged") from None
    if not isinstance(private_key, Ed25519PrivateKey):
        raise DataError("TE311", place=place, why="the key type is not ssh-ed25519")
    if private_key.public_key().public_bytes_raw() != public_key:
        raise DataError("TE311", place=place, why="the public part does not belong to the private part")
    return FileKey(public_key, private_key)


def public_line(public_key: bytes, comment: str = "") -> str:
    """Return the one-line form of a public key, `ssh-ed25519 <base64> [comment]`, without a line end."""
    if comment != neutralise(comment).strip():
        raise WorldError("TE101", what="comment", why="it holds control characters or outer spaces")
    blob = wire.public_blob(ed25519.check_public(public_key))
    return " ".join(filter(None, (wire.KEY_TYPE.decode(), base64.b64encode(blob).decode(), comment)))


def load_public(path: Path) -> bytes:
    """Return the raw public key of a `.pub` file of one line; `DataError` TE203 or TE311."""
    place = str(path)
    return read_public(files.read_bounded(path, MAX_KEY_FILE).removesuffix(b"\n"), place=place)


def read_public(line: bytes, *, place: str = "") -> bytes:
    """Return the raw public key of `ssh-ed25519 <base64> [comment]`; `DataError` TE311."""

    def fail(why: str) -> DataError:
        return DataError("TE311", place=place, why=why)

    kind, _, rest = line.partition(b" ")
    if kind != wire.KEY_TYPE:
        raise fail("the key type is not ssh-ed25519")
    if b"\n" in line:
        raise fail("there is more than one line")
    return wire.read_public_blob(wire.decode_base64(rest.partition(b" ")[0], fail), fail, place=place)


def fingerprint(public_key: bytes) -> str:
    """Return the fingerprint of a raw public key as `ssh-keygen -l` prints it: `SHA256:` and base64."""
    digest = hashlib.sha256(wire.public_blob(public_key)).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def _encryption(passphrase: bytes | None, rounds: int) -> serialization.KeySerializationEncryption:
    """Return how a new key file is encrypted."""
    if passphrase is None:
        return serialization.NoEncryption()
    if not 0 < len(passphrase) <= MAX_PASSPHRASE:
        raise WorldError("TE101", what="passphrase", why=f"it has to have 1 to {MAX_PASSPHRASE} bytes")
    if not MIN_ROUNDS <= rounds <= MAX_ROUNDS:
        raise WorldError("TE101", what="rounds", why=f"they have to be {MIN_ROUNDS} to {MAX_ROUNDS}")
    builder = serialization.PrivateFormat.OpenSSH.encryption_builder()
    return builder.kdf_rounds(rounds).build(passphrase)


def _read_private(path: Path) -> bytes:
    """Return the bytes of a key file after a look at the open descriptor: owner, mode, size."""
    place = str(path)
    with files.reading(path) as stream:
        status = os.fstat(stream.fileno())
        if status.st_uid != os.geteuid():
            raise WorldError("TE101", place=place, what="key file", why="it belongs to another user")
        if status.st_mode & 0o077:
            why = f"mode {status.st_mode & 0o777:04o} lets others at it: chmod 600"
            raise WorldError("TE101", place=place, what="key file", why=why)
        text = stream.read(MAX_KEY_FILE + 1)
    if len(text) > MAX_KEY_FILE:
        raise DataError("TE203", place=place, limit=MAX_KEY_FILE)
    return text


def _read_header(text: bytes, place: str) -> tuple[bytes, bool]:
    """Return the raw public key and whether the private part is encrypted, from the clear header.

    Reading it first tells a wrong key type from a wrong passphrase, and bounds the work of the key derivation
    before it starts.
    """

    def fail(why: str) -> TrajError:
        return DataError("TE311", place=place, why=why)

    body = text.rstrip(b"\n")
    if not (body.startswith(_BEGIN) and body.endswith(_END)):
        raise fail("it is not one OpenSSH private key")
    body = body[len(_BEGIN) : -len(_END)].replace(b"\n", b"")
    reader = wire.Reader(wire.decode_base64(body, fail), fail)
    if reader.take(len(_MAGIC)) != _MAGIC:
        raise fail("it is not an OpenSSH private key")
    cipher, kdf, options, keys = reader.string(), reader.string(), reader.string(), reader.uint32()
    if keys != 1:
        raise fail("it does not hold exactly one key")
    public_key = wire.read_public_blob(reader.string(), fail, place=place)
    if cipher == kdf == b"none":
        return public_key, False
    if kdf != b"bcrypt":
        raise fail("its passphrase is not protected by bcrypt")
    option = wire.Reader(options, fail)
    option.string()
    if option.uint32() > MAX_ROUNDS:
        raise fail(f"it asks for more than {MAX_ROUNDS} rounds of bcrypt")
    return public_key, True
