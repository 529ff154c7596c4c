"""The start of a review: candidates are copied, verified and searched, and the folder appears when all are.

Searching takes the time that a review takes of a machine, so it can be interrupted at any moment: what was
done stands in a folder beside the new one, and the same call goes on from there. It gives the same findings
for any number of processes, and whether it was interrupted or not.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from geode_traj import __version__
from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import (
    CHUNK,
    read_bounded,
    reading,
    sha256_bytes,
    sha256_file,
    sync_folder,
    write_new,
)
from geode_traj.codec.framed import read
from geode_traj.contract import review_folder
from geode_traj.contract.policy import Policy
from geode_traj.contract.publish import KEY_BYTES
from geode_traj.contract.release import path_fault
from geode_traj.errors import DataError, TrajError, WorldError
from geode_traj.jobs.scan_known import learned
from geode_traj.jobs.scan_parts import Label, Part
from geode_traj.jobs.scan_streams import merged, scan_streams
from geode_traj.jobs.scan_workers import Unit
from geode_traj.review.folder import Begun, Candidate, Found, Refused, write_findings
from geode_traj.review.journal import Journal
from geode_traj.review.redact import public_name
from geode_traj.scan.engine import Scanner
from geode_traj.scan.finding import ScanFinding
from geode_traj.verify import verify_path

_SEARCHED: Final = "searched"
_INPUTS: Final = "inputs.json"
_UNIT: Final = 1 << 16
_MAX_PART: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Started:
    """What a review began with: how many candidates, what was refused and why, how many findings."""

    folder: Path
    candidates: int
    refused: tuple[Refused, ...]
    findings: int


@dataclass(slots=True)
class _Input:
    """One file on its way into a review."""

    source: Path
    name: str
    sha256: str | None
    why: str = ""
    events: int = 0
    found: list[dict[str, Any]] = field(default_factory=list)


def start(
    paths: Sequence[Path],
    out: Path,
    *,
    policy: Policy,
    scanner: Scanner,
    at: str,
    sensitive: Iterable[str] = (),
    key: bytes | None = None,
    jobs: int = 1,
) -> Started:
    """Begin a review of trajectories in the new folder `out`; `at` is the time, UTC to the second.

    `scanner` looks for what it was set up for, and for the names that the candidates hold. `key` is the
    private key of this review: of its journal, of all keyed digests, and of the values that the policy lets
    pass; a new one where none is given. A file that is invalid, unreadable, or of which a part cannot be
    scanned is refused: it is told, stays out, and a release counts it.

    Raises `WorldError` TE102 for a path that is not there, TE104 where nothing was given, TE501 where the
    same review is being started, TE601 where `out` exists; `DataError` TE310 for a name that comes twice,
    TE314 for one that no release can hold, and why the first is refused where all are (`refusal`).
    """
    if os.path.lexists(out):
        raise WorldError("TE601", path=out.name, place=str(out))
    with _part_folder(out) as folder:
        given = _given(paths)
        key = _prepared(folder, given, policy, scanner, key)
        inputs = [_taken(folder, path, key, scanner, policy) for path in given]
        _refuse_twins(inputs)
        whole = [one for one in inputs if not one.why]
        knowing = _learned(folder, whole, scanner, jobs)
        whole = [one for one in whole if not one.why]
        _search(folder, whole, knowing, key, jobs)
        if all(one.why for one in inputs):
            raise refusal(inputs[0].why, inputs[0].source)
        findings = _findings(whole, policy)
        begun = _begin(folder, key, inputs, findings, policy, knowing, sensitive)
        write_new(folder / review_folder.BEGUN, [dumps(begun.to_json()), b"\n"], mode=0o600, force=True)
        digest = sha256_file(folder / review_folder.BEGUN)[0]
        for name in (review_folder.JOURNAL, review_folder.HEAD):
            (folder / name).unlink(missing_ok=True)
        Journal.create(folder, key, at, {"review_sha256": digest, "review_id": begun.review_id})
        shutil.rmtree(folder / _SEARCHED)
        (folder / _INPUTS).unlink()
        sync_folder(folder)
        folder.rename(out)
        sync_folder(out.parent)
    return Started(out, len(begun.candidates), begun.refused, len(findings))


def refusal(why: str, path: Path) -> DataError | WorldError:
    """Return the error for a file that was refused: TE201, TE303 or TE316."""
    if why == "not-scanned":
        return DataError("TE316", why="a part of it cannot be scanned", place=str(path))
    if why == "invalid":
        return DataError("TE303", what="the trajectory", why="it does not verify", place=str(path))
    return WorldError("TE201", path=path.name, why="it is no trajectory", place=str(path))


@contextmanager
def _part_folder(out: Path) -> Iterator[Path]:
    """Open the folder in which a review is made ready, alone."""
    folder = out.with_name(f".{out.name}.part")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise WorldError("TE602", path=out.name, why=error.strerror, place=str(out)) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise WorldError("TE501", path=out.name, place=str(out)) from None
        yield folder
    except DataError:
        shutil.rmtree(folder)  # it would be refused again
        raise
    except OSError as error:
        raise WorldError("TE602", path=out.name, why=error.strerror, place=str(out)) from None
    finally:
        os.close(descriptor)


def _given(paths: Sequence[Path]) -> list[Path]:
    if not paths:
        raise WorldError("TE104")
    for path in paths:
        if not os.path.lexists(path):
            raise WorldError("TE102", path=path.name, place=str(path))
        fault = path_fault(path.name)
        if fault:
            raise DataError("TE314", what="a trajectory's file name", why=fault, place=path.name)
    return sorted(paths, key=lambda path: (path.name, str(path)))


def _prepared(folder: Path, given: list[Path], policy: Policy, scanner: Scanner, key: bytes | None) -> bytes:
    """Return the key of the review; what another call had begun for other inputs is removed."""
    path = folder / review_folder.KEY
    if key is None:
        key = _old_key(path) or secrets.token_bytes(KEY_BYTES)
    if len(key) < KEY_BYTES:
        raise DataError("TE311", why=f"it has fewer than {KEY_BYTES} bytes")
    asked = {
        "key": _named(key, b"key"),
        "files": [[one.name, _digest(one)] for one in given],
        "policy": policy.digest,
        "ruleset": scanner.ruleset.digest,
        "engines": scanner.engines,
        "sensitive": sorted(scanner.sensitive_keys),
        # What the caller's own secrets are is nobody's to read here.
        "known": [_named(key, b"known " + value.encode()) for value in sorted(scanner.known.values)],
    }
    data = dumps(asked)
    inputs = folder / _INPUTS
    for left in folder.rglob(".geode-traj-*.tmp"):
        left.unlink()  # half a file, of a call that was killed
    if not inputs.is_file() or read_bounded(inputs, _MAX_PART) != data:
        for entry in folder.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        write_new(path, [key.hex().encode(), b"\n"], mode=0o600)
        write_new(inputs, [data], mode=0o600)
    for name in (review_folder.CANDIDATE, _SEARCHED):
        (folder / name).mkdir(mode=0o700, exist_ok=True)
    return key


def _old_key(path: Path) -> bytes | None:
    """Return the key of a start that was interrupted."""
    try:
        return review_folder.key_of(read_bounded(path, review_folder.MAX_KEY_FILE), place=str(path))
    except TrajError:
        return None


def _named(key: bytes, what: bytes) -> str:
    """Return what tells one thing from another, and nothing else of it."""
    return hmac.digest(key, b"geode-traj review 1 " + what, hashlib.sha256).hex()


def _digest(path: Path) -> str | None:
    try:
        return sha256_file(path)[0]
    except TrajError:
        return None


def _taken(folder: Path, source: Path, key: bytes, scanner: Scanner, policy: Policy) -> _Input:
    """Copy and verify a file, unless that was done."""
    name = public_name(source.name, scanner, key, policy)
    target = folder / review_folder.CANDIDATE / name
    try:
        if not target.is_file():
            with reading(source) as stream:
                write_new(target, iter(lambda: stream.read(CHUNK), b""), mode=0o600)
        one = _Input(source, name, sha256_file(target)[0])
    except TrajError as error:
        if error.code == "TE602":
            raise
        return _Input(source, name, None, "unreadable")
    verified = verify_path(target, name=name)
    if verified.verdict not in ("valid", "incomplete"):
        one.why = "unreadable" if verified.verdict == "unreadable" else "invalid"
    return one


def _refuse_twins(inputs: Sequence[_Input]) -> None:
    seen: set[str] = set()
    for one in inputs:
        if one.name.casefold() in seen:
            raise DataError("TE310", what="a trajectory's file name", place=one.source.name)
        seen.add(one.name.casefold())


def _learned(folder: Path, inputs: Sequence[_Input], scanner: Scanner, jobs: int) -> Scanner:
    """Return a scanner that knows the names of users and hosts in all candidates."""
    knowing, missed = learned(_units(folder, inputs), scanner, jobs)
    for owner, _ in missed:
        inputs[owner].why = "not-scanned"
    return knowing


def _search(folder: Path, inputs: Sequence[_Input], scanner: Scanner, key: bytes, jobs: int) -> None:
    """Search what was not searched before, and keep what was found of a file once all of it was searched."""
    todo = [one for one in inputs if not (folder / _SEARCHED / one.name).is_file()]
    done = 0
    found: list[tuple[Label, ScanFinding]] = []
    for unit, result in scan_streams(_units(folder, todo), scanner, key, jobs):
        while done < unit.owner:
            _keep(folder, todo[done], found)
            done, found = done + 1, []
        found += result.findings
        if result.unscanned:
            todo[unit.owner].why = "not-scanned"
    for one in todo[done:]:
        _keep(folder, one, found)
        found = []
    for one in inputs:
        kept = json.loads(read_bounded(folder / _SEARCHED / one.name, _MAX_PART))
        one.found, one.why = kept["found"], kept["why"]


def _keep(folder: Path, one: _Input, findings: list[tuple[Label, ScanFinding]]) -> None:
    found = [
        {"label": label, **it.to_json(), "mac": f"{it.value_number:064x}"} for label, it in merged(findings)
    ]
    write_new(folder / _SEARCHED / one.name, [dumps({"found": found, "why": one.why})], mode=0o600)


def _units(folder: Path, inputs: Iterable[_Input]) -> Iterator[Unit]:
    for owner, one in enumerate(inputs):
        batch: list[Part] = []
        held = 0
        with reading(folder / review_folder.CANDIDATE / one.name) as stream:
            document = read(stream, place=one.name)
            one.events = 0
            for text in document.events:
                one.events += 1
                data = dumps(text.value) if text.data is None else text.data
                batch.append(Part(text.ordinal, data))
                held += len(data)
                if held >= _UNIT:
                    yield Unit(owner, tuple(batch))
                    batch, held = [], 0
            yield Unit(owner, (*batch, Part(None, dumps(document.head))))


def _findings(inputs: Iterable[_Input], policy: Policy) -> list[Found]:
    numbers: dict[str, int] = {}
    out: list[Found] = []
    for one in inputs:
        if one.why:
            continue
        for said in one.found:
            place = said["place"]
            cls, rule, mac = said["class"], said["rule"], said["mac"]
            allowed = policy.allowed(rule, cls, place["pointer"], mac)
            out.append(
                Found(
                    len(out) + 1,
                    one.name,
                    said["label"],
                    place["pointer"],
                    tuple(place["span"]) if "span" in place else None,
                    bool(place.get("in_key")),
                    rule,
                    cls,
                    said["band"],
                    said["view"],
                    numbers.setdefault(mac, len(numbers) + 1),
                    allowed,
                )
            )
    return out


def _begin(
    folder: Path,
    key: bytes,
    inputs: Iterable[_Input],
    findings: list[Found],
    policy: Policy,
    scanner: Scanner,
    sensitive: Iterable[str],
) -> Begun:
    """Write policy and findings, remove what was refused, and return what the review begins with."""
    candidates, refused = [], []
    for one in inputs:
        if one.why or one.sha256 is None:
            refused.append(Refused(one.name, one.sha256, one.why))
            (folder / review_folder.CANDIDATE / one.name).unlink(missing_ok=True)
        else:
            candidates.append(Candidate(one.name, one.sha256, one.events))
    asked = read_bounded(folder / _INPUTS, _MAX_PART)
    text = policy.to_toml()
    write_new(folder / review_folder.POLICY, [text], mode=0o600, force=True)
    path = folder / review_folder.FINDINGS
    write_new(path, write_findings(findings, _named(key, b"findings " + asked)), mode=0o600, force=True)
    # The same review begun again, with the same key, is the same: nothing in it is drawn but that.
    review_id = _named(key, asked)[:32]
    return Begun(
        review_id,
        tuple(candidates),
        tuple(refused),
        sha256_bytes(text),
        sha256_file(path)[0],
        scanner.ruleset.name,
        scanner.ruleset.digest,
        tuple(scanner.engines),
        tuple(sensitive),
        __version__,
    )
