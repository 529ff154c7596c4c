"""`redact`: the published form of one trajectory, for pipelines."""

from __future__ import annotations

from pathlib import Path

import click

from geode_traj.cli.options import PATH, moment_or_now, sensitive_option
from geode_traj.cli.output import say
from geode_traj.cli.policies import effective, policy_option, release_key
from geode_traj.codec.text import clip
from geode_traj.contract.times import iso_seconds
from geode_traj.errors import EXIT_OK, WorldError


@click.command()
@click.argument("path", type=PATH)
@click.option("--out", type=PATH, required=True, help="The file to write.")
@click.option(
    "--decisions", type=PATH, metavar="FILE", help="What `review export` wrote about this trajectory."
)
@policy_option("What becomes of what is found, where no decisions are given")
@click.option("--store", type=PATH, help="Use this store's private key for the keyed digests.")
@click.option("--key-file", type=PATH, help="Use the private key in this file instead.")
@sensitive_option()
def command(
    path: Path,
    out: Path,
    decisions: Path | None,
    policy: str | None,
    store: Path | None,
    key_file: Path | None,
    sensitive_fields: tuple[str, ...],
) -> int:
    """Write the published form of a trajectory: redacted, scanned again, nothing guessable left.

    Nobody signs it off, so it is not marked as reviewed, and no release takes it: for that there is `review`.
    Without --store or --key-file the keyed digests are made under a key that is thrown away.

    Exit: 3 it cannot be read, 4 the policy wants a person for something, the decisions are not about these
    bytes, or something is still found; 12 the file exists.
    """
    from secrets import token_bytes

    from geode_traj.contract.publish import KEY_BYTES
    from geode_traj.jobs import redacting
    from geode_traj.scan.engine import Scanner

    if decisions is not None and policy is not None:
        raise WorldError("TE101", what="the call", why="give --decisions or --policy, not both")
    scanner = Scanner("publish", sensitive_fields)
    key = release_key(store, key_file) or token_bytes(KEY_BYTES)
    if decisions is not None:
        done = redacting.redact_by_decisions(path, out, decisions, scanner=scanner, key=key)
    else:
        done = redacting.redact_by_policy(
            path,
            out,
            policy=effective(policy),
            scanner=scanner,
            key=key,
            at=iso_seconds(moment_or_now(None, "")),
            sensitive=sensitive_fields,
        )
    found = ", ".join(f"{name} {count}" for name, count in done.redactions.items())
    say(f"{clip(str(out), 400)}: {found or 'nothing to redact'}; scanned again, clean")
    return EXIT_OK
