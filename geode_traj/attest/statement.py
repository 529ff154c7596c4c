"""In-toto statements: what is said (a predicate) about which files (subjects), in-toto attestation v1.

A statement is the payload of an envelope (`dsse`). Reading is strict, but members of unknown names are
ignored, as in-toto asks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from geode_traj.attest import dsse, wire
from geode_traj.codec import canonical
from geode_traj.codec.text import neutralise
from geode_traj.errors import DataError

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
"""The type of a statement in an envelope."""

PRIVACY_REVIEW: Final = "urn:geode-traj:predicate:privacy-review:v1"
RELEASE: Final = "urn:geode-traj:predicate:release:v1"
"""The types of the predicates of a reviewer and of a release's signers."""

MAX_BYTES: Final = 12 << 20
MAX_SUBJECTS: Final = 1 << 16
"""Bounds of a statement, for which an envelope has room. Some verifiers refuse more than 1,024 subjects."""

_TYPE: Final = "https://in-toto.io/Statement/v1"
_SHA256: Final = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Statement:
    """What is said about files: their hex SHA-256 by name, the predicate's type and the predicate."""

    subjects: Mapping[str, str]
    predicate_type: str
    predicate: Mapping[str, Any]


def make(subjects: Mapping[str, str], predicate_type: str, predicate: Mapping[str, Any]) -> bytes:
    """Return the canonical bytes of a statement about `subjects` (name -> hex SHA-256), sorted by name.

    The predicate is a JSON object. The statement is read before it is returned; `DataError` TE403 as in
    `read`, and for what JSON cannot say (NaN, a lone surrogate).
    """
    statement = {
        "_type": _TYPE,
        "subject": [{"name": name, "digest": {"sha256": subjects[name]}} for name in sorted(subjects)],
        "predicateType": predicate_type,
        "predicate": dict(predicate),
    }
    try:
        written = canonical.dumps(statement)
    except (ValueError, RecursionError):
        raise DataError("TE403", why="its statement cannot be written as JSON") from None
    read(written, predicate_type)
    return written


def read(data: bytes, predicate_type: str, *, place: str = "") -> Statement:
    """Read a statement whose predicate claims to be of `predicate_type`; `DataError` TE403 if malformed."""

    def fail(why: str) -> DataError:
        return DataError("TE403", place=place, why=f"in its statement, {why}")

    names = ("_type", "subject", "predicateType", "predicate")
    record = dsse.fields(dsse.load(data, MAX_BYTES, fail), names, fail)
    if dsse.text(record, "_type", fail) != _TYPE:
        raise fail(f"_type is not {_TYPE}")
    if dsse.text(record, "predicateType", fail) != predicate_type:
        raise fail(f"predicateType is not {predicate_type}")
    predicate = record.get("predicate", {})
    if not isinstance(predicate, dict):
        raise fail("the predicate is not an object")
    return Statement(_subjects(record.get("subject"), fail), predicate_type, predicate)


def _subjects(value: object, fail: wire.Fail) -> dict[str, str]:
    """Return hex SHA-256 by name: every subject has a name of its own, and exactly that digest."""
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_SUBJECTS:
        raise fail(f"there are not 1 to {MAX_SUBJECTS} subjects")
    subjects: dict[str, str] = {}
    for each in value:
        subject = dsse.fields(each, ("name", "digest"), fail)
        name = dsse.text(subject, "name", fail)
        if not name or neutralise(name) != name:
            raise fail("a subject's name is empty or holds hidden characters")
        if name in subjects:
            raise fail("two subjects have one name")
        digest = subject.get("digest")
        if not isinstance(digest, dict) or digest.keys() != {"sha256"}:
            raise fail("a subject has other digests than one SHA-256")
        subjects[name] = dsse.text(digest, "sha256", fail)
        if not _SHA256.fullmatch(subjects[name]):
            raise fail("a SHA-256 is not 64 digits of lower-case hex")
    return subjects
