"""Companion files: what each kind adds, to the letter, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geode_traj.errors import TrajError
from geode_traj.export import references
from geode_traj.export.references import References
from tests.migrate import pipeline
from tests.reference import geode


@pytest.fixture
def store(tmp_path: Path) -> Path:
    pipeline.migrate(
        tmp_path / "sessions.db", pipeline.write_lines(tmp_path / "s1.jsonl", pipeline.dialogue("s1", "a"))
    )
    return tmp_path / "sessions.db"


def added(kind: str, path: Path, store: Path) -> dict:
    given = References()
    references.companion(kind, path, given)
    doc = json.loads(pipeline.export(store, "s1", companions=given))
    assert geode.check_trajectory(doc) == []
    return {
        "evidence": doc["evidence_refs"],
        "artifacts": doc["artifact_digests"],
        "source": {key: value for key, value in doc["source"].items() if key.endswith("sha256")},
    }


@pytest.mark.parametrize("kind", ["sil_eval", "native_receipt", "runtime_profile", "attempt_manifest"])
def test_each_kind(kind: str, store: Path, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file.bin"
    path.parent.mkdir()
    path.write_bytes(b"bytes")
    digest = geode.sha256(b"bytes")
    here = {"path": "file.bin", "sha256": digest}
    eval_reference = {
        "kind": "sil_eval",
        "schema_id": "inspect_ai.eval@native",
        "authority": "Inspect AI scored evaluation archive",
        "reference": f"sha256:{digest}",
        **here,
    }
    receipt_reference = {
        "kind": "native_receipt",
        "schema_id": "tau2.results@native",
        "authority": "tau2 native results receipt",
        "reference": digest,
        "raw_artifact_sha256": digest,
    }
    expected = {
        "sil_eval": {"evidence": [eval_reference], "artifacts": [here], "source": {}},
        "native_receipt": {"evidence": [receipt_reference], "artifacts": [], "source": {}},
        "runtime_profile": {
            "evidence": [],
            "artifacts": [here],
            "source": {"runtime_profile_sha256": digest},
        },
        "attempt_manifest": {
            "evidence": [],
            "artifacts": [here],
            "source": {"attempt_manifest_sha256": digest},
        },
    }
    assert added(kind, path, store) == expected[kind]


def test_a_crucible_snapshot_with_its_preflight(store: Path, tmp_path: Path) -> None:
    path = tmp_path / "snapshot.json"
    snapshot = {"contract_id": "c-1", "contract_validation": "identity_preflight", "arm": "b"}
    path.write_text(json.dumps(snapshot))
    assert added("crucible", path, store)["evidence"] == [
        {
            "kind": "crucible_evidence",
            "schema_id": "crucible_tau2_trajectory_snapshot.v4",
            "authority": "Crucible experiment contract and executable verifier",
            "reference": "c-1",
            "arm": "b",
            "raw_artifact_sha256": geode.sha256(path.read_bytes()),
        }
    ]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ({"contract_id": "c-1"}, "TE314"),
        ({"contract_validation": "identity_preflight"}, "TE314"),
        ({"contract_id": "", "contract_validation": "identity_preflight"}, "TE314"),
        ({"contract_id": 5, "contract_validation": "identity_preflight"}, "TE314"),
        ({"contract_id": "c-1", "contract_validation": "other"}, "TE314"),
        ([], "TE314"),
        (None, "TE202"),
    ],
)
def test_a_crucible_snapshot_without_it(content: object, code: str, tmp_path: Path) -> None:
    path = tmp_path / "snapshot.json"
    path.write_text("{" if content is None else json.dumps(content))
    with pytest.raises(TrajError) as caught:
        references.companion("crucible", path, References())
    assert (caught.value.code, caught.value.place) == (code, str(path))


@pytest.mark.parametrize(("kind", "code"), [("odd", "TE105"), ("sil_eval", "TE201")])
def test_what_cannot_be_added(kind: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    if kind == "odd":
        path.touch()
    with pytest.raises(TrajError) as caught:
        references.companion(kind, path, References())
    assert caught.value.code == code


def test_artifacts_are_named_as_given_and_one_name_is_one_file(store: Path, tmp_path: Path) -> None:
    given = References()
    for name, text in [("a", "1"), ("b", "2")]:
        (tmp_path / name).write_text(text)
        references.artifact(f"out/{name}", tmp_path / name, given)
    references.artifact("out/a", tmp_path / "a", given)
    doc = json.loads(pipeline.export(store, "s1", companions=given))
    assert [one["path"] for one in doc["artifact_digests"]] == ["out/a", "out/b"]
    assert geode.check_trajectory(doc) == []
    references.artifact("out/a", tmp_path / "b", given)
    with pytest.raises(TrajError) as caught:
        pipeline.export(store, "s1", companions=given)
    assert caught.value.code == "TE310"


def test_references_equal_in_kind_and_name_are_one(store: Path, tmp_path: Path) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(b"bytes")
    given = References()
    for _ in range(2):
        references.companion("sil_eval", path, given)
        references.companion("native_receipt", path, given)
    doc = json.loads(pipeline.export(store, "s1", companions=given))
    assert [one["kind"] for one in doc["evidence_refs"]] == ["sil_eval", "native_receipt"]
    assert len(doc["artifact_digests"]) == 1
