"""Builds what releases are made of, and breaks good releases one fault at a time."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from geode_traj.attest import keyfile, sshsig
from geode_traj.attest.allowed_signers import Keyring, allowed_line, parse
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.framed import frame, join
from geode_traj.contract.encoding import encode
from geode_traj.release import layout
from geode_traj.release.stage import Chain, stage
from geode_traj.scan.rules import packaged
from tests.reference import geode

SOURCE, SCOPE = "Example Lab", "demo runs"
PUBLISHED = 1_750_100_523.9
START = 1_750_000_000
SIGNER_NAME = "release" + "@" + "example.org"


def new_key() -> keyfile.FileKey:
    private_key = Ed25519PrivateKey.generate()
    return keyfile.FileKey(private_key.public_key().public_bytes_raw(), private_key)


KEY, REVIEWER_KEY = new_key(), new_key()


def keyring(*keys: keyfile.FileKey, namespace: str = layout.NAMESPACE) -> Keyring:
    lines = (allowed_line(SIGNER_NAME, namespace, key.public_key) for key in keys)
    return parse("".join(f"{line}\n" for line in lines).encode())


def event(ordinal: int, kind: str, turn: str = "t1", call: str = "", **payload: object) -> dict:
    return {
        "event_id": f"e{ordinal}",
        "ordinal": ordinal,
        "occurred_at": geode.iso(START + ordinal),
        "kind": kind,
        "actor": "agent",
        "session_id": "s1",
        "turn_id": turn,
        "call_id": call,
        "payload": payload,
    }


def events(text: str = "hi") -> list[dict]:
    return [
        event(1, "session.started", turn=""),
        event(2, "message.user", content=text),
        event(3, "tool.called", call="c1", tool="ls", arguments={}),
        event(4, "tool.completed", call="c1", tool="ls", summary="2"),
        event(5, "session.ended", turn=""),
    ]


def counted(doc: dict) -> dict:
    """Give a document the integrity that its events give."""
    doc["integrity"] = {
        "record_count": len(doc["events"]),
        "quality": geode.quality(doc["events"]),
        **geode.completeness(doc),
    }
    return doc


def trajectory(trajectory_id: str, listed: list[dict] | None = None, **more: object) -> dict:
    return counted(
        {
            "schema_id": "geode.trajectory@1",
            "schema_version": 1,
            "trajectory_id": trajectory_id,
            "captured_at": geode.iso(START + 5),
            "source": {"harness": "geode", "session": "s1", "parents": None},
            "events": events() if listed is None else listed,
            "outcome": {"scored": False},
            "integrity": {},
            "privacy": {"review_state": "reviewed"},
            "provenance": {},
            **more,
        }
    )


def framed(doc: dict) -> bytes:
    opening, closing = frame({key: value for key, value in doc.items() if key != "events"})
    return opening + b"".join(join(encode(item) for item in doc["events"])) + closing


def review_record(scope: str = SCOPE) -> dict:
    record = {
        "reviewer": "demo_user",
        "reviewed_at": "2025-06-16T00:00:00Z",
        "method": "read in full",
        "scope": scope,
        "attestation": "No secret and no personal data remains.",
    }
    return {**record, "record_sha256": geode.record_sha256(record)}


def review_folder(folder: Path, docs: list[dict], scope: str = SCOPE) -> Path:
    """Write a review folder whose sign-off holds; the candidates still hold what was redacted."""
    files = []
    for index, doc in enumerate(docs):
        path = f"run-{index}.json"
        candidate = {**doc, "privacy": {"review_state": "local"}}
        entry = {"path": path, "trajectory_id": doc["trajectory_id"], "findings": {}, "redactions": {}}
        for part, content in (("candidate", framed(candidate)), ("redacted", framed(doc))):
            (folder / part).mkdir(parents=True, exist_ok=True)
            (folder / part / path).write_bytes(content)
            entry[f"{part}_sha256"] = sha256_bytes(content)
        files.append(entry)
    (folder / "findings.jsonl").write_bytes(b"")
    signoff = {
        "schema_id": "geode-traj.signoff@1",
        "review": review_record(scope),
        "files": files,
        "findings_sha256": sha256_bytes(b""),
        "policy_sha256": None,
        "ruleset": packaged().name,
        "ruleset_sha256": packaged().digest,
        "tool": {"name": "geode-traj", "version": "0.1.0"},
    }
    (folder / "signoff.json").write_bytes(encode(signoff))
    return folder


def staged(review: Path, out: Path, **more: object) -> Path:
    terms: dict = {"source": SOURCE, "scope": SCOPE, "published_at": PUBLISHED, "out": out, **more}
    return stage(review, **terms)


def put_release(folder: Path, **more: object) -> Path:
    """Stage a release of two trajectories below `folder`, unsigned."""
    docs = [trajectory("Alpha One"), trajectory("beta")]
    return staged(review_folder(folder / "review", docs), folder / "out", **more)


def good_release(folder: Path, *, roles: bool = False) -> Forge:
    """Return a release of two trajectories, sealed by the forge itself."""
    forge = Forge(put_release(folder, chain=Chain(reviewer_role_required=roles)))
    forge.seal()
    return forge


class Forge:
    """A release one can lie with: each method changes one layer, `seal` makes those above it agree again."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.signers = {layout.SIGNER: KEY}
        if self.release["review"]["reviewer_role_required"]:
            self.signers[layout.REVIEWER] = REVIEWER_KEY

    def copy(self, folder: Path) -> Forge:
        return Forge(Path(shutil.copytree(self.root, folder / self.root.name)))

    @property
    def geode(self) -> Path:
        return self.root / "data" / self.root.name

    @property
    def release(self) -> dict:
        return json.loads((self.root / "release.json").read_bytes())

    @property
    def manifest(self) -> dict:
        return json.loads((self.geode / "manifest.json").read_bytes())

    def write(self, path: str, data: bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return file

    def edit_manifest(self, change: Callable[[dict], object], *, bind: bool = True) -> None:
        """Change the manifest, and the names that bind it."""
        manifest = self.manifest
        change(manifest)
        self.set_manifest(encode(manifest), bind=bind)

    def set_manifest(self, data: bytes, *, bind: bool = True, like: dict | None = None) -> None:
        (self.geode / "manifest.json").write_bytes(data)
        if bind:
            self.rename(geode.release_name(like or self.manifest, sha256_bytes(data)))

    def rename(self, name: str) -> None:
        self.geode.rename(self.geode.parent / name)
        self.root = self.root.rename(self.root.parent / name)

    def edit_trajectory(
        self,
        change: Callable[[dict], object],
        *,
        path: str = "beta.json",
        recount: bool = True,
        manifest: Callable[[dict], object] = lambda manifest: None,
    ) -> None:
        """Change a trajectory, and the manifest's claims with it."""
        doc = json.loads((self.geode / path).read_bytes())
        change(doc)
        self.set_trajectory(framed(counted(doc) if recount else doc), path=path, manifest=manifest)

    def set_trajectory(
        self,
        data: bytes,
        *,
        path: str = "beta.json",
        manifest: Callable[[dict], object] = lambda manifest: None,
    ) -> None:
        (self.geode / path).write_bytes(data)

        def claims(whole: dict) -> None:
            docs = []
            for entry in whole["files"]:
                raw = (self.geode / entry["path"]).read_bytes()
                entry |= {"bytes": len(raw), "sha256": sha256_bytes(raw)}
                try:
                    doc = json.loads(raw)
                except ValueError:
                    continue
                docs.append(doc)
                entry |= {"trajectory_id": doc["trajectory_id"], "records": len(doc["events"])}
                flags = ("scope_complete", "replay_complete", "complete")
                entry |= {key: geode.completeness(doc)[key] for key in flags}
            whole["quality"] = {
                **geode.release_quality(docs, []),
                "trajectory_ids_unique": True,
            }
            manifest(whole)

        self.edit_manifest(claims)

    def seal(
        self,
        change: Callable[[dict], object] = lambda release: None,
        *,
        lines: Callable[[list[str]], object] = lambda lines: None,
        raw: bytes | None = None,
    ) -> None:
        """Write release.json, SHA256SUMS and the signatures so that they cover what stands there.

        `change` works on release.json, `lines` on the lines of SHA256SUMS, `raw` replaces release.json's
        text.
        """
        shutil.rmtree(self.root / "signatures", ignore_errors=True)
        files = {
            path.relative_to(self.root).as_posix(): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and not path.is_symlink() and path.name not in ("release.json", "SHA256SUMS")
        }
        inside = f"data/{self.root.name}/"
        if (self.root / "release.json").exists():
            release = self.release if raw is None else {}
            release |= {
                "release_id": self.root.name,
                "files": [
                    {"path": path, "bytes": len(data), "sha256": sha256_bytes(data)}
                    for path, data in sorted(files.items())
                ],
            }
            if inside + "manifest.json" in files and raw is None:
                self._repeat_manifest(release, inside, files)
            change(release)
            data = encode(release) if raw is None else raw
            (self.root / "release.json").write_bytes(data)
            listed = {file["path"]: file["sha256"] for file in release["files"]}
            listed["release.json"] = sha256_bytes(data)
        else:
            listed = {path: sha256_bytes(data) for path, data in files.items()}
        text = [layout.sums_line(digest, path) for path, digest in sorted(listed.items())]
        lines(text)
        (self.root / "SHA256SUMS").write_text("".join(text))
        self.sign()

    @staticmethod
    def _repeat_manifest(release: dict, inside: str, files: dict[str, bytes]) -> None:
        try:
            manifest = json.loads(files[inside + "manifest.json"])
            release |= {
                "published_at": manifest["published_at"],
                "source": manifest["release_source"],
                "scope": manifest["release_scope"],
                "supersedes": manifest["supersedes"],
                "trajectories": [
                    {
                        "trajectory_id": entry["trajectory_id"],
                        "path": inside + entry["path"],
                        "events": entry["records"],
                        "merkle_root": None,
                    }
                    for entry in manifest["files"]
                ],
            }
        except ValueError:
            return

    def sign(self, *, namespace: str = layout.NAMESPACE) -> None:
        sums = (self.root / "SHA256SUMS").read_bytes()
        for role, key in self.signers.items():
            self.write(layout.signature_path(role), sshsig.sign(key, sums, namespace))


def snapshot(root: Path) -> dict[str, object]:
    """Return what stands below `root`: bytes, modes, times."""
    found: dict[str, object] = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[path.relative_to(root).as_posix()] = (status.st_mode, status.st_mtime_ns, content)
    return copy.deepcopy(found)
