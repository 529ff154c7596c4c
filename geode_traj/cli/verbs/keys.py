"""`keys`: signing keys in OpenSSH's format."""

from __future__ import annotations

from pathlib import Path

import click

from geode_traj.attest import keyfile
from geode_traj.attest.allowed_signers import allowed_line, check_word
from geode_traj.cli import passphrase
from geode_traj.cli.options import PATH
from geode_traj.cli.output import note, say
from geode_traj.contract.kinds import RELEASE


@click.group()
def command() -> None:
    """Make and show signing keys.

    Ed25519 keys in OpenSSH's format: ssh-keygen and ssh-add take them too.
    """


@command.command()
@click.argument("path", type=PATH)
@click.option("--name", required=True, help="Who signs, as others will list it: an address or a short name.")
@click.option("--passphrase-fd", type=int, metavar="N", help="Read the passphrase from this descriptor.")
@click.option("--no-passphrase", is_flag=True, help="Store the private key unencrypted.")
def new(path: Path, name: str, passphrase_fd: int | None, no_passphrase: bool) -> int:
    """Make a key pair PATH and PATH.pub, and print its allowed_signers line for those who check releases.

    Exit: 3 it cannot be written, 12 the file exists.
    """
    check_word("--name", name)
    secret = None if no_passphrase else passphrase.from_descriptor(passphrase_fd) or passphrase.choose()
    public = keyfile.new_key(path, secret, name)
    note(f"wrote {path} (private, keep it) and {path}.pub; fingerprint {keyfile.fingerprint(public)}")
    say(allowed_line(name, RELEASE, public))
    return 0


@command.command()
@click.argument("path", type=PATH)
@click.option("--name", help="Print the allowed_signers line for this name instead.")
def show(path: Path, name: str | None) -> int:
    """Print the fingerprint of a public key file, or its allowed_signers line.

    Exit: 3 unreadable, 4 no sound Ed25519 key.
    """
    public = keyfile.load_public(path)
    say(allowed_line(name, RELEASE, public) if name else keyfile.fingerprint(public))
    return 0
