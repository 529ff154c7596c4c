"""Signing through ssh-agent (draft-ietf-sshm-ssh-agent): the private key never enters this process."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from typing import Final, Self

from geode_traj.attest import ed25519, wire
from geode_traj.errors import WorldError

MAX_MESSAGE: Final = 256 * 1024
"""Bytes of one message either way, as OpenSSH's agent bounds them."""

_LIST: Final = b"\x0b"
_IDENTITIES: Final = b"\x0c"
_SIGN: Final = b"\x0d"
_SIGNATURE: Final = b"\x0e"


@dataclass(frozen=True, slots=True)
class Identity:
    """An Ed25519 key that the agent holds: the raw public key, and the agent's comment (untrusted)."""

    public_key: bytes
    comment: str


@dataclass(frozen=True, slots=True)
class Agent:
    """An ssh-agent behind a Unix socket. It fails with `WorldError` TE106; `DataError` for unsound keys.

    `answer_s` bounds a listing; `sign_s` bounds a signature, for which a person may have to press a button.
    """

    path: str
    answer_s: float = 10.0
    sign_s: float = 120.0

    @classmethod
    def from_environment(cls) -> Self:
        """Return the agent that SSH_AUTH_SOCK names."""
        path = os.environ.get("SSH_AUTH_SOCK")
        if not path:
            raise _fail("SSH_AUTH_SOCK is not set: no agent is running here")
        return cls(path)

    def identities(self) -> tuple[Identity, ...]:
        """Return the Ed25519 keys that the agent holds; keys of other types cannot sign here."""
        reader = self._ask(_LIST, _IDENTITIES, self.answer_s)
        found = []
        for _ in range(reader.uint32()):
            blob, comment = reader.string(), reader.string()
            if blob.startswith(wire.string(wire.KEY_TYPE)):
                public_key = wire.read_public_blob(blob, _fail, place="ssh-agent")
                found.append(Identity(public_key, comment.decode(errors="replace")))
        reader.end()
        return tuple(found)

    def signer(self, public_key: bytes | None = None) -> AgentSigner:
        """Return the signer of one key that the agent holds; None means its only one."""
        held = {identity.public_key for identity in self.identities()}
        if public_key is None:
            if len(held) != 1:
                raise _fail(f"it holds {len(held)} Ed25519 keys: name one by its public key")
            (public_key,) = held
        if public_key not in held:
            raise _fail("it does not hold this key")
        return AgentSigner(self, public_key)

    def sign(self, public_key: bytes, data: bytes) -> bytes:
        """Return the raw signature (64 bytes) of `data` by the chosen key, verified."""
        request = _SIGN + wire.string(wire.public_blob(public_key)) + wire.string(data) + bytes(4)
        reader = self._ask(request, _SIGNATURE, self.sign_s)
        signature = wire.read_signature_blob(reader.string(), _fail)
        reader.end()
        ed25519.verify(public_key, data, signature, place="ssh-agent")
        return signature

    def _ask(self, request: bytes, expected: bytes, seconds: float) -> wire.Reader:
        """Send one request; return the reply behind its `expected` type byte."""
        if len(request) > MAX_MESSAGE:
            raise _fail(f"it takes no more than {MAX_MESSAGE} bytes")
        deadline = time.monotonic() + seconds
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(seconds)
                connection.connect(self.path)
                connection.sendall(wire.string(request))
                size = int.from_bytes(_receive(connection, 4, deadline), "big")
                if not 0 < size <= MAX_MESSAGE:
                    raise _fail("its reply has no sensible length")
                reply = _receive(connection, size, deadline)
        except TimeoutError:
            raise _fail(f"no answer within {seconds:g} seconds") from None
        except OSError as error:
            raise _fail(error.strerror or str(error)) from None
        if not reply.startswith(expected):
            raise _fail("it refused" if reply == b"\x05" else "its reply is of another kind")
        return wire.Reader(reply[1:], _fail)


@dataclass(frozen=True, slots=True)
class AgentSigner:
    """One key of an agent; a `Signer`."""

    agent: Agent
    public_key: bytes

    def sign(self, data: bytes) -> bytes:
        """Return the raw signature of `data`, 64 bytes."""
        return self.agent.sign(self.public_key, data)


def _fail(why: str) -> WorldError:
    return WorldError("TE106", why=why)


def _receive(connection: socket.socket, size: int, deadline: float) -> bytes:
    """Return exactly `size` bytes. One deadline for all: an agent that drips bytes does not renew it."""
    data = bytearray()
    while len(data) < size:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        chunk = connection.recv(size - len(data))
        if not chunk:
            raise _fail("it hung up before its answer was whole")
        data += chunk
    return bytes(data)
