"""`review`: what leaves is redacted, scanned again and signed off."""

from __future__ import annotations

from pathlib import Path

import click

from geode_traj.cli.options import PATH, moment_or_now, sensitive_option
from geode_traj.cli.output import note, say
from geode_traj.codec.text import clip
from geode_traj.errors import WorldError
from geode_traj.migrate.beside import cores
from geode_traj.review.sign import sign as sign_off
from geode_traj.store import opening, secrets


@click.group()
def command() -> None:
    """Review trajectories for publication."""


@command.command()
@click.argument("trajectories", nargs=-1, required=True, type=PATH)
@click.option("--out", type=PATH, required=True, help="The review folder to make.")
@click.option("--reviewer", required=True, help="Who reviewed.")
@click.option("--method", required=True, help="How: for example, read in full.")
@click.option("--scope", required=True, help="What the review covers; the release's scope must be the same.")
@click.option("--attestation", required=True, help="What the reviewer attests.")
@click.option("--reviewed-at", metavar="TIME", help="When; default SOURCE_DATE_EPOCH, else now.")
@click.option("--store", type=PATH, help="Use this store's private key for the keyed digests.")
@click.option("--key-file", type=PATH, help="Use the private key in this file instead.")
@sensitive_option()
def sign(
    trajectories: tuple[Path, ...],
    out: Path,
    reviewer: str,
    method: str,
    scope: str,
    attestation: str,
    reviewed_at: str | None,
    store: Path | None,
    key_file: Path | None,
    sensitive_fields: tuple[str, ...],
) -> int:
    """Redact trajectories for publication, scan the result again, and sign it off.

    Makes a folder with the candidates, the redacted results, the findings and signoff.json, which binds
    their digests. Every digest of private text becomes a keyed one; without --store or --key-file the key is
    made in the folder. The folder is private: only redacted/ is meant to leave, through `release stage`.

    Exit: 3 a file cannot be read or written, 4 a trajectory is invalid, cannot be scanned, or the scan still
    finds something, 12 the folder exists.
    """
    if store is not None and key_file is not None:
        raise WorldError("TE101", what="the call", why="give --store or --key-file, not both")
    from geode_traj.jobs.scan_files import require_scannable

    # In processes that have their time: what they cannot get through would hold up the redaction, too.
    require_scannable(trajectories, sensitive=sensitive_fields, jobs=cores())
    done = sign_off(
        trajectories,
        out,
        reviewer=reviewer,
        method=method,
        scope=scope,
        attestation=attestation,
        reviewed_at=moment_or_now(reviewed_at, "--reviewed-at"),
        key=_store_key(store),
        key_file=key_file,
        sensitive_keys=sensitive_fields,
    )
    for file in done.files:
        found = ", ".join(f"{name} {count}" for name, count in file.redacted.redactions.items())
        say(f"{clip(file.path, 200)}: {found or 'nothing to redact'}; scanned again, clean")
    note(f"signed off by {clip(done.review.reviewer, 128)} in {out}; stage it with `release stage`")
    return 0


def _store_key(store: Path | None) -> bytes | None:
    if store is None:
        return None
    with opening.open_reader(store) as connection:
        key = secrets.existing_key(connection)
    if key is None:
        raise WorldError("TE101", what="--store", why="it has no key: nothing was imported into it yet")
    return key
