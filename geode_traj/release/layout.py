"""Names inside a release folder, and nothing else: maker and checker share these and no behaviour.

`<release-id>/` holds `data/<release-id>/` (a GEODE release folder, nothing added), `data/reviews/` (what is
said of the review, signed by the reviewer or not), `data/disclosure.json` (what became of every candidate),
`README.md`, `release.json` (every file so far), `SHA256SUMS` (release.json's list and release.json) and
`signatures/`.
Each covers only what was written before it, so that no file names its own digest.
"""

from __future__ import annotations

import re
from typing import Final

SCHEMA: Final = "geode-traj.release@1"
RECORD_SCHEMA: Final = "geode-traj.review-record@1"
DISCLOSURE_SCHEMA: Final = "geode-traj.disclosure@1"
NAMESPACE: Final = "geode.trajectory-release@1"
"""The SSHSIG namespace: a signature made for anything else is none here."""

DATA: Final = "data"
MANIFEST: Final = "manifest.json"
REVIEW_RECORD: Final = f"{DATA}/reviews/review.json"
REVIEW_STATEMENT: Final = f"{DATA}/reviews/review.dsse.json"
DISCLOSURE: Final = f"{DATA}/disclosure.json"
README: Final = "README.md"
RELEASE: Final = "release.json"
SUMS: Final = "SHA256SUMS"
SIGNATURES: Final = "signatures"

SIGNER: Final = "release-signer"
REVIEWER: Final = "privacy-reviewer"

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,127}", re.ASCII)
_ROLE: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.ASCII)
_SIGNATURE: Final = re.compile(rf"{SUMS}\.(?P<role>{_ROLE.pattern})\.sshsig", re.ASCII)
_MAX_ROLE: Final = 64


def is_role(text: str) -> bool:
    """Tell whether `text` can name a role: lower-case words joined by hyphens, at most 64 characters."""
    return len(text) <= _MAX_ROLE and _ROLE.fullmatch(text) is not None


def signature_path(role: str) -> str:
    """Return where the signature of a role stands."""
    return f"{SIGNATURES}/{SUMS}.{role}.sshsig"


def signature_role(path: str) -> str | None:
    """Return the role whose signature stands at `path`, None where no signature can."""
    folder, _, name = path.rpartition("/")
    match = _SIGNATURE.fullmatch(name)
    return match["role"] if folder == SIGNATURES and match and is_role(match["role"]) else None


def geode_folder(release_id: str) -> str:
    """Return where the GEODE release folder stands."""
    return f"{DATA}/{release_id}"


def is_name(folder: str, name: str, release_id: str) -> bool:
    """Tell whether a file or folder of this name may stand in `folder` ("" is the release folder itself)."""
    if folder == SIGNATURES:
        return signature_role(f"{folder}/{name}") is not None
    fixed = {"": (README, SUMS), DATA: (release_id,)}.get(folder, ())
    return name in fixed or _NAME.fullmatch(name) is not None


def is_path(path: str, release_id: str) -> bool:
    """Tell whether a file may stand at `path`; judged as text, before anything is opened."""
    folder = ""
    for name in path.split("/"):
        if not is_name(folder, name, release_id):
            return False
        folder = f"{folder}/{name}" if folder else name
    return True


def sums_line(sha256: str, path: str) -> str:
    """Return one line of SHA256SUMS, as `sha256sum` writes it, with its line end."""
    return f"{sha256}  {path}\n"


def covered(path: str) -> bool:
    """Tell whether release.json or SHA256SUMS may name this file: not what is written after the sums."""
    return path != SUMS and not path.startswith(f"{SIGNATURES}/")
