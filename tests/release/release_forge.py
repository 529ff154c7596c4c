"""Builds what releases are made of, and breaks good releases one fault at a time."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from geode_traj.attest import dsse, keyfile, sshsig, statement
from geode_traj.attest.allowed_signers import Keyring, allowed_line, parse
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.framed import frame, join
from geode_traj.contract import policy as policies
from geode_traj.contract.encoding import encode
from geode_traj.contract.policy import Policy
from geode_traj.contract.review_folder import salt
from geode_traj.release import layout
from geode_traj.release.stage import stage
from geode_traj.scan.rules import packaged
from tests.reference import geode

SOURCE, SCOPE = "Example Lab", "demo runs"
PUBLISHED = 1_750_100_523.9
START = 1_750_000_000
REVIEW_KEY = bytes(range(32))
ALONE = """schema_id = "geode-traj.policy@1"
name = "alone"
[release]
roles = 1
"""
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


def policy(text: str = "") -> Policy:
    """Return the policy of somebody who works alone, with more settings."""
    return policies.read(f"{ALONE}{text}".encode(), place="policy.toml")


def two_people() -> Policy:
    return policies.packaged()


def review_folder(
    folder: Path,
    docs: list[dict],
    scope: str = SCOPE,
    *,
    under: Policy | None = None,
    withheld: Sequence[tuple[str, str]] = (),
    refused: Sequence[str] = (),
    signer: keyfile.FileKey | None = None,
) -> Path:
    """Write a review folder whose sign-off holds; the candidates still hold what was redacted.

    `withheld` gives class and reason of candidates that people left out, `refused` the reason for which
    others were none from the start.
    """
    candidates, files, out = [], [], []
    for index, doc in enumerate(docs):
        path = f"run-{index}.json"
        digest = _put(folder / "candidate" / path, framed({**doc, "privacy": {"review_state": "local"}}))
        candidates.append({"path": path, "sha256": digest, "events": len(doc["events"])})
        entry = {"path": path, "candidate_sha256": digest, "trajectory_id": doc["trajectory_id"]}
        redacted = {"redacted_sha256": _put(folder / "redacted" / path, framed(doc))}
        files.append({**entry, **redacted, "findings": {}, "approved": {}, "redactions": {}})
    for index, (cls, reason) in enumerate(withheld):
        path = f"private-{index}.json"
        digest = _put(folder / "candidate" / path, framed(trajectory(f"private {index}")))
        candidates.append({"path": path, "sha256": digest, "events": 5})
        out.append({"path": path, "candidate_sha256": digest, "class": cls, "reason": reason})
    for index, why in enumerate(refused):
        entry = {
            "path": f"refused-{index}.json",
            "candidate_sha256": None if why == "unreadable" else "5" * 64,
        }
        out.append({**entry, "class": "withheld-sealed", "reason": why})
    gone = [one for one in out if one["path"].startswith("refused")]
    text = (under or policy()).to_toml()
    rests_on = {
        "policy_sha256": _put(folder / "policy.toml", text),
        "findings_sha256": _put(folder / "findings.jsonl", b""),
        "ruleset": packaged().name,
        "ruleset_sha256": packaged().digest,
    }
    tool = {"name": "geode-traj", "version": "0.1.0"}
    begun = {
        "schema_id": "geode-traj.review@1",
        "review_id": "0" * 32,
        "candidates": candidates,
        "refused": [
            {"path": one["path"], "sha256": one["candidate_sha256"], "why": one["reason"]} for one in gone
        ],
        **rests_on,
        "engines": [],
        "sensitive_fields": [],
        "tool": tool,
    }
    signoff = {
        "schema_id": "geode-traj.signoff@1",
        "review": review_record(scope),
        "files": files,
        "withheld": out,
        "review_sha256": _put(folder / "review.json", encode(begun)),
        "decisions_sha256": _put(folder / "decisions.jsonl", b"decided\n"),
        "decisions": {"redact": {"email": 2}},
        "approvals": {},
        "reviewers": ["demo_user", "policy"],
        "policy": (under or policy()).name,
        **rests_on,
        "tool": tool,
        "salt": "",
    }
    _put(folder / "key", REVIEW_KEY.hex().encode())
    seal_review(folder, signoff, signer)
    return folder


def seal_review(folder: Path, signoff: dict, signer: keyfile.FileKey | None = None) -> None:
    """Write a sign-off with a true salt, and the statement of who has a key."""
    data = encode({**signoff, "salt": salt(signoff, REVIEW_KEY)})
    (folder / "signoff.json").write_bytes(data)
    if signer is not None:
        subjects = {f"redacted/{one['path']}": one["redacted_sha256"] for one in signoff["files"]}
        keys = "review findings_sha256 decisions_sha256 policy policy_sha256 ruleset ruleset_sha256 tool"
        said = {key: signoff[key] for key in keys.split()} | {"signoff_sha256": sha256_bytes(data)}
        (folder / "signoff.dsse.json").write_bytes(enveloped(said, subjects, signer))


def enveloped(said: dict, subjects: dict[str, str], *signers: keyfile.FileKey) -> bytes:
    payload = statement.make(subjects, statement.PRIVACY_REVIEW, said)
    data = dsse.sign(signers[0], payload, statement.PAYLOAD_TYPE)
    for signer in signers[1:]:
        data = dsse.add_signature(dsse.read(data, statement.PAYLOAD_TYPE), signer)
    return data


def _put(path: Path, data: bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return sha256_bytes(data)


def staged(review: Path, out: Path, **more: object) -> Path:
    terms: dict = {"source": SOURCE, "scope": SCOPE, "published_at": PUBLISHED, "policy": policy()}
    return stage(review, **{**terms, "out": out, **more})


def put_release(folder: Path, *, roles: bool = False, **more: object) -> Path:
    """Stage a release of two trajectories below `folder`, unsigned; with `roles` two people have to sign."""
    docs = [trajectory("Alpha One"), trajectory("beta")]
    under, signer = (two_people(), REVIEWER_KEY) if roles else (policy(), None)
    left_out = [("withheld-sealed", "no-consent"), ("private-secret", "private")]
    review = review_folder(folder / "review", docs, under=under, signer=signer, withheld=left_out)
    return staged(review, folder / "out", **more)


def good_release(folder: Path, *, roles: bool = False) -> Forge:
    """Return a release of two trajectories, sealed by the forge itself."""
    forge = Forge(put_release(folder, roles=roles))
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
        parts: Mapping[str, Callable[[dict], object] | bytes] = MappingProxyType({}),
    ) -> None:
        """Write release.json, SHA256SUMS and the signatures so that they cover what stands there.

        `change` works on release.json, `lines` on the lines of SHA256SUMS, `raw` replaces release.json's
        text; `parts` are changes of, or bytes in place of, what else repeats the manifest.
        """
        shutil.rmtree(self.root / "signatures", ignore_errors=True)
        self._repeat_in_parts(parts)
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

    def _repeat_in_parts(self, parts: Mapping[str, Callable[[dict], object] | bytes]) -> None:
        record, disclosure = (self.root / path for path in (layout.REVIEW_RECORD, layout.DISCLOSURE))
        try:
            manifest = self.manifest
        except (OSError, ValueError):
            manifest = None
        if manifest and record.exists() and disclosure.exists():
            public = [
                {"trajectory_id": one["trajectory_id"], "path": f"data/{self.root.name}/{one['path']}"}
                for one in sorted(manifest["files"], key=lambda one: one["path"])
            ]
            self._edit(record, lambda value: value.update(review=manifest["privacy_review"]))
            self._edit(disclosure, lambda value: self._disclose(value, public))
        for path, change in parts.items():
            if isinstance(change, bytes):
                self.write(path, change)
            else:
                self._edit(self.root / path, change)

    @staticmethod
    def _edit(path: Path, change: Callable[[dict], object]) -> None:
        value = json.loads(path.read_bytes())
        change(value)
        path.write_bytes(encode(value) + b"\n")

    @staticmethod
    def _disclose(value: dict, public: list[dict]) -> None:
        withheld = value["totals"]["candidates"] - value["totals"]["public"]
        value["public"] = public
        value["totals"] |= {"public": len(public), "candidates": len(public) + withheld}

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
