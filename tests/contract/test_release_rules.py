from __future__ import annotations

import json
import re
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.codec import schema
from geode_traj.contract import release
from geode_traj.errors import DataError
from tests.reference import geode
from tests.reference.release import metadata_text, name_part

RECORD = {
    "reviewer": " demo_user ",
    "reviewed_at": "2025-06-16T02:00:00.9+02:00",
    "method": "read",
    "scope": "demo",
    "attestation": "seen",
}


def file(path: str, trajectory_id: str, *, replay: bool = True, scope: bool = True) -> release.ReleaseFile:
    return release.ReleaseFile(
        path=path,
        bytes=10,
        sha256="0" * 64,
        records=5,
        trajectory_id=trajectory_id,
        scope_complete=scope,
        replay_complete=replay,
        reviewed=True,
        evidence_refs=1,
        runtime_event_refs=2,
        artifact_digests=3,
    )


def code_of(call: object, *args: object) -> str:
    with pytest.raises(DataError) as caught:
        call(*args)  # type: ignore[operator]
    return caught.value.code


@given(st.text(max_size=200))
def test_a_name_part_is_the_contracts(text: str) -> None:
    try:
        expected = name_part(text)
    except geode.Refused:
        assert code_of(release.name_part, text) == "TE314"
        return
    assert release.name_part(text) == expected
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}", expected)


@given(
    st.text("ab -ß", min_size=1, max_size=140).filter(lambda text: "a" in text or "b" in text),
    st.integers(0, 253402300799),
    st.integers(0, 2**256 - 1).map(lambda number: f"{number:064x}"),
)
def test_the_folder_name_binds_source_scope_time_and_manifest(text: str, at: int, digest: str) -> None:
    manifest = {"release_source": text, "release_scope": "demo", "published_at": geode.iso(at)}
    name = release.release_name(text, "demo", geode.iso(at), digest)
    assert name == geode.release_name(manifest, digest)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("a.json", True),
        ("sub/Ä b.json", True),
        (".json.json", True),
        ("manifest.jsonl.json", True),
        ("manifest.json", False),
        ("sub/manifest.json", False),
        ("a.txt", False),
        (".json", False),
        ("/a.json", False),
        ("../a.json", False),
        ("a/../b.json", False),
        ("./a.json", False),
        ("a//b.json", False),
        ("a.json/", False),
        ("", False),
    ],
)
def test_paths(path: str, allowed: bool) -> None:
    assert (release.path_fault(path) is None) == allowed


@given(st.sets(st.text(st.sampled_from("aAbB .-ß/\u0130"), max_size=8) | st.text(max_size=90), max_size=8))
def test_file_names_are_plain_unique_and_free_of_order(ids: set[str]) -> None:
    names = release.file_names(sorted(ids))
    assert names == release.file_names(sorted(ids, reverse=True))
    assert len(set(names.values())) == len(ids)
    for name in names.values():
        assert re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,127}", name)
        assert release.path_fault(name) is None
        assert PurePosixPath(name).name == name


def test_a_file_name_is_the_ids_slug_where_that_is_free() -> None:
    names = release.file_names(["geode-session-Demo 1", "X", "x", "manifest", "한글"])
    assert names["geode-session-Demo 1"] == "geode-session-demo-1.json"
    assert re.fullmatch(r"x-[0-9a-f]{12}\.json", names["X"])
    assert re.fullmatch(r"manifest-[0-9a-f]{12}\.json", names["manifest"])
    assert re.fullmatch(r"trajectory-[0-9a-f]{12}\.json", names["한글"])


def test_a_review_is_stripped_and_its_time_is_utc_to_the_second() -> None:
    review = release.privacy_review(RECORD)
    assert (review.reviewer, review.reviewed_at) == ("demo_user", "2025-06-16T00:00:00Z")
    written = review.to_json()
    assert written["record_sha256"] == geode.record_sha256(written)
    assert release.privacy_review(written) == review


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"reviewer": "x" * 129}, "TE314"),
        ({"reviewer": "  "}, "TE314"),
        ({"method": 1}, "TE314"),
        ({"attestation": "x" * 2049}, "TE314"),
        ({"reviewed_at": "2025-06-16T00:00:00"}, "TE314"),
        ({"reviewed_at": "2025-02-31T00:00:00Z"}, "TE314"),
        ({"note": "x"}, "TE314"),
        ({"record_sha256": "0" * 64}, "TE401"),
    ],
)
def test_reviews_that_do_not_fit(change: dict, code: str) -> None:
    assert code_of(release.privacy_review, {**RECORD, **change}) == code


@pytest.mark.parametrize("value", [None, [], "x", {}, {"reviewer": "x"}])
def test_what_is_no_review(value: object) -> None:
    assert code_of(release.privacy_review, value) == "TE314"


@pytest.mark.parametrize(("text", "limit"), [("", 5), (" \n", 5), ("abcdef", 5)])
def test_bounds(text: str, limit: int) -> None:
    assert code_of(release.bounded, "source", text, limit) == "TE314"


def test_a_manifest_fits_its_schema_and_sums_up_its_files() -> None:
    files = [file("b.json", "b"), file("a.json", "a", replay=False), file("c.json", "c")]
    manifest = release.manifest(
        files,
        source="Lab",
        scope="demo",
        review=release.privacy_review(RECORD),
        published_at=1_750_000_000.9,
        supersedes=None,
        replay_required=False,
        secret_scan=geode.release_quality([], [])["secret_scan"],
    )
    assert schema.problems("geode.trajectory-release@1", manifest) == []
    assert [entry["path"] for entry in manifest["files"]] == ["a.json", "b.json", "c.json"]
    assert [entry["complete"] for entry in manifest["files"]] == [False, True, True]
    assert manifest["published_at"] == "2025-06-15T15:06:40Z"
    quality = manifest["quality"]
    assert (quality["replay_complete_trajectories"], quality["incomplete_trajectories"]) == (2, 1)
    assert (quality["trajectory_events"], quality["evidence_refs"]) == (15, 3)
    assert (quality["runtime_event_refs"], quality["source_digests_verified"]) == (6, 9)
    assert release.scanned_text(manifest) == metadata_text(manifest)
    assert json.loads(release.scanned_text(manifest))["paths"] == ["a.json", "b.json", "c.json"]
