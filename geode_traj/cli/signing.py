"""Signing keys on the command line: a file with its passphrase, or the ssh-agent."""

from __future__ import annotations

from pathlib import Path

from geode_traj.attest import keyfile
from geode_traj.attest.agent import Agent
from geode_traj.attest.signer import Signer
from geode_traj.cli import passphrase


def signer(key: Path | None, passphrase_fd: int | None, *, agent: bool = False) -> Signer | None:
    """Return who signs: the agent's key (`key` may name the public one), that of a file, None for neither."""
    if agent:
        return Agent.from_environment().signer(keyfile.load_public(key) if key else None)
    if key is None:
        return None
    given = passphrase.from_descriptor(passphrase_fd)
    return keyfile.load_key(key, given if given is not None else passphrase.ask)
