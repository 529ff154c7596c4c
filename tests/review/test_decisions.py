import json

import pytest

from geode_traj.errors import DataError, WorldError
from geode_traj.review import decide as decisions
from geode_traj.review.decide import Choice
from geode_traj.review.folder import open_review
from geode_traj.review.sign import sign
from geode_traj.review.state import State, expanded, ranges
from geode_traj.review.summary import summary
from geode_traj.scan.engine import Scanner
from tests.support.reviews import AT, REVIEW, begun, policy
from tests.support.secrets import make

HOST = "93.184." + "30.41"
OTHER = "93.184." + "30.42"
ASKING = '[bands]\nhigh = "person"\n'


@pytest.fixture
def reviewed(build):
    """Make a review of some texts, one trajectory each, and return its state."""

    def make_state(*texts, text_policy="", sensitive=()):
        paths = []
        for number, contents in enumerate(texts):
            events = [build.event({"content": content}) for content in contents]
            doc = build.doc(events, trajectory_id=f"t{number}")
            paths.append(build.write(doc, f"t{number}.json"))
        begun(paths, build.folder.parent / "review", under=policy(text_policy), sensitive=sensitive)
        return State(open_review(build.folder.parent / "review"))

    return make_state


def signed(state, **more):
    scanner = Scanner("publish", state.review.begun.sensitive_fields)
    return sign(state.review, **REVIEW, scanner=scanner, **more)


def contents(state, name="t0.json"):
    data = (state.review.folder / "redacted" / name).read_bytes()
    return [event["payload"]["content"] for event in json.loads(data)["events"]]


def names(folder):
    return {path.name for path in folder.iterdir()}


def everything(state, action="redact", reviewer="Ann", **more):
    return decisions.decide(state, state.review.findings, action, reviewer=reviewer, at=AT, **more)


def test_what_was_approved_stays_and_all_else_goes(reviewed):
    state = reviewed([f"ask {HOST} or {OTHER}", f"again {HOST}"])
    first = state.review.findings[0]
    assert [found.value for found in state.review.findings] == [1, 2, 1]
    decisions.decide(state, [first], "approve", reviewer="Ann", at=AT, reason="synthetic")
    assert [state.outcome(found).kind for found in state.review.findings] == [
        "approve",
        "undecided",
        "undecided",
    ]
    decisions.decide(state, list(state.undecided()), "redact", reviewer="Ann", at=AT)
    made = signed(state)
    cls = first.cls
    assert contents(state) == [f"ask {HOST} or [REDACTED:{cls}:1]", f"again [REDACTED:{cls}:2]"]
    assert made.files[0].redacted.approved == {cls: 1}
    assert made.to_json()["decisions"] == {"approve": {cls: 1}, "redact": {cls: 2}}
    assert made.to_json()["reviewers"] == ["Ann"]


def test_the_same_value_is_decided_everywhere_at_once(reviewed):
    state = reviewed([f"ask {HOST} or {OTHER}"], [f"again {HOST}"])
    chosen = Choice(values=frozenset({1})).of(state.review.findings)
    assert [found.path for found in chosen] == ["t0.json", "t1.json"]
    decisions.decide(state, chosen, "approve", reviewer="Ann", at=AT, reason="already-public")
    everything(state, "later")
    decisions.decide(
        state,
        Choice(values=frozenset({2})).of(state.review.findings),
        "redact",
        reviewer="Ann",
        at=AT,
    )
    decisions.decide(state, chosen, "approve", reviewer="Ann", at=AT, reason="already-public")
    signed(state)
    assert HOST in contents(state)[0] and OTHER not in contents(state)[0]
    assert contents(state, "t1.json") == [f"again {HOST}"]


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ([], "undecided"),
        ([("Ann", "approve")], "approve"),
        ([("Ann", "later")], "undecided"),
        ([("Ann", "approve"), ("Ann", "redact")], "redact"),
        ([("Ann", "redact"), ("Ann", "approve")], "approve"),
        ([("Ann", "redact"), ("Ben", "approve")], "redact"),
        ([("Ann", "approve"), ("Ben", "redact")], "redact"),
        ([("Ann", "approve"), ("Ann", "later")], "undecided"),
    ],
)
def test_the_stricter_word_stands(reviewed, said, outcome):
    state = reviewed([f"ask {HOST}"])
    for reviewer, action in said:
        everything(state, action, reviewer, reason="synthetic" if action == "approve" else "")
    assert {state.outcome(found).kind for found in state.review.findings} == {outcome}
    assert State(open_review(state.review.folder)).counts() == state.counts()


def test_two_people_for_an_approval_and_one_for_a_redaction(reviewed):
    state = reviewed([f"ask {HOST} or {OTHER}"], text_policy='[bands]\nreview = "two"\n')
    one, other = state.review.findings
    for _ in range(2):
        decisions.decide(state, [one], "approve", reviewer="Ann", at=AT, reason="synthetic")
    assert state.outcome(one).kind == "undecided" and state.outcome(one).reason == "1 of 2 approved it"
    assert not state.waits_for(one, "Ann") and state.waits_for(one, "Ben")
    decisions.decide(state, [one], "approve", reviewer="Ben", at=AT, reason="synthetic")
    decisions.decide(state, [other], "redact", reviewer="Ben", at=AT)
    assert state.outcome(one)[:2] == ("approve", "Ann and Ben")
    signed(state)
    assert contents(state) == [f"ask {HOST} or [REDACTED:{one.cls}:1]"]


def test_undo_takes_back_ones_own_last_word(reviewed):
    state = reviewed([f"ask {HOST}"])
    everything(state, "approve", "Ann", reason="synthetic")
    everything(state, "redact", "Ben")
    undone = decisions.undo(state, reviewer="Ben", at=AT)
    assert undone.body["reviewer"] == "Ben" and state.counts() == {
        "approve": {state.review.findings[0].cls: 1}
    }
    for seq in (undone.seq, 1, 99):
        with pytest.raises(WorldError) as refused:
            decisions.undo(state, reviewer="Ben", at=AT, seq=seq)
        assert refused.value.code == "TE101"
    decisions.undo(state, reviewer="Ann", at=AT)
    assert list(state.counts()) == ["undecided"]
    decisions.reject(state, "t0.json", reviewer="Ann", at=AT, reason="private")
    decisions.undo(state, reviewer="Ann", at=AT)
    assert state.rejected == {}
    kinds = [entry.kind for entry in open_review(state.review.folder).journal.entries]
    assert kinds == ["started", "decision", "decision", "undo", "undo", "rejection", "undo"]


def test_what_the_policy_fixed_is_nobodys_to_decide(reviewed):
    state = reviewed([f"token {make('github_token')} at {HOST}"])
    done = everything(state, "redact")
    assert (done.findings, done.fixed) == (1, 1)
    token = next(found for found in state.review.findings if found.band == "high")
    done = decisions.decide(state, [token], "approve", reviewer="Ann", at=AT, reason="revoked")
    assert done.entry is None and state.outcome(token)[:2] == ("redact", "policy")


def test_no_approval_past_the_gates(reviewed):
    state = reviewed([f"key {make('jwt')} and {HOST}"], text_policy=ASKING)
    with pytest.raises(WorldError) as refused:
        everything(state, "approve", reason="revoked")
    assert refused.value.code == "TE101" and "known_secret" in refused.value.message
    assert len(state.review.journal.entries) == 1


def test_a_trajectory_is_left_out_and_counted(reviewed):
    state = reviewed([f"ask {HOST}"], ["clean"])
    decisions.reject(
        state, "t0.json", reviewer="Ann", at=AT, reason="no-consent", cls="private-secret", note="asked twice"
    )
    assert {state.outcome(found).kind for found in state.review.findings} == {"withheld"}
    made = signed(state)
    assert [file.path for file in made.files] == ["t1.json"]
    assert [(one.path, one.cls, one.reason) for one in made.withheld] == [
        ("t0.json", "private-secret", "no-consent")
    ]
    assert names(state.review.folder / "redacted") == {"t1.json"}
    decisions.reject(state, "t1.json", reviewer="Ann", at=AT, reason="private")
    with pytest.raises(DataError) as refused:
        signed(state)
    assert refused.value.code == "TE314"


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda state: everything(state, "approve"), "TE101"),
        (lambda state: everything(state, "approve", reason="because"), "TE101"),
        (lambda state: everything(state, "redact", reason="synthetic"), "TE101"),
        (lambda state: everything(state, "publish"), "TE101"),
        (lambda state: everything(state, reviewer=" "), "TE101"),
        (lambda state: everything(state, reviewer="Policy"), "TE101"),
        (lambda state: everything(state, note="ask " + make("email")), "TE308"),
        (lambda state: everything(state, note="x" * 1025), "TE314"),
        (lambda state: decisions.reject(state, "no.json", reviewer="A", at=AT, reason="private"), "TE105"),
        (lambda state: decisions.reject(state, "t0.json", reviewer="A", at=AT, reason="bored"), "TE101"),
        (
            lambda state: decisions.reject(
                state, "t0.json", reviewer="A", at=AT, reason="private", cls="public"
            ),
            "TE101",
        ),
        (lambda state: decisions.see(state, "no.json", [1], reviewer="A", at=AT), "TE105"),
    ],
)
def test_what_makes_no_decision_leaves_no_entry(reviewed, call, code):
    state = reviewed([f"ask {HOST}"])
    with pytest.raises((DataError, WorldError)) as refused:
        call(state)
    assert refused.value.code == code and make("email") not in str(refused.value)
    assert len(open_review(state.review.folder).journal.entries) == 1


def test_nothing_is_signed_while_something_is_open(reviewed):
    state = reviewed([f"ask {HOST}", f"or {OTHER}"])
    with pytest.raises(DataError) as refused:
        signed(state)
    assert refused.value.code == "TE319" and "finding 1" in refused.value.message
    assert not {"redacted", "signoff.json"} & names(state.review.folder)
    everything(state)
    signed(state)
    # Another decision voids what was signed: the journal is no longer the one that was bound.
    bound = json.loads((state.review.folder / "signoff.json").read_bytes())["decisions_sha256"]
    decisions.undo(state, reviewer="Ann", at=AT)
    with pytest.raises(DataError):
        signed(state)
    assert json.loads((state.review.folder / "signoff.json").read_bytes())["decisions_sha256"] == bound
    everything(state)
    assert signed(state).to_json()["decisions_sha256"] != bound


def test_enough_must_have_been_seen(reviewed):
    state = reviewed(
        ["one", "two", "three", "four"],
        [f"ask {HOST}", "five"],
        text_policy="[coverage]\nclean_percent = 50\npercent = 100\n",
    )
    everything(state)
    assert list(state.uncovered()) == [("t0.json", 0, 50), ("t1.json", 0, 100)]
    decisions.see(state, "t0.json", [4, 1, 1, 99], reviewer="Ann", at=AT)
    assert list(state.uncovered()) == [("t1.json", 0, 100)] and state.covered("t0.json") == 2
    with pytest.raises(DataError) as refused:
        signed(state)
    assert refused.value.code == "TE319" and "0 % of t1.json" in refused.value.message
    assert summary(state)["coverage"] == [{"path": "t1.json", "seen_percent": 0, "wanted_percent": 100}]
    decisions.see(state, "t1.json", range(1, 3), reviewer="Ann", at=AT)
    signed(state)


def test_what_only_the_review_found_is_replaced_as_well(build):
    """The reviewer's own secrets are not stored: what they were found to be goes all the same."""
    from geode_traj.scan.known import Known

    own = "correct horse" + " battery"
    doc = build.doc([build.event({"content": f"it is {own}, really"})])
    out = build.folder.parent / "review"
    begun([build.write(doc)], out, known=Known(frozenset({own})))
    state = State(open_review(out))
    assert [found.cls for found in state.review.findings] == ["known_value"]
    signed(state)
    assert contents(state, "one.json") == ["it is [REDACTED:known_value:1], really"]
    for name in ("findings.jsonl", "review.json", "decisions.jsonl", "signoff.json", "redacted/one.json"):
        assert own not in (out / name).read_text("utf-8")


@pytest.mark.parametrize("name", ["review.json", "policy.toml", "findings.jsonl", "candidate/t0.json"])
def test_a_changed_part_is_found(reviewed, name):
    state = reviewed([f"ask {HOST}"])
    everything(state)
    path = state.review.folder / name
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(DataError) as refused:
        signed(State(open_review(state.review.folder)))
    assert refused.value.code == "TE307" and name in refused.value.message


def test_other_rules_than_those_of_the_review_are_refused(reviewed):
    from geode_traj.scan.rules import Ruleset, packaged

    state = reviewed([f"ask {HOST}"])
    everything(state)
    fewer = Scanner("publish", ruleset=Ruleset(packaged().rules[1:]))
    with pytest.raises(DataError) as refused:
        sign(state.review, **REVIEW, scanner=fewer)
    assert refused.value.code == "TE318"


def test_ranges_and_back():
    ids = [5, 1, 2, 3, 9, 2]
    assert ranges(ids) == [[1, 3], [5, 5], [9, 9]]
    assert list(expanded(ranges(ids))) == sorted(set(ids))


def test_what_stands_in_an_id_or_below_a_sensitive_key_goes_whatever_people_say(build):
    lax = policy('[bands]\nhigh = "keep"\nreview = "keep"\nnote = "keep"\n')
    event = build.event({"content": "hello", "arguments": {"password": "as long as it is"}}, call_id=HOST)
    doc = build.doc([event], trajectory_id=f"run at {HOST}", provenance={"note": f"made at {HOST}"})
    begun([build.write(doc)], build.folder.parent / "review", under=lax)
    state = State(open_review(build.folder.parent / "review"))
    outcomes = {(found.ordinal, found.pointer): state.outcome(found).kind for found in state.review.findings}
    assert outcomes == {
        (1, "/call_id"): "redact",
        (1, "/payload/arguments/password"): "redact",
        (None, "/provenance/note"): "approve",
        (None, "/trajectory_id"): "redact",
    }
    signed(state)
    text = (state.review.folder / "redacted" / "one.json").read_text("utf-8")
    value = json.loads(text)
    assert text.count(HOST) == 1 and HOST in value["provenance"]["note"]
    assert value["events"][0]["payload"]["arguments"] == {"password": "<REDACTED>"}
