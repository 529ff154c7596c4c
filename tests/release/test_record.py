"""What a release says of its review and of every candidate, made by a real review."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import release_forge
from release_forge import (
    KEY,
    event,
    events,
    framed,
    keyring,
    policy,
    review_folder,
    staged,
    trajectory,
    two_people,
)

from geode_traj.attest import dsse
from geode_traj.attest.statement import PAYLOAD_TYPE
from geode_traj.codec import schema
from geode_traj.codec.files import sha256_bytes
from geode_traj.contract.policy import Policy
from geode_traj.release.check.verdict import check
from geode_traj.release.sign import sign
from geode_traj.review.decide import decide, reject
from geode_traj.review.folder import open_review
from geode_traj.review.sign import sign as sign_off
from geode_traj.review.state import State
from geode_traj.scan.engine import Scanner
from tests.support import reviews
from tests.support.secrets import make

DOCS = [trajectory("Alpha One"), trajectory("beta")]
TOKEN, ADDRESS = make("github_token"), make("email")


def read(root: Path, name: str) -> dict:
    return json.loads((root / "data" / name).read_bytes())


def test_every_candidate_is_listed_or_counted(tmp_path: Path) -> None:
    left_out = [("withheld-sealed", "third-party"), ("reproducible-cache", "reproducible")]
    review = review_folder(
        tmp_path / "review",
        DOCS,
        withheld=[*left_out, left_out[0], ("private-secret", "private")],
        refused=["unreadable", "not-scanned", "invalid"],
    )
    root = staged(review, tmp_path / "out")
    said = read(root, "disclosure.json")
    assert schema.problems("geode-traj.disclosure@1", said) == []
    inside = f"data/{root.name}"
    assert said["public"] == [
        {"trajectory_id": "Alpha One", "path": f"{inside}/alpha-one.json"},
        {"trajectory_id": "beta", "path": f"{inside}/beta.json"},
    ]
    assert [(one["class"], one["reason"], one["count"]) for one in said["withheld"]] == [
        ("private-secret", "private", 1),
        ("reproducible-cache", "reproducible", 1),
        ("withheld-sealed", "invalid", 1),
        ("withheld-sealed", "not-scanned", 1),
        ("withheld-sealed", "third-party", 2),
        ("withheld-sealed", "unreadable", 1),
    ]
    assert said["totals"] == {
        "candidates": 9,
        "public": 2,
        "withheld-sealed": 5,
        "private-secret": 1,
        "reproducible-cache": 1,
    }
    assert "    Withheld:     7 of 9 candidates\n" in (root / "README.md").read_text()
    record = read(root, "reviews/review.json")
    assert record["withheld"] == said["withheld"]
    assert (record["reviewers"], record["decisions"]) == (1, {"redact": {"email": 2}})


ALONE, GUESSED = "asks for one signature", "plain digests of private bytes"


@pytest.mark.parametrize(
    ("under", "roles", "words"),
    [
        (policy(), 1, {ALONE}),
        (two_people(), 2, set()),
        (policy("digests = 'plain'"), 1, {ALONE, GUESSED}),
    ],
)
def test_a_policy_that_is_less_is_said_in_words(
    under: Policy, roles: int, words: set, tmp_path: Path
) -> None:
    root = staged(review_folder(tmp_path / "review", DOCS, under=under), tmp_path / "out", policy=under)
    readme = " ".join((root / "README.md").read_text().split())
    assert {each for each in (ALONE, GUESSED) if each in readme} == words
    record = read(root, "reviews/review.json")
    assert (record["roles"], record["digests"]) == (roles, "plain" if GUESSED in words else "keyed")


def test_a_real_review_leaves_nothing_private_in_a_release(tmp_path: Path) -> None:
    """Every private byte of the review, and every digest of one, is looked for in every published file."""
    said = f"mail {ADDRESS} with {TOKEN}"
    sources = tmp_path / "demo_user's folder"
    sources.mkdir()
    closed = event(6, "session.ended", turn="")
    docs = {
        "one.json": trajectory("one", [*events(said), closed], privacy={"review_state": "local"}),
        "two.json": trajectory("two", events("hello"), privacy={"review_state": "local"}),
        "tarn-harbor.json": trajectory("tarn harbor", events(ADDRESS), privacy={"review_state": "local"}),
    }
    for name, doc in docs.items():
        (sources / name).write_bytes(framed(doc))
    (sources / "torn.json").write_bytes(b'{"events":[')
    folder = tmp_path / "review"
    under = policy()
    reviews.begun(sorted(sources.iterdir()), folder, under=under)
    review = open_review(folder)
    state = State(review)
    reject(state, "tarn-harbor.json", reviewer="demo_user", at=reviews.AT, reason="no-consent")
    decide(state, list(state.undecided()), "redact", reviewer="demo_user", at=reviews.AT)
    made = sign_off(
        review,
        **{**reviews.REVIEW, "scope": release_forge.SCOPE},
        scanner=Scanner("publish"),
        signer=release_forge.REVIEWER_KEY,
    )
    root = staged(folder, tmp_path / "out", policy=under)
    sign(root, KEY)
    assert check(root, keyring=keyring(KEY, release_forge.REVIEWER_KEY)).verdict == "valid"
    record, disclosed = read(root, "reviews/review.json"), read(root, "disclosure.json")
    assert schema.problems("geode-traj.review-record@1", record) == []
    assert record["decisions"] == made.to_json()["decisions"]
    assert disclosed["totals"]["candidates"] == 4
    assert [one["reason"] for one in disclosed["withheld"]] == ["no-consent", "unreadable"]
    private = {TOKEN, ADDRESS, "tarn", "torn", str(tmp_path), "demo_user's", review.key.hex()}
    private |= {sha256_bytes(path.read_bytes()) for path in sources.iterdir()}
    private |= {sha256_bytes(text.encode()) for text in (TOKEN, ADDRESS)}
    texts = {path.name: path.read_bytes().decode() for path in root.rglob("*") if path.is_file()}
    texts["the statement"] = dsse.read(texts["review.dsse.json"].encode(), PAYLOAD_TYPE).payload.decode()
    found = {name: [each for each in private if each in text] for name, text in texts.items()}
    assert not any(found.values()), found
