"""RL15xx, the review: what a release says of it and of every candidate, and what its reviewer states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from geode_traj.contract.gates import count_hits
from geode_traj.contract.release import path_fault
from geode_traj.errors import EXIT_UNKNOWN_SIGNER
from geode_traj.release import layout
from geode_traj.release.check.facts import Facts, Json
from geode_traj.release.check.registry import Hit, release_check

_RESTS_ON: Final = ("policy_sha256", "ruleset", "ruleset_sha256", "findings_sha256", "decisions_sha256")
_STATED: Final = (*_RESTS_ON, "policy", "review", "signoff_sha256", "tool")
_REVIEWED: Final = "redacted/"


def _said(facts: Facts) -> dict[str, Json]:
    return {layout.REVIEW_RECORD: facts.record, layout.DISCLOSURE: facts.disclosure}


@release_check("RL1501", "write it again: two readers may see two documents")
def not_json(facts: Facts) -> Iterator[Hit]:
    """data/reviews/review.json or data/disclosure.json is not strict JSON.

    UTF-8 without byte order mark, no key twice, no NaN, not too deep.
    """
    for path, document in _said(facts).items():
        if document.fault is not None:
            yield Hit(document.fault.message, path)


@release_check("RL1502", "see `schema geode-traj.review-record@1` and `schema geode-traj.disclosure@1`")
def shape(facts: Facts) -> Iterator[Hit]:
    """data/reviews/review.json or data/disclosure.json does not fit its schema."""
    for path, document in _said(facts).items():
        for pointer, message in document.problems:
            yield Hit(message, path, pointer)


@release_check("RL1503", "all must come from one staging")
def record_disagrees(facts: Facts) -> Iterator[Hit]:
    """The review record rests on other findings, decisions, policy, rules or sign-off than release.json says.

    They are named by digest: whoever holds the review folder can compare.
    """
    release, record = facts.release.value, facts.record.value
    if release is not None and record is not None:
        for key in (*_RESTS_ON, "signoff_sha256"):
            if record[key] != release["review"][key]:
                yield Hit("release.json says otherwise", layout.REVIEW_RECORD, f"/{key}")


@release_check("RL1504", "sign with as many roles as the policy of the review wants")
def roles_disagree(facts: Facts) -> Iterator[Hit]:
    """The review's policy wants another number of signatures than release.json requires."""
    release, record = facts.release.value, facts.record.value
    if release is None or record is None:
        return
    if (record["roles"] == 2) != release["review"]["reviewer_role_required"]:
        yield Hit("release.json requires others", layout.REVIEW_RECORD, "/roles")


@release_check("RL1505", "both must come from one staging")
def other_review(facts: Facts) -> Iterator[Hit]:
    """The review record is of another review than the manifest's: who, when, how, what for."""
    manifest, record = facts.manifest.value, facts.record.value
    if manifest is not None and record is not None and record["review"] != manifest["privacy_review"]:
        yield Hit("the manifest names another", layout.REVIEW_RECORD, "/review")


@release_check("RL1506", "both must come from one staging")
def public_disagrees(facts: Facts) -> Iterator[Hit]:
    """The disclosure lists other public trajectories than the manifest: ids and paths, sorted by path."""
    if facts.disclosure.value is None or facts.manifest.value is None:
        return
    wanted = [
        {"trajectory_id": entry["trajectory_id"], "path": facts.prefix + entry["path"]}
        for entry in facts.entries
    ]
    if facts.disclosure.value["public"] != sorted(wanted, key=lambda one: str(one["path"])):
        yield Hit("the manifest lists others", layout.DISCLOSURE, "/public")


@release_check("RL1507", "count every candidate once")
def totals_wrong(facts: Facts) -> Iterator[Hit]:
    """The disclosure's totals are not what it lists and counts: a candidate is missing or stands twice."""
    said = facts.disclosure.value
    if said is None:
        return
    pairs = [(one["class"], one["reason"]) for one in said["withheld"]]
    if pairs != sorted(set(pairs)):
        yield Hit("classes and reasons are not sorted, each pair once", layout.DISCLOSURE, "/withheld")
    counts = Counter({"public": len(said["public"])})
    for one in said["withheld"]:
        counts[one["class"]] += one["count"]
    for key, total in said["totals"].items():
        if total != (counts.total() if key == "candidates" else counts[key]):
            yield Hit("it is not the sum", layout.DISCLOSURE, f"/totals/{key}")


@release_check("RL1508", "both must come from one staging")
def withheld_disagree(facts: Facts) -> Iterator[Hit]:
    """The review record counts other withheld candidates than the disclosure."""
    record, said = facts.record.value, facts.disclosure.value
    if record is not None and said is not None and record["withheld"] != said["withheld"]:
        yield Hit("data/disclosure.json counts others", layout.REVIEW_RECORD, "/withheld")


@release_check("RL1509", "sign the review off again")
def statement_malformed(facts: Facts) -> Iterator[Hit]:
    """The reviewer's statement is no well-formed envelope, or holds no statement of a privacy review."""
    if facts.stated is not None and facts.stated.fault is not None:
        yield Hit(facts.stated.fault.message, layout.REVIEW_STATEMENT)


@release_check("RL1510", "stage what this statement was made for")
def statement_disagrees(facts: Facts) -> Iterator[Hit]:
    """The reviewer states something else than the review record, or names other files than the manifest.

    The names are those of the review; the digests must be those of the published files, each once.
    """
    said = facts.stated.statement if facts.stated else None
    if said is None:
        return
    record = facts.record.value
    if record is not None and said.predicate != {key: record[key] for key in _STATED}:
        yield Hit("it says otherwise than the review record", layout.REVIEW_STATEMENT)
    if facts.manifest.value is not None and not _names(said.subjects, facts.entries):
        yield Hit("it is about other files", layout.REVIEW_STATEMENT)


def _names(subjects: Mapping[str, str], entries: list[dict[str, Any]]) -> bool:
    plain = all(
        name.startswith(_REVIEWED) and path_fault(name.removeprefix(_REVIEWED)) is None for name in subjects
    )
    return plain and sorted(subjects.values()) == sorted(entry["sha256"] for entry in entries)


@release_check("RL1511", "do not use this release: somebody changed it")
def statement_not_theirs(facts: Facts) -> Iterator[Hit]:
    """The reviewer's statement names a key that did not sign it, or is not by who signed as reviewer.

    A key's name in an envelope is a claim, and trusted for nothing; a false one still shows that somebody
    lied.
    """
    stated = facts.stated
    if stated is None or stated.statement is None:
        return
    reviewers = {
        each.parsed.public_key
        for each in facts.signatures
        if each.role == layout.REVIEWER and each.parsed and each.verified
    }
    if not stated.claimed | reviewers <= stated.signed_by:
        yield Hit("it is not signed by whom it should be", layout.REVIEW_STATEMENT)


@release_check("RL1512", "name the keys you trust", severity="warning", exit_code=EXIT_UNKNOWN_SIGNER)
def unknown_reviewer(facts: Facts) -> Iterator[Hit]:
    """The reviewer's statement is whole, but by no key of the keyring: nobody told whose it is."""
    if facts.stated is not None and facts.stated.statement is not None and not facts.stated.trusted:
        yield Hit("its key is not in the keyring", layout.REVIEW_STATEMENT)


@release_check("RL1513", "review under names that say nothing")
def statement_hits(facts: Facts) -> Iterator[Hit]:
    """The reviewer's statement holds text that no release may hold: the gates look into its envelope."""
    if facts.stated is not None and facts.stated.envelope is not None:
        hits = count_hits(facts.stated.envelope.payload.decode("utf-8", "replace"))
        for cls, count in hits.items():
            if count:
                yield Hit(f"{count} {cls} hit(s)", layout.REVIEW_STATEMENT)
