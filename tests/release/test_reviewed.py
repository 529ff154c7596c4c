"""A review folder against its sign-off: whatever was changed since voids it, and the code says what."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import release_forge
from release_forge import (
    KEY,
    REVIEWER_KEY,
    enveloped,
    framed,
    policy,
    review_folder,
    seal_review,
    staged,
    trajectory,
    two_people,
)

from geode_traj.attest import dsse, statement
from geode_traj.codec.files import sha256_bytes
from geode_traj.contract import policy as policies
from geode_traj.errors import DataError
from geode_traj.release.check.verdict import check
from geode_traj.release.sign import sign
from geode_traj.scan.rules import Ruleset, packaged
from tests.reference import geode
from tests.support.secrets import make

DOCS = [trajectory("Alpha One"), trajectory("beta")]
LEFT_OUT = [
    ("withheld-sealed", "no-consent"),
    ("withheld-sealed", "no-consent"),
    ("private-secret", "private"),
]
Change = Callable[[Path], object]


def made(folder: Path, **more: object) -> Path:
    return review_folder(
        folder / "review", DOCS, withheld=LEFT_OUT, refused=["unreadable", "invalid"], **more
    )


def refused(review: Path, **more: object) -> DataError:
    with pytest.raises(DataError) as caught:
        staged(review, review.parent / "out", **more)
    assert not (review.parent / "out").exists()
    return caught.value


def _edit(review: Path, name: str, change: Callable[[dict], object]) -> dict:
    value = json.loads((review / name).read_bytes())
    change(value)
    (review / name).write_text(json.dumps(value))
    return value


def _signoff(change: Callable[[dict], object], *, sealed: bool = True) -> Change:
    """Change a sign-off as somebody who holds the review's key could."""

    def apply(review: Path) -> None:
        value = _edit(review, "signoff.json", change)
        if sealed:
            seal_review(review, value)

    return apply


def _began(change: Callable[[dict], object]) -> Change:
    """Change what a review began with, and sign that off."""

    def apply(review: Path) -> None:
        _edit(review, "review.json", change)
        digest = sha256_bytes((review / "review.json").read_bytes())
        _signoff(lambda signoff: signoff.update(review_sha256=digest))(review)

    return apply


def _touch(name: str) -> Change:
    return lambda review: (review / name).write_bytes((review / name).read_bytes() + b"\n")


BOUND = [
    "review.json",
    "policy.toml",
    "findings.jsonl",
    "decisions.jsonl",
    "candidate/run-0.json",
    "candidate/private-2.json",
    "redacted/run-1.json",
    "signoff.dsse.json",
]


@pytest.mark.parametrize(
    ("name", "how"),
    # Whoever has no key leaves no statement.
    [
        (name, how)
        for name in BOUND
        for how in ("changed", "gone", "a link")
        if "dsse" not in name or how != "gone"
    ],
)
def test_a_changed_byte_in_what_was_signed_off_voids_it(name: str, how: str, tmp_path: Path) -> None:
    review = made(tmp_path, signer=REVIEWER_KEY)
    file = review / name
    if how == "changed":
        _touch(name)(review)
    else:
        file.rename(tmp_path / "elsewhere")
        if how == "a link":
            file.symlink_to(tmp_path / "elsewhere")
    error = refused(review)
    assert (error.code, error.exit_code) == ("TE307", 4)
    assert name in error.message


VOID: dict[str, tuple[str, Change]] = {
    "no sign-off": ("TE306", lambda review: (review / "signoff.json").unlink()),
    "not JSON": ("TE306", lambda review: (review / "signoff.json").write_bytes(b"{")),
    "other shape": ("TE306", _signoff(lambda signoff: signoff.pop("ruleset"), sealed=False)),
    "file twice": ("TE306", _signoff(lambda signoff: signoff["files"].append(signoff["files"][0]))),
    "left out too": (
        "TE306",
        _signoff(lambda signoff: signoff["withheld"][0].update(path=signoff["files"][0]["path"])),
    ),
    "not a name": ("TE306", _signoff(lambda signoff: signoff["files"][0].update(path="a\0.json"))),
    "leads outside": ("TE306", _signoff(lambda signoff: signoff["files"][0].update(path="../x.json"))),
    "candidate forgotten": ("TE306", _signoff(lambda signoff: signoff["withheld"].pop(0))),
    "refused one forgotten": ("TE306", _signoff(lambda signoff: signoff["withheld"].pop())),
    "unreviewed file": (
        "TE306",
        lambda review: (review / "redacted" / "more.json").write_bytes(framed(trajectory("more"))),
    ),
    "unreviewed candidate": (
        "TE306",
        lambda review: (review / "candidate" / "more.json").write_bytes(framed(trajectory("more"))),
    ),
    "hidden below": (
        "TE306",
        lambda review: (review / "redacted" / "sub").symlink_to(review / "candidate"),
    ),
    "record changed": ("TE307", _signoff(lambda signoff: signoff["review"].update(reviewer="other"))),
    "other trajectory": ("TE307", _signoff(lambda signoff: signoff["files"][0].update(trajectory_id="x"))),
    "one more": (
        "TE307",
        _signoff(lambda signoff: signoff["withheld"].append({**signoff["withheld"][0], "path": "more.json"})),
    ),
    "candidate of other bytes": (
        "TE307",
        _signoff(lambda signoff: signoff["withheld"][0].update(candidate_sha256="0" * 64)),
    ),
    "publishes what was refused": (
        "TE307",
        _signoff(
            lambda signoff: signoff["files"].append(
                {
                    **signoff["files"][0],
                    "path": signoff["withheld"].pop()["path"],
                    "candidate_sha256": "5" * 64,
                }
            )
        ),
    ),
    "began with other findings": ("TE307", _began(lambda begun: begun.update(findings_sha256="0" * 64))),
    "began as something else": ("TE307", _began(lambda begun: begun.pop("engines"))),
    "policy of another name": ("TE307", _signoff(lambda signoff: signoff.update(policy="other"))),
    "salt": ("TE307", _signoff(lambda signoff: signoff["tool"].update(version="0.0.1"), sealed=False)),
    "no key": ("TE307", lambda review: (review / "key").unlink()),
    "no such key": ("TE311", lambda review: (review / "key").write_text("zz")),
}


@pytest.mark.parametrize("label", VOID)
def test_a_changed_review_is_void(label: str, tmp_path: Path) -> None:
    code, change = VOID[label]
    review = made(tmp_path)
    change(review)
    error = refused(review)
    assert (error.code, error.exit_code) == (code, 4)


def test_a_state_set_by_hand_proves_nothing(tmp_path: Path) -> None:
    doc = trajectory("by hand")
    assert doc["privacy"] == {"review_state": "reviewed"}
    alone = tmp_path / "alone" / "by-hand.json"
    alone.parent.mkdir()
    alone.write_bytes(framed(doc))
    assert refused(alone.parent).code == "TE306"
    review = made(tmp_path)
    with pytest.raises(DataError) as caught:
        release_forge.stage(
            review,
            [alone],
            source="x",
            scope=release_forge.SCOPE,
            published_at=0,
            out=tmp_path / "out",
            policy=policy(),
        )
    assert caught.value.code == "TE306"
    shutil.copy(alone, review / "redacted" / "by-hand.json")
    assert refused(review).code == "TE306"


WEAKER = [
    ("[bands]\nreview = 'keep'", "", "band review: keep, not person"),
    ("[classes]\nphone = 'keep'", "", "class phone: keep, not redact, and 2 more"),
    ("[[allow]]\nrule = 'phone'\npointer = '/payload/x'\nreason = 'consent'", "", "an allowed finding"),
    ("digests = 'plain'", "", 'release.digests is "plain", not "keyed"'),
    ("", "[content]\nbodies = 'digest'", 'content.bodies is "keep", not "digest"'),
    ("", "[coverage]\npercent = 100", "coverage.percent is 0, not 100"),
]


@pytest.mark.parametrize(("under", "now", "why"), WEAKER)
def test_a_review_under_a_looser_policy_than_now_is_void(
    under: str, now: str, why: str, tmp_path: Path
) -> None:
    review = made(tmp_path, under=policy(under))
    error = refused(review, policy=policy(now))
    assert (error.code, error.exit_code) == ("TE317", 4)
    assert why in error.message
    assert staged(review, tmp_path / "good", policy=policy(under)).exists()


def test_a_stricter_review_passes_and_its_policy_says_who_signs(tmp_path: Path) -> None:
    review = made(tmp_path, under=two_people())
    release = json.loads((staged(review, tmp_path / "out") / "release.json").read_bytes())
    assert release["review"]["reviewer_role_required"] is True
    alone = made(tmp_path / "alone")
    assert refused(alone, policy=policies.packaged()).message == (
        "the review's policy is looser: release.roles is 1, not 2"
    )
    release = json.loads((staged(alone, tmp_path / "other") / "release.json").read_bytes())
    assert release["review"]["reviewer_role_required"] is False


def test_a_ruleset_that_lost_a_rule_voids_the_review(tmp_path: Path) -> None:
    error = refused(made(tmp_path), ruleset=Ruleset(packaged().rules[1:]))
    assert (error.code, error.exit_code) == ("TE318", 4)
    assert packaged().name in error.message


def test_a_policy_that_wants_full_replay_admits_nothing_else(tmp_path: Path) -> None:
    review = made(tmp_path, under=policy("replay_complete = true"))
    assert refused(review, allow_replay_incomplete=True).code == "TE305"
    assert staged(review, tmp_path / "good").exists()


@pytest.mark.parametrize("key", ["reviewer", "method", "attestation"])
def test_a_reviews_words_are_scanned_again(key: str, tmp_path: Path) -> None:
    review = made(tmp_path)

    def reword(signoff: dict) -> None:
        signoff["review"][key] = make("mac_address")
        signoff["review"]["record_sha256"] = geode.record_sha256(signoff["review"])

    _signoff(reword)(review)
    error = refused(review)
    assert (error.code, error.message) == ("TE308", f"the scan still finds 1 hardware_address in {key}")


def test_the_files_named_are_all_of_the_reviews(tmp_path: Path) -> None:
    review = made(tmp_path)
    candidate, redacted = review / "candidate" / "run-0.json", review / "redacted" / "run-1.json"
    stranger = tmp_path / "stranger.json"
    stranger.write_bytes(framed(trajectory("stranger")))

    def stage(named: Sequence[Path], out: str) -> Path:
        return release_forge.stage(
            review,
            named,
            source=release_forge.SOURCE,
            scope=release_forge.SCOPE,
            published_at=release_forge.PUBLISHED,
            out=tmp_path / out,
            policy=policy(),
        )

    for named, code in (([candidate], "TE314"), ([candidate, redacted, stranger], "TE306")):
        with pytest.raises(DataError) as caught:
            stage(named, "out")
        assert caught.value.code == code
    assert stage([candidate, redacted], "o").exists()


# the reviewer's statement


def _restated(change: Callable[[dict, dict], object]) -> Change:
    """Sign another statement with the reviewer's own key."""

    def apply(review: Path) -> None:
        envelope = dsse.read((review / "signoff.dsse.json").read_bytes(), statement.PAYLOAD_TYPE)
        said = statement.read(envelope.payload, statement.PRIVACY_REVIEW)
        predicate, subjects = dict(said.predicate), dict(said.subjects)
        change(predicate, subjects)
        (review / "signoff.dsse.json").write_bytes(enveloped(predicate, subjects, REVIEWER_KEY))

    return apply


def _resealed(review: Path) -> None:
    """Sign another sign-off off, and leave the statement of the one before."""
    old = (review / "signoff.dsse.json").read_bytes()
    _signoff(lambda signoff: signoff.update(decisions={}))(review)
    (review / "signoff.dsse.json").write_bytes(old)


def _more_members(review: Path) -> None:
    _edit(review, "signoff.dsse.json", lambda envelope: envelope.update(note="hidden"))


FORGED: dict[str, Change] = {
    "no envelope": lambda review: (review / "signoff.dsse.json").write_bytes(b"{}"),
    "of another policy": _restated(lambda said, files: said.update(policy="other")),
    "with more": _restated(lambda said, files: said.update(note="x")),
    "of another file": _restated(lambda said, files: files.update({"redacted/x.json": "0" * 64})),
    "of other bytes": _restated(lambda said, files: files.update({"redacted/run-0.json": "0" * 64})),
    "of an earlier sign-off": _resealed,
    "with more members": _more_members,
}


@pytest.mark.parametrize("label", FORGED)
def test_a_forged_statement_voids_the_review(label: str, tmp_path: Path) -> None:
    review = made(tmp_path, signer=REVIEWER_KEY)
    FORGED[label](review)
    error = refused(review)
    assert (error.code, error.exit_code) == ("TE307", 4)
    assert "signoff.dsse.json" in error.message


def test_a_statement_is_published_as_it_was_signed(tmp_path: Path) -> None:
    review = made(tmp_path, signer=REVIEWER_KEY, under=two_people())
    root = staged(review, tmp_path / "out")
    published = root / "data" / "reviews" / "review.dsse.json"
    assert published.read_bytes() == (review / "signoff.dsse.json").read_bytes()
    with pytest.raises(DataError) as caught:
        sign(root, KEY, "privacy-reviewer")
    assert (caught.value.code, caught.value.message) == (
        "TE312",
        "not signed: the review was signed off with another key",
    )
    sign(root, REVIEWER_KEY, "privacy-reviewer")
    sign(root, KEY)
    assert check(root, keyring=release_forge.keyring(KEY, REVIEWER_KEY)).findings == ()


@pytest.mark.parametrize("known", [True, False])
def test_whose_statement_it_is_the_keyring_tells(known: bool, tmp_path: Path) -> None:
    root = staged(made(tmp_path, signer=REVIEWER_KEY), tmp_path / "out")
    sign(root, KEY)
    keys = [KEY, REVIEWER_KEY] if known else [KEY]
    found = check(root, keyring=release_forge.keyring(*keys))
    assert found.verdict == "valid"
    assert [finding.code for finding in found.findings] == ([] if known else ["RL1512"])
