"""What a publication goes by: a policy, the call's, else the configured one; and a private key."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path

import click

from geode_traj.cli.config import configured_policy
from geode_traj.cli.options import Decorator
from geode_traj.codec.files import read_bounded
from geode_traj.contract import policy as policies
from geode_traj.contract.policy import Policy
from geode_traj.errors import WorldError
from geode_traj.review.folder import read_key
from geode_traj.store import opening, secrets


def policy_option(what: str) -> Decorator:
    """`--policy`: a file, or the name of a packaged policy."""
    return click.option(
        "--policy",
        metavar="FILE|NAME",
        help=f"{what}: a TOML file, or {' or '.join(policies.names())} (default: configured, else strict).",
    )


def effective(given: str | None) -> Policy:
    """Return the policy that holds; raise `WorldError` TE103 for a file that is none.

    One in the configuration can only tighten: where it is looser than the strict one anywhere, that is an
    error. Whoever wants less names it in the call.
    """
    if given is not None:
        return policies.packaged(given) if given in policies.names() else _read(Path(given))
    strict = policies.packaged()
    path = configured_policy()
    if path is None:
        return strict
    found = _read(path)
    looser = policies.looser(found, strict)
    if looser:
        why = f"a configured policy can only be stricter than the strict one: {looser[0]}"
        raise WorldError("TE103", path=path.name, why=why, place=str(path))
    return found


def _read(path: Path) -> Policy:
    return policies.read(read_bounded(path, policies.MAX_FILE), place=str(path))


def release_key(store: Path | None, key_file: Path | None) -> bytes | None:
    """Return the private key that the call names, None for none.

    That of a store is not given away to a review: it gets one made from it.
    """
    if store is not None and key_file is not None:
        raise WorldError("TE101", what="the call", why="give --store or --key-file, not both")
    if key_file is not None:
        return read_key(key_file)
    if store is None:
        return None
    with opening.open_reader(store) as connection:
        key = secrets.existing_key(connection)
    if key is None:
        raise WorldError("TE101", what="--store", why="it has no key: nothing was imported into it yet")
    return hmac.digest(key, b"geode-traj review key 1", hashlib.sha256)
