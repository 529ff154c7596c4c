"""`release`: staged, signed, published, checked."""

from __future__ import annotations

from pathlib import Path

import click

from geode_traj.attest import allowed_signers
from geode_traj.cli.options import PATH, format_option, moment_or_now, output_option, pairs
from geode_traj.cli.output import note, say, show_report
from geode_traj.cli.policies import effective, policy_option
from geode_traj.cli.signing import signer
from geode_traj.codec.text import clip
from geode_traj.errors import WorldError
from geode_traj.jobs import check_release
from geode_traj.release import layout
from geode_traj.release.around import Chain
from geode_traj.release.publish import publish as publish_folder
from geode_traj.release.sign import sign as sign_folder
from geode_traj.release.stage import stage as stage_release


@click.group()
def command() -> None:
    """Make releases that strangers can check, and check them."""


@command.command()
@click.argument("files", nargs=-1, type=PATH)
@click.option("--reviewed", type=PATH, required=True, help="The review folder, signed off.")
@click.option("--source", required=True, help="Where the trajectories come from.")
@click.option("--scope", required=True, help="What the release covers: the scope that was reviewed.")
@click.option("--out", type=PATH, required=True, help="The folder in which the release folder is made.")
@click.option("--published-at", metavar="TIME", help="Default SOURCE_DATE_EPOCH, else now.")
@click.option("--supersedes", help="The release that this one replaces.")
@click.option("--artifact", multiple=True, metavar="REF=PATH", help="The bytes of an artifact referred to.")
@click.option("--allow-replay-incomplete", is_flag=True, help="Admit reviewed bodies that are not there.")
@click.option("--require-native-ids", is_flag=True, help="Refuse trajectories with derived ids.")
@click.option("--sequence", type=click.IntRange(min=1), default=1, show_default=True,
              help="This release's number among yours.")  # fmt: skip
@click.option("--previous", metavar="SHA256", help="The previous release.json's digest.")
@policy_option("The policy that holds, and the review's may be nowhere looser than")
def stage(
    files: tuple[Path, ...],
    reviewed: Path,
    source: str,
    scope: str,
    out: Path,
    published_at: str | None,
    supersedes: str | None,
    artifact: tuple[str, ...],
    allow_replay_incomplete: bool,
    require_native_ids: bool,
    sequence: int,
    previous: str | None,
    policy: str | None,
) -> int:
    """Make a release folder from a review folder, byte for byte what was signed off.

    Every claim is recomputed and every gate asked; any refusal leaves nothing. The rules that the review was
    made with must be those of now, and its policy nowhere looser than the one that holds now. The review's
    policy says whether one person signs, or the privacy-reviewer first and with another key.

    Exit: 4 refused by a gate, 10 bytes changed, 12 the release exists.
    """
    path = stage_release(
        reviewed,
        files or None,
        source=source,
        scope=scope,
        published_at=moment_or_now(published_at, "--published-at"),
        supersedes=supersedes,
        artifacts=dict(pairs(artifact, "--artifact")),
        allow_replay_incomplete=allow_replay_incomplete,
        require_native_ids=require_native_ids,
        chain=Chain(sequence, previous),
        policy=effective(policy),
        out=out,
    )
    say(clip(str(path), 400))
    note("staged and checked; sign it with `release sign`")
    return 0


@command.command()
@click.argument("folder", type=PATH)
@click.option("--role", default=layout.SIGNER, show_default=True)
@click.option("--key", type=PATH, help="The private key file (OpenSSH, Ed25519).")
@click.option("--agent", is_flag=True, help="Sign with ssh-agent; --key may name the public key.")
@click.option("--passphrase-fd", type=int, metavar="N", help="Read the passphrase from this descriptor.")
def sign(folder: Path, role: str, key: Path | None, agent: bool, passphrase_fd: int | None) -> int:
    """Check a staged release and sign its SHA256SUMS (SSHSIG, which ssh-keygen verifies).

    Exit: 4 refused, 10 the release is not whole, 12 the role has signed already.
    """
    found = signer(key, passphrase_fd, agent=agent)
    if found is None:
        raise WorldError("TE101", what="the call", why="give --key or --agent")
    say(clip(str(sign_folder(folder, found, role)), 400))
    return 0


@command.command()
@click.argument("folder", type=PATH)
@click.argument("target", type=PATH)
@click.option("--keyring", type=PATH, help="An allowed_signers file: every signer must be in it.")
def publish(folder: Path, target: Path, keyring: Path | None) -> int:
    """Publish a signed release into the folder TARGET: whole, durable, never over an existing one.

    Exit: 4 not signed, 10 not whole, 12 published already.
    """
    say(clip(str(publish_folder(folder, target, keyring=_keyring(keyring))), 400))
    return 0


@command.command()
@click.argument("folder", type=PATH)
@click.option("--keyring", type=PATH, help="An allowed_signers file: whose signatures you trust.")
@click.option("--manifest-sha256", metavar="H", help="The GEODE manifest's digest, recorded beforehand.")
@format_option()
@output_option()
def check(
    folder: Path, keyring: Path | None, manifest_sha256: str | None, form: str, output: Path | None
) -> int:
    """Check a release: a closed world, every digest, claim and signature recomputed; all findings told.

    Reads only. Without --keyring, or when it does not know the signer, an intact release is said to be
    intact, never valid.

    Exit: 4 a required signature is missing, 6 intact but the signer unknown, 10 invalid, 3 unreadable.
    """
    report, code = check_release.report(folder, _keyring(keyring), manifest_sha256)
    show_report(report, form, output)
    return code


def _keyring(path: Path | None) -> allowed_signers.Keyring | None:
    return allowed_signers.load(path) if path is not None else None
