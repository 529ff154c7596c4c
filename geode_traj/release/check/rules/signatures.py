"""RL14xx, the signatures: who vouches for SHA256SUMS, and so for every file it lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from geode_traj.errors import EXIT_REFUSED, EXIT_UNKNOWN_SIGNER
from geode_traj.release import layout
from geode_traj.release.check.facts import Facts, Signature
from geode_traj.release.check.registry import Hit, release_check


def required_roles(facts: Facts) -> tuple[str, ...]:
    """Return the roles that must have signed: the signer, and the reviewer where the release says so."""
    release = facts.release.value
    reviewer = release is not None and release["review"]["reviewer_role_required"]
    return (layout.SIGNER, layout.REVIEWER) if reviewer else (layout.SIGNER,)


def _namespace_differs(signature: Signature) -> bool:
    return signature.parsed is not None and signature.parsed.namespace != layout.NAMESPACE


@release_check("RL1401", "run `release sign` with that role", exit_code=EXIT_REFUSED)
def not_signed(facts: Facts) -> Iterator[Hit]:
    """A signature that the release needs is not there: it was never signed, or somebody took it away."""
    for role in required_roles(facts):
        if not facts.tree.holds(layout.signature_path(role)):
            yield Hit(f"the signature of {role} is missing", layout.signature_path(role))


@release_check("RL1402", "sign again")
def malformed(facts: Facts) -> Iterator[Hit]:
    """A signature is not written in the one way ssh-keygen writes it, or its numbers are not canonical."""
    for signature in facts.signatures:
        if signature.fault is not None and signature.fault.code == "TE403":
            yield Hit(signature.fault.message, signature.path)


@release_check("RL1403", "make a new key and sign again")
def weak_key(facts: Facts) -> Iterator[Hit]:
    """A signature is by a key that is no sound Ed25519 key: one signature of it can pass for any bytes."""
    for signature in facts.signatures:
        if signature.fault is not None and signature.fault.code == "TE311":
            yield Hit(signature.fault.message, signature.path)


@release_check("RL1404", "sign with `release sign`, or -n geode.trajectory-release@1")
def other_purpose(facts: Facts) -> Iterator[Hit]:
    """A signature was made for another purpose: its namespace is not geode.trajectory-release@1."""
    for signature in facts.signatures:
        if _namespace_differs(signature):
            yield Hit("it was made for another namespace", signature.path)


@release_check("RL1405", "do not use this release: somebody changed it")
def false_signature(facts: Facts) -> Iterator[Hit]:
    """A signature is not over these bytes of SHA256SUMS, or not by the key it names."""
    for signature in facts.signatures:
        false = signature.fault is not None and signature.fault.code == "TE401"
        if false and not _namespace_differs(signature):
            yield Hit("it does not sign this SHA256SUMS", signature.path)


@release_check("RL1406", "two roles are two keys")
def one_key_twice(facts: Facts) -> Iterator[Hit]:
    """One key signed in two roles: that is one person, counted once."""
    keys = Counter(signature.parsed.public_key for signature in facts.signatures if signature.parsed)
    for signature in facts.signatures:
        if signature.parsed and keys[signature.parsed.public_key] > 1:
            yield Hit("its key signed in another role too", signature.path)


@release_check("RL1407", "name the keys you trust", severity="warning", exit_code=EXIT_UNKNOWN_SIGNER)
def unknown_signer(facts: Facts) -> Iterator[Hit]:
    """A signature is true, but nobody told whose key it is: the bytes are intact, the signer is unknown."""
    for signature in facts.signatures:
        if signature.verified and not signature.principals:
            yield Hit("its key is not in the keyring", signature.path)
