from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pytest
import release_forge
from release_forge import PUBLISHED, SCOPE, SOURCE, event, events, review_folder, staged, trajectory

from geode_traj.codec import schema
from geode_traj.codec.files import sha256_bytes
from geode_traj.contract.release import PrivacyReview, privacy_review
from geode_traj.errors import DataError, TrajError, WorldError
from geode_traj.release import stage as stage_module
from geode_traj.release.around import Chain
from geode_traj.release.check.verdict import check, read_geode_release
from geode_traj.release.placing import staging
from geode_traj.release.stage import by_name, stage_geode
from tests.reference import geode
from tests.support.secrets import make

AT = "@"
DOCS = [trajectory("Alpha One"), trajectory("beta", events("안녕 ß"))]
ADDRESS = f"demo_user{AT}quarrystone-mail.org"


def review_of(scope: str = SCOPE) -> PrivacyReview:
    return privacy_review(release_forge.review_record(scope))


def cut() -> dict:
    return trajectory("cut", [*events(), event(6, "session.ended", turn="", note="x…[truncated:9]")])


def unpaired() -> dict:
    return trajectory("unpaired", events()[:3])


def lying() -> dict:
    doc = trajectory("lying")
    doc["integrity"]["record_count"] = 9
    return doc


def derived() -> dict:
    listed = events()
    for item in listed[2:4]:
        item["payload"]["_derived"] = {"call_id": "order"}
    return trajectory("derived", listed)


def with_artifact(digest: str) -> dict:
    return trajectory("beta", artifact_digests=[{"path": "run/results.json", "sha256": digest}])


def put_geode(folder: Path, docs: dict[str, dict]) -> dict[str, Path]:
    folder.mkdir()
    for name, doc in docs.items():
        (folder / name.replace("/", "_")).write_text(geode.compact(doc), "utf-8")
    return {name: folder / name.replace("/", "_") for name in docs}


def geode_staged(files: dict[str, Path], out: Path, **more: object) -> Path:
    terms: dict = {"source": SOURCE, "scope": SCOPE, "published_at": PUBLISHED, "review": review_of()}
    return stage_geode(files, destination=out, **{**terms, **more})


def test_a_staged_release_is_a_geode_folder_and_what_stands_around_it(tmp_path: Path) -> None:
    review = review_folder(tmp_path / "review", DOCS)
    root = staged(review, tmp_path / "out", supersedes="demo-earlier")
    read = geode.read_release(root / "data" / root.name)
    assert sorted(read["trajectories"]) == ["alpha-one.json", "beta.json"]
    inside = root / "data" / root.name
    assert (inside / "alpha-one.json").read_bytes() == (review / "redacted" / "run-0.json").read_bytes()
    release = json.loads((root / "release.json").read_bytes())
    assert schema.problems("geode-traj.release@1", release) == []
    signoff = json.loads((review / "signoff.json").read_bytes())
    assert {key: signoff[key] for key in release["review"] if key in signoff}.items() <= release[
        "review"
    ].items()
    assert None not in release["review"].values()
    assert (release["supersedes"], release["published_at"]) == ("demo-earlier", "2025-06-16T19:02:03Z")
    assert release["review"]["signoff_sha256"] == sha256_bytes((review / "signoff.json").read_bytes())
    assert [item["events"] for item in release["trajectories"]] == [5, 5]
    found = check(root)
    assert ([finding.code for finding in found.errors], found.exit_code) == (["RL1401"], 4)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [root.name]


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path) -> None:
    releases = []
    for number in ("1", "2"):
        review = review_folder(tmp_path / number / "review", DOCS)
        root = staged(review, tmp_path / number / "out", chain=Chain(2, "0" * 64))
        files = sorted(path for path in root.rglob("*") if path.is_file())
        releases.append({path.relative_to(root.parent).as_posix(): path.read_bytes() for path in files})
    assert releases[0] == releases[1]
    assert len(releases[0]) == 8


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    review = review_folder(tmp_path / "review", DOCS)
    root = staged(review, tmp_path / "out")
    before = release_forge.snapshot(root)
    with pytest.raises(WorldError) as caught:
        staged(review, tmp_path / "out")
    assert (caught.value.code, caught.value.exit_code) == ("TE601", 12)
    assert release_forge.snapshot(root) == before
    assert [path.name for path in root.parent.iterdir()] == [root.name]
    files = put_geode(tmp_path / "in", {"a.json": DOCS[0]})
    made = geode_staged(files, tmp_path / "geode")
    with pytest.raises(WorldError) as caught:
        geode_staged(files, tmp_path / "geode")
    assert caught.value.code == "TE601"
    assert [path.name for path in (tmp_path / "geode").iterdir()] == [made.name]
    assert root.exists()


GATES: list[tuple[str, list[dict], dict]] = [
    ("TE303", [lying()], {}),
    ("TE303", [{**trajectory("a"), "schema_id": "geode.trajectory@2025-01-01"}], {}),
    ("TE304", [unpaired()], {}),
    ("TE304", [trajectory("a", [])], {}),
    ("TE304", [unpaired()], {"allow_replay_incomplete": True}),
    ("TE305", [DOCS[0], cut()], {}),
    ("TE306", [trajectory("a", privacy={"review_state": "local"})], {}),
    ("TE306", [trajectory("a", privacy={})], {}),
    ("TE309", [with_artifact("0" * 64)], {}),
    ("TE310", [DOCS[0], trajectory("Alpha One", events("another"))], {}),
    ("TE308", [DOCS[0]], {"source": ADDRESS}),
    ("TE308", [DOCS[0]], {"supersedes": make("github_token")}),
    ("TE314", [DOCS[0]], {"source": " "}),
    ("TE314", [DOCS[0]], {"source": "x" * 129}),
    ("TE314", [DOCS[0]], {"source": "🙂"}),
    ("TE307", [DOCS[0]], {"scope": "another scope"}),
    ("TE101", [DOCS[0]], {"published_at": float("nan")}),
]


@pytest.mark.parametrize(("code", "docs", "more"), GATES)
@pytest.mark.parametrize("geode_verb", [False, True])
def test_gates_refuse_and_leave_nothing(
    code: str, docs: list[dict], more: dict, geode_verb: bool, tmp_path: Path
) -> None:
    out = tmp_path / "new" / "out"
    with pytest.raises(TrajError) as caught:
        if geode_verb:
            files = put_geode(tmp_path / "in", {f"{index}.json": doc for index, doc in enumerate(docs)})
            geode_staged(files, out, **more)
        else:
            staged(review_folder(tmp_path / "review", docs), out, **more)
    assert caught.value.code == code
    assert not (tmp_path / "new").exists()


def test_replay_may_be_incomplete_where_that_is_admitted(tmp_path: Path) -> None:
    review = review_folder(tmp_path / "review", [DOCS[0], cut()])
    root = staged(review, tmp_path / "out", allow_replay_incomplete=True)
    manifest = geode.read_release(root / "data" / root.name)["manifest"]
    assert manifest["admission"]["replay_complete_required"] is False
    assert manifest["quality"]["replay_incomplete_trajectories"] == 1
    assert check(root).content_errors == ()


def test_artifacts_are_compared_with_the_bytes_given(tmp_path: Path) -> None:
    given = tmp_path / "results.json"
    given.write_bytes(b"[]")
    right = review_folder(tmp_path / "right", [with_artifact(sha256_bytes(b"[]"))])
    artifacts = {"run/results.json": given}
    root = staged(right, tmp_path / "out", artifacts=artifacts)
    quality = geode.read_release(root / "data" / root.name)["manifest"]["quality"]
    assert (quality["source_digest_refs"], quality["source_digests_verified"]) == (1, 1)
    wrong = review_folder(tmp_path / "wrong", [with_artifact("0" * 64)])
    with pytest.raises(DataError) as caught:
        staged(wrong, tmp_path / "out", artifacts=artifacts)
    assert caught.value.code == "TE309"


def test_derived_ids_pass_unless_native_ones_are_required(tmp_path: Path) -> None:
    review = review_folder(tmp_path / "review", [derived()])
    with pytest.raises(DataError) as caught:
        staged(review, tmp_path / "out", require_native_ids=True)
    assert caught.value.code == "TE313"
    assert staged(review, tmp_path / "out").exists()


@pytest.mark.parametrize(
    "more",
    [
        {"chain": Chain(2)},
        {"chain": Chain(1, "0" * 64)},
        {"chain": Chain(0)},
        {"chain": Chain(2, "abc")},
        {"chain": Chain(2, "A" * 64)},
        {"supersedes": ""},
        {"supersedes": " "},
        {"supersedes": "a/b"},
        {"supersedes": ".."},
        {"supersedes": "x" * 160},
    ],
)
def test_what_stands_before_a_release_is_looked_at_first(more: dict, tmp_path: Path) -> None:
    with pytest.raises(WorldError) as caught:
        staged(tmp_path / "no review", tmp_path / "out", **more)
    assert caught.value.code == "TE101"


def test_a_releases_own_words_are_scanned(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        staged(review_folder(tmp_path / "good", DOCS), tmp_path / "out", source=make("mac_address"))
    assert caught.value.code == "TE308"


def test_what_a_killed_staging_left_goes_and_what_is_in_use_stays(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for name in (".staging-dead", ".staging-used"):
        (out / name / "whole").mkdir(parents=True)
    (out / ".staging-file").touch()
    descriptor = os.open(out / ".staging-used", os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        root = staged(review_folder(tmp_path / "review", DOCS), out)
    finally:
        os.close(descriptor)
    assert sorted(path.name for path in out.iterdir()) == [".staging-file", ".staging-used", root.name]


def test_a_staging_is_locked_while_it_is_made(tmp_path: Path) -> None:
    with staging(tmp_path / "out") as mine, staging(tmp_path / "out") as other:
        assert mine.is_dir() and other.is_dir() and mine != other
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("failing_call", [1, 2])
@pytest.mark.parametrize("geode_verb", [False, True])
def test_a_release_that_its_checker_refuses_leaves_nothing(
    failing_call: int, geode_verb: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def refuse(path: Path) -> None:
        calls.append(path)
        if len(calls) == failing_call:
            raise DataError("TE401", what="the release", why="a disk that forgets")

    monkeypatch.setattr(stage_module, "read_geode_release" if geode_verb else "_passes", refuse)
    with pytest.raises(DataError):
        if geode_verb:
            geode_staged(put_geode(tmp_path / "in", {"a.json": DOCS[0]}), tmp_path / "out")
        else:
            staged(review_folder(tmp_path / "review", DOCS), tmp_path / "out")
    assert len(calls) == failing_call
    assert not (tmp_path / "out").exists()


def test_a_file_that_changes_under_staging_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = put_geode(tmp_path / "in", {"a.json": DOCS[0]})
    real = stage_module.candidates

    def swap(named: dict[str, Path]) -> object:
        verified = real(named)
        files["a.json"].write_text(geode.compact(DOCS[1]))
        return verified

    monkeypatch.setattr(stage_module, "candidates", swap)
    with pytest.raises(DataError) as caught:
        geode_staged(files, tmp_path / "out")
    assert caught.value.code == "TE207"
    assert not (tmp_path / "out").exists()


def test_the_geode_verb_takes_any_name_and_layout_and_geodes_gates_alone(tmp_path: Path) -> None:
    undeclared = events()
    undeclared[1]["payload"]["_redactions"] = [{"class": "email"}]
    docs = {"Sub/Ä 1.json": DOCS[0], "b.json": trajectory("b", undeclared)}
    files = put_geode(tmp_path / "in", docs)
    (files["Sub/Ä 1.json"]).write_text(json.dumps(DOCS[0], indent=1), "utf-8")
    root = geode_staged(files, tmp_path / "out")
    read = geode.read_release(root)
    assert sorted(read["trajectories"]) == ["Sub/Ä 1.json", "b.json"]
    assert (root / "Sub/Ä 1.json").read_bytes() == files["Sub/Ä 1.json"].read_bytes()
    made = read_geode_release(root, read["manifest_sha256"])
    assert (made.release, made.manifest) == (root.name, read["manifest"])
    with pytest.raises(DataError) as caught:
        staged(review_folder(tmp_path / "review", [docs["b.json"]]), tmp_path / "ours")
    assert caught.value.code == "TE303"


@pytest.mark.parametrize("path", ["../a.json", "/a.json", "a.txt", "manifest.json", "a\0.json", "a\n.json"])
def test_paths_of_a_geode_release(path: str, tmp_path: Path) -> None:
    files = {path: put_geode(tmp_path / "in", {"a.json": DOCS[0]})["a.json"]}
    with pytest.raises(DataError) as caught:
        geode_staged(files, tmp_path / "out")
    assert caught.value.code == "TE314"
    assert not (tmp_path / "out").exists()


def test_hits_in_raw_text_are_refused_by_both(tmp_path: Path) -> None:
    # Python's own writer makes `\n@pytest.fixture` of a line break and a decorator.
    doc = trajectory("a", events(f"x\n{AT}pytest.fixture"))
    with pytest.raises(DataError) as caught:
        geode_staged(put_geode(tmp_path / "in", {"a.json": doc}), tmp_path / "out")
    assert (caught.value.code, caught.value.message) == ("TE308", "the scan still finds 1 email in a.json")
    # Ours writes the same text so that it makes none.
    assert staged(review_folder(tmp_path / "review", [doc]), tmp_path / "ours").exists()


def test_names_come_once(tmp_path: Path) -> None:
    assert by_name([tmp_path / "a.json", tmp_path / "b.json"]).keys() == {"a.json", "b.json"}
    with pytest.raises(DataError) as caught:
        by_name([tmp_path / "a.json", tmp_path / "sub" / "a.json"])
    assert caught.value.code == "TE310"


def test_a_release_needs_a_trajectory(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        geode_staged({}, tmp_path / "out")
    assert caught.value.code == "TE303"
