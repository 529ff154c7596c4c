"""Trajectories to review, built from events; integrity comes from the reference, not from the product."""

import hashlib
import json
from pathlib import Path

import pytest

from geode_traj.codec.framed import frame, join
from geode_traj.contract.encoding import encode
from geode_traj.review.redact import ReleaseRedactor
from geode_traj.scan.engine import Scanner
from geode_traj.scan.numbering import Numbering
from tests.reference.quality import completeness, quality

KEY = bytes(range(32))


def compact(value) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def redact_trajectory(candidate, out, *, key, ruleset=None, sensitive_keys=(), guides=None, engines=()):
    """Write the published form of one trajectory alone."""
    scanner = Scanner("publish", sensitive_keys, ruleset)
    release = ReleaseRedactor(key, Numbering(key), scanner, engines=engines)
    return release.write(release.survey(candidate), out, guides)


class Build:
    """Builds trajectories under a folder."""

    key = KEY
    compact = staticmethod(compact)
    sha256 = staticmethod(sha256)

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def event(
        self, payload=None, *, kind="message.user", id="", source="legacy_jsonl", parent=None, **fields
    ):
        stored = {"content": "hello"} if payload is None else payload
        event = {
            "event_id": id,
            "occurred_at": "2026-01-31T09:30:00Z",
            "kind": kind,
            "actor": "user",
            "session_id": "s-1",
            "turn_id": "t-1" if kind not in ("session.started", "session.ended") else "",
            "call_id": "",
            **fields,
        }
        event["payload"] = {
            "model": "",
            "provider": "",
            "status": "",
            "session_generation": 1,
            **stored,
            "source": source,
            "parent_event_id": parent,
            "source_payload_hash": sha256(compact(stored)),
        }
        return event

    def doc(self, events, integrity=None, **head):
        for ordinal, event in enumerate(events, start=1):
            event["ordinal"] = ordinal
            event["event_id"] = event["event_id"] or sha256(f"event {ordinal}".encode())[:32]
        doc = {
            "schema_id": "geode.trajectory@1",
            "schema_version": 1,
            "trajectory_id": "geode-session-s-1",
            "captured_at": "2026-01-31T09:30:00Z",
            "source": {"harness": "geode", "run": "s-1", "session": "s-1", "parents": None},
            "events": events,
            "outcome": {"scored": False},
            "integrity": integrity or {},
            "privacy": {"review_state": "local"},
            "provenance": {"store": "sessions.db:session_events"},
            **head,
        }
        doc["integrity"] = {
            **doc["integrity"],
            "record_count": len(events),
            **completeness(doc),
            "quality": quality(events),
        }
        return doc

    def write(self, doc, name="one.json", *, framed=True):
        path = self.folder / name
        head = {key: value for key, value in doc.items() if key != "events"}
        opening, closing = frame(head, encode)
        data = b"".join([opening, *join(map(encode, doc["events"])), closing])
        path.write_bytes(data if framed else json.dumps(doc, indent=1, ensure_ascii=False).encode())
        return path


@pytest.fixture
def build(tmp_path):
    folder = tmp_path / "given"
    folder.mkdir()
    return Build(folder)
