"""A review folder while it is in use: what is looked at, what was found, and by which policy and rules.

    candidate/NAME     the private bytes under review, unchanged
    review.json        what was begun: the candidates and their digests, the rules, the tool
    policy.toml        the policy that holds for this review
    findings.jsonl     what was found: place, class, value number; never a value, or a digest of one
    decisions.jsonl    the journal (`review.journal`), and decisions.head
    key                the private key of this review (0600); never part of a release
    redacted/ …        what the sign-off makes (`review.sign`)

Apart from the journal nothing in it changes: its first entry binds the digests of the others.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from geode_traj.codec import schema
from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import read_bounded, reading, sha256_bytes, sha256_file
from geode_traj.codec.jsonl import lines
from geode_traj.codec.reading import loads
from geode_traj.codec.text import clip
from geode_traj.contract import policy as policies
from geode_traj.contract import review_folder
from geode_traj.contract.policy import Policy
from geode_traj.errors import DataError, WorldError
from geode_traj.review.journal import Journal

_MAX_BEGUN: Final = 256 << 20


class Found(NamedTuple):
    """One finding in a candidate: its number from 1, its file, and its place there.

    `ordinal` is that of the event, None for what stands around the events; `pointer` is inside the event or
    the document, `span` counts characters of the text there (None: the value is no text); `value`: equal
    values share a number, and it says nothing else; `allowed`: the reason for which the policy lets it pass.
    """

    id: int
    path: str
    ordinal: int | None
    pointer: str
    span: tuple[int, int] | None
    in_key: bool
    rule: str
    cls: str
    band: str
    view: str | None
    value: int
    allowed: str | None = None

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Found:
        """Return the finding that a line says; what else stands in it is left out."""
        members = {name: said["class" if name == "cls" else name] for name in cls._fields}
        span = said["span"]
        return cls(**{**members, "span": tuple(span) if span is not None else None})

    def to_json(self) -> dict[str, Any]:
        """Return the finding's line in findings.jsonl."""
        said = self._asdict()
        said["class"] = said.pop("cls")
        return said


@dataclass(frozen=True, slots=True)
class Candidate:
    """One trajectory under review: its name in the folder, the digest of its bytes, its size in events."""

    path: str
    sha256: str
    events: int


@dataclass(frozen=True, slots=True)
class Refused:
    """One file that cannot be published: its name, its digest where it was read, and why not."""

    path: str
    sha256: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Begun:
    """What `review.json` says: what a review was begun with. `review_id` tells it from every other review."""

    review_id: str
    candidates: tuple[Candidate, ...]
    refused: tuple[Refused, ...]
    policy_sha256: str
    findings_sha256: str
    ruleset: str
    ruleset_sha256: str
    engines: tuple[str, ...]
    sensitive_fields: tuple[str, ...]
    tool: str

    def to_json(self) -> dict[str, Any]:
        """Return the file's value (schema geode-traj.review@1)."""
        said = {**asdict(self), "tool": {"name": "geode-traj", "version": self.tool}}
        return {"schema_id": review_folder.BEGUN_SCHEMA, **said}


@dataclass(slots=True)
class Review:
    """An open review folder whose parts fit each other."""

    folder: Path
    key: bytes
    begun: Begun
    policy: Policy
    findings: list[Found]
    journal: Journal

    def of_path(self, path: str) -> Candidate:
        """Return a candidate by its name; `WorldError` TE105 for a name that none has."""
        for one in self.begun.candidates:
            if one.path == path:
                return one
        raise WorldError("TE105", name=clip(path, 128))


def open_review(folder: Path) -> Review:
    """Open a review folder; the candidates are not read.

    Raises `WorldError` TE101, TE102 for a folder that is no review's, TE201 where something of it is missing,
    `DataError` TE404 where its journal does not hold, TE307 where a part was changed, TE311 for a key that is
    none.
    """
    if not folder.is_dir():
        raise WorldError("TE102", path=folder.name, place=str(folder))
    if not any(map(os.path.lexists, (folder / review_folder.JOURNAL, folder / review_folder.BEGUN))):
        raise WorldError("TE101", what=clip(folder.name, 128), why="no review was begun in it")
    key = read_key(folder / review_folder.KEY)
    journal = Journal(folder, key)
    if not journal.entries or journal.entries[0].kind != "started":
        raise DataError("TE404", why="it does not begin with the start of a review", place=str(folder))
    began = journal.entries[0].body
    data = _bound(folder, review_folder.BEGUN, str(began.get("review_sha256")))
    begun = _begun(data, str(folder / review_folder.BEGUN))
    policy_data = _bound(folder, review_folder.POLICY, begun.policy_sha256)
    policy = policies.read(policy_data, place=str(folder / review_folder.POLICY))
    if sha256_file(folder / review_folder.FINDINGS)[0] != begun.findings_sha256:
        raise _changed(review_folder.FINDINGS)
    return Review(folder, key, begun, policy, list(read_findings(folder)), journal)


def read_key(path: Path) -> bytes:
    """Return the private key in a file that a review made: hex digits; `DataError` TE311 if it is none."""
    return review_folder.key_of(read_bounded(path, review_folder.MAX_KEY_FILE), place=path.name)


def write_findings(findings: Iterable[Found], salt: str) -> Iterator[bytes]:
    """Yield the lines of findings.jsonl.

    A release names the file's digest. Without the `salt` in its first line, which nobody can guess, that
    would confirm guesses at where something stood, and so at how long it was.
    """
    yield dumps({"salt": salt}) + b"\n"
    for one in findings:
        yield dumps(one.to_json()) + b"\n"


def read_findings(folder: Path) -> Iterator[Found]:
    """Yield what findings.jsonl holds; its digest was compared before."""
    with reading(folder / review_folder.FINDINGS) as stream:
        for line in islice(lines(stream), 1, None):
            yield Found.of(json.loads(line.data or b"{}"))


def require_candidates(review: Review) -> None:
    """Raise `DataError` TE307 for a candidate whose bytes are not those that were searched."""
    for one in review.begun.candidates:
        name = f"{review_folder.CANDIDATE}/{one.path}"
        if sha256_file(review.folder / name)[0] != one.sha256:
            raise _changed(name)


def _bound(folder: Path, name: str, digest: str) -> bytes:
    data = read_bounded(folder / name, _MAX_BEGUN)
    if sha256_bytes(data) != digest:
        raise _changed(name)
    return data


def _changed(name: str) -> DataError:
    return DataError("TE307", place=name, why=f"{clip(name, 128)} is not what the review began with")


def _begun(data: bytes, place: str) -> Begun:
    value = loads(data, place=place)
    problems = schema.problems(review_folder.BEGUN_SCHEMA, value)
    if problems or not isinstance(value, dict):
        where, message = problems[0] if problems else ("", "it is no object")
        raise DataError("TE307", place=place, why=f"{where} {message}")
    return Begun(
        value["review_id"],
        tuple(Candidate(**one) for one in value["candidates"]),
        tuple(Refused(**one) for one in value["refused"]),
        value["policy_sha256"],
        value["findings_sha256"],
        value["ruleset"],
        value["ruleset_sha256"],
        tuple(value["engines"]),
        tuple(value["sensitive_fields"]),
        value["tool"]["version"],
    )
