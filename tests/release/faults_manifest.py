"""RL12xx: the manifest against the record contract."""

from __future__ import annotations

import pytest
import release_forge
from faults import broken
from release_forge import Forge, framed, trajectory

from geode_traj.codec.files import sha256_bytes


@broken("RL1201")
def manifest_repeats_a_key(forge: Forge, _: pytest.MonkeyPatch) -> None:
    text = (forge.geode / "manifest.json").read_bytes()
    forge.set_manifest(text.replace(b"{", b'{"supersedes":null,', 1))
    forge.seal()


@broken("RL1202")
def manifest_counts_a_secret(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_manifest(lambda manifest: manifest["quality"]["secret_scan"].update(email=1))
    forge.seal()


@broken("RL1202")
def manifest_has_another_key(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_manifest(lambda manifest: manifest.update(note="x"))
    forge.seal()


@broken("RL1203")
def manifest_not_bound(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_manifest(lambda manifest: manifest.update(supersedes="x"), bind=False)
    forge.seal()


@broken("RL1203")
def unusable_source(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_manifest(lambda manifest: manifest.update(release_source="🙂"), bind=False)
    forge.seal()


@broken("RL1205")
def manifest_names_itself(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write(f"data/{forge.root.name}/sub/manifest.json", framed(trajectory("gamma")))
    entry = {**forge.manifest["files"][1], "path": "sub/manifest.json"}
    data = (forge.geode / "sub/manifest.json").read_bytes()
    entry |= {"bytes": len(data), "sha256": sha256_bytes(data), "trajectory_id": "gamma"}

    def change(manifest: dict) -> None:
        manifest["files"].append(entry)
        for key in ("scope_complete", "replay_complete", "complete"):
            manifest["quality"][f"{key}_trajectories"] += 1
        manifest["quality"]["trajectory_events"] += 5

    forge.edit_manifest(change)
    forge.seal()


@broken("RL1205")
def manifest_not_sorted(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_manifest(lambda manifest: manifest["files"].reverse())
    forge.seal()


@broken("RL1206")
def undeclared(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write(f"data/{forge.root.name}/notes.txt", b"x")
    forge.seal()


@broken("RL1207")
def declared_missing(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.geode / "beta.json").unlink()
    forge.seal()


@broken("RL1208")
def declared_size_lie(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_manifest(lambda manifest: manifest["files"][0].update(bytes=1))
    forge.seal()


@broken("RL1208")
def declared_digest_lie(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_manifest(lambda manifest: manifest["files"][0].update(sha256="0" * 64))
    forge.seal()


@broken("RL1209")
def padded_scope(forge: Forge, _: pytest.MonkeyPatch) -> None:
    def change(manifest: dict) -> None:
        manifest["release_scope"] += " "
        manifest["privacy_review"]["scope"] += " "

    forge.edit_manifest(change)
    forge.seal()


@broken("RL1209")
def day_that_never_was(forge: Forge, _: pytest.MonkeyPatch) -> None:
    manifest = forge.manifest
    manifest["published_at"] = "2025-02-31T00:00:00Z"
    data = release_forge.encode(manifest)
    forge.set_manifest(data, bind=False)
    forge.rename(f"Example-Lab-demo-runs-20250231T000000Z-{sha256_bytes(data)[:12]}")
    forge.seal()


@broken("RL1210")
def record_changed(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_manifest(lambda manifest: manifest["privacy_review"].update(reviewer="another"))
    forge.seal()


@broken("RL1211")
def reviewed_for_another_scope(forge: Forge, _: pytest.MonkeyPatch) -> None:
    record = release_forge.review_record("another scope")
    forge.edit_manifest(lambda manifest: manifest.update(privacy_review=record))
    forge.seal()
