"""Passphrases: asked on the terminal or read from a file descriptor, never from the command line."""

from __future__ import annotations

import os

import click

from geode_traj.errors import WorldError

_MAX = 1024


def from_descriptor(descriptor: int | None) -> bytes | None:
    """Return the first line readable from an open descriptor, None where none was named."""
    if descriptor is None:
        return None
    try:
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            return stream.readline(_MAX).rstrip(b"\r\n")
    except OSError as error:
        raise WorldError("TE101", what="--passphrase-fd", why=error.strerror or "not readable") from None


def ask() -> bytes:
    """Ask for the passphrase of an existing key."""
    return str(click.prompt("Passphrase", hide_input=True, err=True)).encode()


def choose() -> bytes:
    """Ask twice for a new passphrase."""
    return str(click.prompt("New passphrase", hide_input=True, confirmation_prompt=True, err=True)).encode()
