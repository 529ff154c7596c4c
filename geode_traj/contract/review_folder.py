"""What stands in a review folder, for whoever makes one and whoever holds it against its sign-off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.contract.publish import Ids, Publication
from geode_traj.errors import DataError

CANDIDATE: Final = "candidate"
REDACTED: Final = "redacted"
FINDINGS: Final = "findings.jsonl"
BEGUN: Final = "review.json"
POLICY: Final = "policy.toml"
JOURNAL: Final = "decisions.jsonl"
HEAD: Final = "decisions.head"
SIGNOFF: Final = "signoff.json"
DSSE: Final = "signoff.dsse.json"
KEY: Final = "key"
SCHEMA: Final = "geode-traj.signoff@1"
BEGUN_SCHEMA: Final = "geode-traj.review@1"
MAX_KEY_FILE: Final = 4096
_RESTS_ON: Final = (
    "findings_sha256",
    "decisions_sha256",
    "policy",
    "policy_sha256",
    "ruleset",
    "ruleset_sha256",
)


def salt(signoff: Mapping[str, Any], key: bytes) -> str:
    """Return the salt of a sign-off: keyed digits over all else that it says; `DataError` TE311 for no key.

    A release names the sign-off's digest, and the sign-off holds digests of candidates: the salt makes sure
    that its own confirms no guess at what they hold.
    """
    return Publication(key, Ids()).salt(dumps({**signoff, "salt": ""}))


def stated(signoff: Mapping[str, Any], signoff_sha256: str) -> tuple[dict[str, str], dict[str, Any]]:
    """Return what a reviewer signs of a sign-off: digests of the published files, and what they rest on.

    No digest of private bytes is in it: that of the sign-off stands for the candidates, and is salted.
    """
    subjects = {f"{REDACTED}/{entry['path']}": str(entry["redacted_sha256"]) for entry in signoff["files"]}
    predicate = {
        "review": signoff["review"],
        "signoff_sha256": signoff_sha256,
        **{key: signoff[key] for key in _RESTS_ON},
        "tool": signoff["tool"],
    }
    return subjects, predicate


def key_of(data: bytes, *, place: str = "") -> bytes:
    """Return the private key that a key file holds in hex digits; `DataError` TE311 if it is none."""
    try:
        return bytes.fromhex(data.decode("ascii").strip())
    except ValueError:
        raise DataError("TE311", why="it is not hex digits", place=place) from None
