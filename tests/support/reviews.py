"""Reviews for tests: begun, decided and signed off in one call."""

from geode_traj.contract import policy as policies
from geode_traj.jobs.review_start import start
from geode_traj.review.decide import decide_by_policy
from geode_traj.review.folder import open_review
from geode_traj.review.sign import sign
from geode_traj.review.state import State
from geode_traj.scan.engine import Scanner

AT = "2026-01-01T00:00:00Z"
REVIEW = {
    "reviewer": "Demo Reviewer",
    "method": "read every event",
    "scope": "demo/small",
    "attestation": "Nothing private is left.",
    "reviewed_at": 1_767_225_600.75,
}
ALONE = b"""schema_id = "geode-traj.policy@1"
name = "alone"
[decisions]
unattended = "redact"
[release]
roles = 1
"""


def policy(text=""):
    """The policy of somebody who works alone, with more settings."""
    return policies.read(ALONE + text.encode(), place="policy.toml")


def begun(paths, out, *, under=None, sensitive=(), ruleset=None, known=None, **options):
    """A review folder, nothing decided."""
    scanner = Scanner("publish", sensitive, ruleset, known)
    return start(paths, out, policy=under or policy(), scanner=scanner, at=AT, sensitive=sensitive, **options)


def signed_off(
    paths, out, *, key=None, engines=(), signer=None, under=None, sensitive=(), ruleset=None, **said
):
    """A review folder in which everything found is redacted, and its sign-off."""
    begun(paths, out, under=under, sensitive=sensitive, ruleset=ruleset, key=key)
    review = open_review(out)
    decide_by_policy(State(review), at=AT)
    scanner = Scanner("publish", sensitive, ruleset)
    words = {**REVIEW, **said}
    return sign(review, **words, scanner=scanner, signer=signer, engines=engines)
