import base64
import hashlib
import json
import stat
from urllib.parse import quote

import pytest

from geode_traj.codec.schema import problems
from geode_traj.contract.release import record_sha256
from geode_traj.errors import DataError, WorldError
from geode_traj.review.folder import open_review, read_key
from geode_traj.review.sign import sign
from geode_traj.scan.engine import Scanner
from tests.reference.trajectory import check_trajectory
from tests.support.reviews import REVIEW, begun, signed_off
from tests.support.secrets import CREDENTIALS, core, make

FOUND_PERSONAL = (
    "email",
    "email_example",
    "home_path_linux",
    "home_path_mac",
    "home_path_windows",
    "mac_address",
)


def signed(build, docs, name="review", **options):
    paths = [build.write(doc, file) for file, doc in docs.items()]
    return signed_off(paths, build.folder.parent / name, **{"key": build.key, **options})


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def names(folder):
    return {path.name for path in folder.iterdir()}


def forms(text):
    """The ways in which a value could still be read, or confirmed, from bytes."""
    data = text.encode()
    return [
        data,
        hashlib.sha256(data).hexdigest().encode(),
        base64.b64encode(data).rstrip(b"="),
        base64.urlsafe_b64encode(data).rstrip(b"="),
        quote(text, safe="").encode(),
        json.dumps(text)[1:-1].encode(),
        "".join(f"\\u{ord(c):04x}" for c in text).encode(),
        data.hex().encode(),
    ]


def test_makes_the_folder(build):
    doc = build.doc([build.event({"content": f"mail {make('email')}"})])
    folder = build.folder.parent / "review"
    made = signed(build, {"one.json": doc})
    files = tree(folder)
    assert files.keys() == {
        "candidate/one.json",
        "review.json",
        "policy.toml",
        "findings.jsonl",
        "decisions.jsonl",
        "decisions.head",
        "key",
        "redacted/one.json",
        "signoff.json",
    }
    assert files["candidate/one.json"] == (build.folder / "one.json").read_bytes()
    assert check_trajectory(json.loads(files["redacted/one.json"])) == []

    signoff = json.loads(files["signoff.json"])
    assert problems("geode-traj.signoff@1", signoff) == [] and signoff == made.to_json()
    review = signoff["review"]
    assert review["reviewed_at"] == "2026-01-01T00:00:00Z"
    assert review["record_sha256"] == record_sha256(review)
    (entry,) = signoff["files"]
    for key, path in (("candidate_sha256", "candidate/one.json"), ("redacted_sha256", "redacted/one.json")):
        assert entry[key] == hashlib.sha256(files[path]).hexdigest()
    assert signoff["findings_sha256"] == hashlib.sha256(files["findings.jsonl"]).hexdigest()
    assert entry["trajectory_id"] == "geode-session-s-1"
    assert entry["findings"] == entry["redactions"] == {"email": 1}
    _, finding = map(json.loads, files["findings.jsonl"].splitlines())
    assert [finding[key] for key in ("id", "path", "ordinal", "pointer", "class", "value")] == [
        1,
        "one.json",
        1,
        "/payload/content",
        "email",
        1,
    ]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [path.name for path in folder.parent.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("kind", [*CREDENTIALS, *FOUND_PERSONAL])
def test_no_form_of_a_planted_value_leaves(build, kind):
    value, secret = make(kind), core(kind)
    texts = {
        "content": f"before {value} after",
        "json": json.dumps({"inner": json.dumps({"text": f"see {value} "})}),
        "lines": f"1\n{value}\n2",
        "key": {f"say {value} ": 1},
    }
    doc = build.doc(
        [build.event(texts), build.event({"content": "", "model": f"m {value} "})],
        outcome={"scored": False, "note": value},
        trajectory_id="run-1",
    )
    signed(build, {"one.json": doc})
    private = tree(build.folder.parent / "review")
    assert secret.encode() in private.pop("candidate/one.json") or "\\" in secret or "\n" in secret
    for form in forms(secret):
        # A short name is also a word of our own; what counts there is the path it stood in.
        if len(secret) < 12:
            form = value.partition(secret)[0].encode() + form
        for path, data in private.items():
            assert form not in data, path


@pytest.mark.parametrize("kind", ["github_token", "openai_key", "jwt", "email"])
def test_no_encoded_value_leaves(build, kind):
    secret = core(kind)
    encoded = [base64.b64encode(f"token={secret};".encode()).decode(), quote(secret, safe="")]
    events = [build.event({"content": f"decode {text} please"}) for text in encoded]
    signed(build, {"one.json": build.doc(events)})
    redacted = (build.folder.parent / "review" / "redacted" / "one.json").read_text()
    for text in (*encoded, secret):
        assert text not in redacted


def test_the_key_of_the_review_is_taken_where_none_is_given(build):
    docs = {"one.json": build.doc([build.event({"content": make("email")})])}
    signed(build, docs, key=None)
    first = build.folder.parent / "review"
    path = first / "key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    secret = read_key(path)
    assert len(secret) == 32
    signed(build, docs, "again", key=secret)
    signed(build, docs, "other", key=None)
    again, other = (build.folder.parent / name for name in ("again", "other"))
    redacted = "redacted/one.json"
    assert (first / redacted).read_bytes() == (again / redacted).read_bytes()
    assert (first / redacted).read_bytes() != (other / redacted).read_bytes()
    for folder in (first, again):
        for name, data in tree(folder).items():
            assert name == "key" or (secret not in data and secret.hex().encode() not in data)


def test_the_digest_of_a_signoff_confirms_no_guess(build):
    """A release names it; who guesses the candidate knows all of the file but the salt."""
    docs = {"one.json": build.doc([build.event({"content": make("email")})])}
    first = signed(build, docs).to_json()
    folder = build.folder.parent / "review"
    again = sign(open_review(folder), **REVIEW, scanner=Scanner("publish")).to_json()
    assert first == again
    assert first["salt"] not in (folder / "redacted/one.json").read_text()
    other = signed(build, docs, "other", key=build.key[::-1]).to_json()
    drawn = {"files", "salt", "decisions_sha256", "findings_sha256", "review_sha256"}
    assert {key for key in first if first[key] != other[key]} == drawn


def test_files_of_one_review_share_ids_and_numbers_in_any_order(build):
    token, other = make("github_token"), make("github_oauth")
    one = build.doc([build.event({"content": token}, id="first-event")], trajectory_id="one")
    two = build.doc([build.event({"content": f"{other} {token}"}, parent="first-event")], trajectory_id="two")
    signed(build, {"a.json": one, "b.json": two})
    signed(build, {"b.json": two, "a.json": one}, "again")
    first, second = (build.folder.parent / name for name in ("review", "again"))
    assert tree(first) == tree(second)
    (event,) = json.loads((first / "redacted/a.json").read_bytes())["events"]
    (later,) = json.loads((first / "redacted/b.json").read_bytes())["events"]
    assert event["payload"]["content"] == "[REDACTED:github_token:1]"
    assert later["payload"]["content"] == "[REDACTED:github_token:2] [REDACTED:github_token:1]"
    assert later["payload"]["parent_event_id"] == event["event_id"]


def test_a_private_file_name_is_replaced(build):
    name = f"notes of {make('email')}.json"
    signed(build, {name: build.doc([build.event()])})
    folder = build.folder.parent / "review"
    (path,) = (folder / "redacted").iterdir()
    assert path.name.startswith("trajectory-") and path.suffix == ".json"
    assert (folder / "candidate" / path.name).read_bytes() == (build.folder / name).read_bytes()
    assert make("email") not in (folder / "signoff.json").read_text()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"reviewer": "  "}, "TE314"),
        ({"reviewer": "x" * 129}, "TE314"),
        ({"method": "x" * 257}, "TE314"),
        ({"scope": "x" * 257}, "TE314"),
        ({"attestation": "x" * 2049}, "TE314"),
        ({"reviewed_at": float("nan")}, "TE314"),
        ({"reviewed_at": 1e20}, "TE314"),
        ({"reviewer": make("email")}, "TE308"),
        ({"attestation": "seen in " + make("home_path_linux")}, "TE308"),
        ({"method": "seen on " + make("mac_address")}, "TE308"),
        ({"scope": make("password_assignment")}, "TE308"),
        ({"attestation": make("url_credentials")}, "TE308"),
        ({"engines": [lambda text: ["odd"] if text == "hello" else []]}, "TE308"),
    ],
)
def test_refuses_and_leaves_nothing(build, change, code):
    with pytest.raises(DataError) as refused:
        signed(build, {"one.json": build.doc([build.event()])}, **change)
    assert refused.value.code == code
    assert make("email") not in str(refused.value)
    assert not {"signoff.json", "redacted"} & names(build.folder.parent / "review")
    assert not any(name.startswith(".") for name in names(build.folder.parent / "review"))


def test_a_short_key_is_refused(build):
    with pytest.raises(DataError) as refused:
        signed(build, {"one.json": build.doc([build.event()])}, key=b"short")
    assert refused.value.code == "TE311" and names(build.folder.parent) == {"given"}


def test_bounds_hold_after_stripping(build):
    made = signed(build, {"one.json": build.doc([build.event()])}, reviewer=" " + "x" * 128 + "\n")
    assert made.review.reviewer == "x" * 128


def test_refuses_what_does_not_belong_together(build):
    doc = build.doc([build.event()])
    for docs, code in (
        ({"a.json": doc, "b.json": doc}, "TE310"),
        ({"a.jsonl": doc}, "TE314"),
        ({"A.json": doc, "a.json": {**doc, "trajectory_id": "x"}}, "TE310"),
        ({"manifest.json": doc}, "TE314"),
    ):
        with pytest.raises(DataError) as refused:
            signed(build, docs, "-".join(docs))
        assert refused.value.code == code
        assert not (build.folder.parent / "-".join(docs) / "signoff.json").exists()


def test_what_cannot_be_published_stays_out_and_is_told(build):
    doc = build.doc([build.event()])
    invalid = {**doc, "integrity": {**doc["integrity"], "complete": not doc["integrity"]["complete"]}}
    (build.folder / "broken.json").write_text("{")
    docs = {"a.json": doc, "b.json": {**invalid, "trajectory_id": "x"}}
    paths = [*(build.write(one, name) for name, one in docs.items()), build.folder / "broken.json"]
    with pytest.raises(WorldError) as missing:
        begun([*paths, build.folder / "gone.json"], build.folder.parent / "review")
    assert missing.value.code == "TE102"
    with pytest.raises(DataError) as refused:
        begun(paths[1:], build.folder.parent / "review")
    assert refused.value.code == "TE303"
    made = signed_off(paths, build.folder.parent / "review")
    assert [file.path for file in made.files] == ["a.json"]
    assert [(one.path, one.cls, one.reason) for one in made.withheld] == [
        ("b.json", "withheld-sealed", "invalid"),
        ("broken.json", "withheld-sealed", "unreadable"),
    ]
    assert problems("geode-traj.signoff@1", made.to_json()) == []
    assert names(build.folder.parent / "review" / "candidate") == {"a.json"}


def test_refuses_an_existing_folder_and_missing_files(build):
    folder = build.folder.parent / "review"
    folder.mkdir()
    paths = [build.write(build.doc([build.event()]))]
    with pytest.raises(WorldError) as exists:
        begun(paths, folder)
    assert exists.value.code == "TE601" and list(folder.iterdir()) == []
    folder.rmdir()
    with pytest.raises(WorldError) as missing:
        begun([], folder)
    assert missing.value.code == "TE104" and not folder.exists()
    with pytest.raises(WorldError) as unwritable:
        begun(paths, build.folder / "no" / "review")
    assert unwritable.value.code == "TE602"


@pytest.mark.parametrize("text", ["zz", "é", "00 0"])
def test_a_bad_key_file_is_refused(build, text):
    path = build.folder / "key"
    path.write_text(text)
    with pytest.raises(DataError) as refused:
        read_key(path)
    assert refused.value.code == "TE311"
