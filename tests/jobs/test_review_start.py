import base64
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from geode_traj.errors import WorldError
from geode_traj.jobs import review_start
from geode_traj.jobs.review_allow import allowed
from geode_traj.jobs.scan_parts import keyed
from geode_traj.review.decide import decide
from geode_traj.review.folder import open_review
from geode_traj.review.redact import public_name
from geode_traj.review.state import State
from geode_traj.scan.engine import Scanner
from tests.review.conftest import Build
from tests.support.reviews import AT, begun, policy, signed_off
from tests.support.secrets import make

KEY = bytes(range(32))


@pytest.fixture
def build(tmp_path):
    (tmp_path / "given").mkdir()
    return Build(tmp_path / "given")


def candidates(build, count=6):
    paths = []
    for number in range(count):
        texts = [f"event {n} for {make('email')} and {make('github_token')}" for n in range(4)]
        events = [build.event({"content": text}) for text in texts]
        paths.append(build.write(build.doc(events, trajectory_id=f"t{number}"), f"t{number}.json"))
    return paths


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_the_same_folder_for_any_number_of_processes(build, tmp_path):
    paths = candidates(build)
    folders = [tmp_path / f"review{jobs}" for jobs in (1, 3)]
    for folder, jobs in zip(folders, (1, 3), strict=True):
        begun(paths if jobs == 1 else paths[::-1], folder, key=KEY, jobs=jobs)
    assert tree(folders[0]) == tree(folders[1])
    assert len(open_review(folders[0]).findings) == 48
    assert names(tmp_path) == {"given", "review1", "review3"}


@pytest.mark.parametrize("searched", [0, 1, 4])
def test_an_interrupted_start_goes_on(build, tmp_path, monkeypatch, searched):
    paths = candidates(build)
    begun(paths, tmp_path / "whole", key=KEY)
    kept = []
    real = review_start._keep

    def interrupted(folder, one, found):
        if len(kept) == searched:
            raise KeyboardInterrupt
        kept.append(one.name)
        real(folder, one, found)

    monkeypatch.setattr(review_start, "_keep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        begun(paths, tmp_path / "review", key=KEY)
    assert names(tmp_path) == {"given", "whole", ".review.part"}

    def counted(folder, one, found):
        kept.append(one.name)
        real(folder, one, found)

    monkeypatch.setattr(review_start, "_keep", counted)
    begun(paths, tmp_path / "review", key=KEY)
    assert sorted(kept) == [path.name for path in paths]  # nothing was searched twice
    assert tree(tmp_path / "review") == tree(tmp_path / "whole")
    assert names(tmp_path) == {"given", "whole", "review"}


def test_what_was_begun_for_other_inputs_is_not_taken(build, tmp_path, monkeypatch):
    paths = candidates(build)
    real = review_start._begin
    monkeypatch.setattr(review_start, "_begin", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        begun(paths, tmp_path / "review")
    monkeypatch.setattr(review_start, "_begin", real)
    changed = build.doc([build.event({"content": "nothing here"})], trajectory_id="t0")
    build.write(changed, "t0.json")
    begun(paths[:2], tmp_path / "review")
    review = open_review(tmp_path / "review")
    assert [one.path for one in review.begun.candidates] == ["t0.json", "t1.json"]
    assert {found.path for found in review.findings} == {"t1.json"}


def test_two_starts_of_one_review_do_not_meet(build, tmp_path):
    paths = candidates(build, 1)
    with review_start._part_folder(tmp_path / "review"), pytest.raises(WorldError) as busy:
        begun(paths, tmp_path / "review")
    assert busy.value.code == "TE501"


def test_learned_names_are_found_in_every_candidate(build, tmp_path):
    one = build.doc([build.event({"content": "see /ho" + "me/quillbrand/notes"})], trajectory_id="a")
    two = build.doc([build.event({"content": "ask quillbrand about it"})], trajectory_id="b")
    begun([build.write(one, "a.json"), build.write(two, "b.json")], tmp_path / "review")
    found = [(found.path, found.cls) for found in open_review(tmp_path / "review").findings]
    assert found == [("a.json", "absolute_home"), ("b.json", "user_name")]


def test_nothing_private_in_any_file_but_the_candidate(build, tmp_path):
    secret, address = make("github_token"), make("email")
    name = f"notes of {address}.json"
    doc = build.doc([build.event({"content": f"{secret} {address}", f"key {secret}": 1})])
    begun([build.write(doc, name)], tmp_path / "review", key=KEY)
    for path, data in tree(tmp_path / "review").items():
        for text in (secret, address):
            assert path.startswith("candidate/") or text.encode() not in data, path
            assert text not in path
    assert names(tmp_path / "review" / "candidate") == {public_name(name, Scanner("publish"), KEY)}


def test_allowed_values_pass_wherever_they_stand(build, tmp_path):
    phone = "010-" + "2345-6789"
    doc = build.doc([build.event({"content": f"call {phone}"}), build.event({"content": f"or {phone}"})])
    path = build.write(doc)
    at = '[[allow]]\nrule = "phone_number"\npointer = "/payload/content"\nreason = "consent"\n'
    begun([path], tmp_path / "one", under=policy(at))
    assert [found.allowed for found in open_review(tmp_path / "one").findings] == ["consent", "consent"]
    mac = keyed(KEY)("value", phone)
    by_value = f'[[allow]]\nrule = "phone_number"\nvalue = "{mac:064x}"\nreason = "consent"\n'
    for name, key, reason in (("two", KEY, "consent"), ("three", KEY[::-1], None)):
        begun([path], tmp_path / name, under=policy(by_value), key=key)
        assert [found.allowed for found in open_review(tmp_path / name).findings] == [reason, reason]


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on(build, tmp_path):
    paths = candidates(build, 12)
    begun(paths, tmp_path / "whole", key=KEY)
    (tmp_path / "k").write_text(KEY.hex())
    (tmp_path / "p.toml").write_bytes(policy().to_toml())
    words = [sys.executable, "-m", "geode_traj", "review", "start", *map(str, paths)]
    words += ["--out", str(tmp_path / "review"), "--key-file", str(tmp_path / "k"), "--jobs", "2"]
    words += ["--policy", str(tmp_path / "p.toml"), "--at", "2026-01-01T00:00:00Z"]
    killed = 0
    for wait in [0.05 * step for step in range(1, 40)]:
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, start_new_session=True)
        time.sleep(wait)
        os.killpg(process.pid, signal.SIGKILL)
        if process.wait() == 0 or (tmp_path / "review").exists():
            break
        killed += 1
    assert killed
    if not (tmp_path / "review").exists():
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    assert tree(tmp_path / "review") == tree(tmp_path / "whole")
    assert not list(Path(tmp_path).glob(".*.part"))
    assert json.loads((tmp_path / "review" / "review.json").read_bytes())["refused"] == []


def test_a_secret_cut_over_events_is_found_in_each_and_goes(build, tmp_path):
    token = make("github_token")
    cuts = (token[:9], token[9:20], token[20:])
    events = [
        build.event({"delta": text, "content": ""}, kind="legacy.imported")
        for text in ("so ", *cuts, " it is")
    ]
    path = build.write(build.doc(events))
    begun([path], tmp_path / "review")
    found = open_review(tmp_path / "review").findings
    assert [(one.ordinal, one.pointer, one.span, one.view) for one in found] == [
        (ordinal, "/payload/delta", (0, len(text)), "chunks") for ordinal, text in enumerate(cuts, start=2)
    ]
    assert {one.value for one in found} == {1}
    signed_off([path], tmp_path / "again")
    redacted = (tmp_path / "again" / "redacted" / "one.json").read_text("utf-8")
    assert all(text not in redacted for text in cuts)
    assert redacted.count("[REDACTED:github_token:1]") == 3


def test_what_was_approved_once_is_allowed_by_its_keyed_digest(build, tmp_path):
    phone = make("phone_kr")
    text = f"call {phone}, or " + base64.b64encode(f"call {phone} now".encode()).decode()
    path = build.write(
        build.doc([build.event({"content": text}), build.event({"content": "/ho" + "me/wrenfield/a"})])
    )
    begun([path], tmp_path / "one", key=KEY)
    state = State(open_review(tmp_path / "one"))
    decide(state, list(state.undecided()), "approve", reviewer="Ann", at=AT, reason="synthetic")
    tables = b"".join(one.to_toml() for one in allowed(state.review)).decode()
    assert phone not in tables and tables.count("[[allow]]") == 1
    for name, key, left in (("two", KEY, 0), ("three", KEY[::-1], 2)):
        begun([path], tmp_path / name, under=policy(tables), key=key)
        assert len(list(State(open_review(tmp_path / name)).undecided())) == left
