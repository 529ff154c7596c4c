from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from geode_traj.attest import ed25519, keyfile, sshsig, wire
from geode_traj.attest.agent import MAX_MESSAGE, Agent
from geode_traj.attest.signer import Signer
from geode_traj.errors import TrajError, WorldError

PASSPHRASE = "-".join(["only", "for", "this", "test"])


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder whose sockets fit the 104 bytes that a Unix socket's name may have."""
    with tempfile.TemporaryDirectory(prefix="gt-") as folder:
        yield Path(folder)


@pytest.fixture
def agent(short_path: Path) -> Iterator[Agent]:
    path = short_path / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(path)], stdout=subprocess.DEVNULL)
    try:
        for _ in range(500):
            if path.exists():
                break
            time.sleep(0.01)
        yield Agent(str(path))
    finally:
        process.terminate()
        process.wait()


def ssh_add(agent: Agent, key: Path, **environment: str) -> None:
    env = os.environ | {"SSH_AUTH_SOCK": agent.path} | environment
    subprocess.run(
        ["ssh-add", "-q", str(key)], env=env, check=True, capture_output=True, stdin=subprocess.DEVNULL
    )


def code_of(call: object, *args: object) -> str:
    with pytest.raises(TrajError) as caught:
        call(*args)  # type: ignore[operator]
    return caught.value.code


def test_ssh_agent_lists_and_signs(agent: Agent, short_path: Path) -> None:
    assert agent.identities() == ()
    assert code_of(agent.signer) == "TE106"
    public_key = keyfile.new_key(short_path / "one", None)
    ssh_add(agent, short_path / "one")
    assert [identity.public_key for identity in agent.identities()] == [public_key]
    signer: Signer = agent.signer()
    for data in (b"", b"data", bytes(100_000)):
        ed25519.verify(public_key, data, signer.sign(data))
    armored = sshsig.sign(signer, b"message", "test@1")
    assert armored == sshsig.sign(keyfile.load_key(short_path / "one"), b"message", "test@1")


def test_a_key_is_chosen_among_several(agent: Agent, short_path: Path) -> None:
    keys = [keyfile.new_key(short_path / name, None) for name in ("one", "two")]
    subprocess.run(["ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", str(short_path / "other")], check=True)
    for name in ("one", "other", "two"):
        ssh_add(agent, short_path / name)
    assert {identity.public_key for identity in agent.identities()} == set(keys)
    assert code_of(agent.signer) == "TE106"
    assert agent.signer(keys[1]).public_key == keys[1]
    stranger = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    assert code_of(agent.signer, stranger) == "TE106"
    assert code_of(agent.sign, stranger, b"data") == "TE106"


def test_ssh_add_takes_our_encrypted_key(agent: Agent, short_path: Path) -> None:
    public_key = keyfile.new_key(short_path / "key", PASSPHRASE.encode())
    askpass = short_path / "askpass"
    askpass.write_text(f"#!/bin/sh\necho {PASSPHRASE}\n")
    askpass.chmod(0o700)
    ssh_add(agent, short_path / "key", SSH_ASKPASS=str(askpass), SSH_ASKPASS_REQUIRE="force")
    assert agent.signer().public_key == public_key


def test_environment_names_the_agent(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", agent.path)
    assert Agent.from_environment().identities() == ()
    monkeypatch.delenv("SSH_AUTH_SOCK")
    assert code_of(Agent.from_environment) == "TE106"


def test_a_missing_agent_is_an_error(short_path: Path) -> None:
    (short_path / "file").write_text("")
    for path in (short_path / "missing", short_path / "file", short_path / ("x" * 200)):
        assert code_of(Agent(str(path)).identities) == "TE106"


@contextmanager
def false_agent(folder: Path, reply: bytes, pause: float = 0.0) -> Iterator[Agent]:
    """An agent that answers every request with `reply`, byte by byte where there is a pause."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(folder / "false"))
    server.listen()
    stop = threading.Event()

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                if stop.is_set():
                    return
                connection.recv(MAX_MESSAGE)
                pieces = [reply[i : i + 1] for i in range(len(reply))] if pause else [reply]
                try:
                    for piece in pieces:
                        connection.sendall(piece)
                        stop.wait(pause)
                except OSError:
                    continue

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield Agent(str(folder / "false"), answer_s=0.3, sign_s=0.3)
    finally:
        stop.set()
        with socket.socket(socket.AF_UNIX) as waker:
            waker.connect(str(folder / "false"))
        thread.join()
        server.close()


PRIVATE = Ed25519PrivateKey.generate()
PUBLIC = PRIVATE.public_key().public_bytes_raw()


def listing(blob: bytes, count: int = 1) -> bytes:
    return b"\x0c" + count.to_bytes(4, "big") + wire.string(blob) + wire.string(b"comment")


def signed(raw: bytes, kind: bytes = b"ssh-ed25519") -> bytes:
    return b"\x0e" + wire.string(wire.string(kind) + wire.string(raw))


BAD_LISTS = {
    "nothing": (b"", "TE106"),
    "no length": (b"\0\0", "TE106"),
    "length 0": (bytes(4), "TE106"),
    "huge length": (b"\xff" * 8, "TE106"),
    "cut": (wire.string(listing(wire.public_blob(PUBLIC)))[:-1], "TE106"),
    "refused": (wire.string(b"\x05"), "TE106"),
    "other kind": (wire.string(b"\x0e\0\0\0\0"), "TE106"),
    "too many": (wire.string(listing(wire.public_blob(PUBLIC), 2**32 - 1)), "TE106"),
    "too few": (wire.string(listing(wire.public_blob(PUBLIC), 0)), "TE106"),
    "weak key": (wire.string(listing(wire.public_blob((1).to_bytes(32, "little")))), "TE311"),
}


@pytest.mark.parametrize(("reply", "code"), BAD_LISTS.values(), ids=BAD_LISTS)
def test_a_false_listing_is_refused(short_path: Path, reply: bytes, code: str) -> None:
    with false_agent(short_path, reply) as agent:
        assert code_of(agent.identities) == code


BAD_SIGNATURES = {
    "of other data": (signed(PRIVATE.sign(b"other")), "TE401"),
    "of another kind": (signed(PRIVATE.sign(b"data"), b"ssh-rsa"), "TE106"),
    "too short": (signed(PRIVATE.sign(b"data")[:63]), "TE106"),
    "with a tail": (signed(PRIVATE.sign(b"data")) + b"\0", "TE106"),
}


@pytest.mark.parametrize(("reply", "code"), BAD_SIGNATURES.values(), ids=BAD_SIGNATURES)
def test_a_false_signature_is_refused(short_path: Path, reply: bytes, code: str) -> None:
    with false_agent(short_path, wire.string(reply)) as agent:
        assert code_of(agent.sign, PUBLIC, b"data") == code


def test_a_true_signature_passes(short_path: Path) -> None:
    with false_agent(short_path, wire.string(signed(PRIVATE.sign(b"data")))) as agent:
        assert agent.sign(PUBLIC, b"data") == PRIVATE.sign(b"data")


def test_an_agent_that_drips_runs_out_of_time(short_path: Path) -> None:
    with false_agent(short_path, wire.string(bytes(1000)), pause=0.05) as agent:
        start = time.monotonic()
        with pytest.raises(WorldError, match="no answer within"):
            agent.identities()
        assert time.monotonic() - start < 5


def test_too_much_is_not_sent(short_path: Path) -> None:
    with pytest.raises(WorldError, match="no more than"):
        Agent(str(short_path / "missing")).sign(PUBLIC, bytes(MAX_MESSAGE))


def test_errors_of_the_agent_are_clear(short_path: Path) -> None:
    with (
        false_agent(short_path, wire.string(b"\x05")) as agent,
        pytest.raises(WorldError, match="it refused"),
    ):
        agent.sign(PUBLIC, b"data")
