"""Reading a release into facts: every file once, from one descriptor, and nothing judged.

Sizes are compared with their bounds before a byte is kept. What cannot be read is a fact too.
"""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from geode_traj.attest import dsse, sshsig
from geode_traj.attest.allowed_signers import Keyring
from geode_traj.codec import reading, schema
from geode_traj.contract.kinds import RELEASE as MANIFEST_SCHEMA
from geode_traj.contract.release import is_release_name
from geode_traj.errors import DataError, WorldError
from geode_traj.release import layout
from geode_traj.release.check import limits, tree
from geode_traj.release.check.facts import Facts, Json, Seen
from geode_traj.release.check.signed import read_signatures, read_statement
from geode_traj.release.check.watched import Watched
from geode_traj.verify import Verified, verify_stream

_BUFFER: Final = 1 << 20
_LISTS: Final = (layout.SUMS, layout.RELEASE, layout.REVIEW_RECORD, layout.DISCLOSURE)
_SUMS_LINE: Final = re.compile(rb"([0-9a-f]{64})  ([^\n\r\\]+)\n")


@contextmanager
def folder(path: Path) -> Iterator[int]:
    """Open a folder; raise `WorldError` TE201 where that fails."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise WorldError("TE201", path=path.name, why=error.strerror, place=str(path)) from None
    try:
        yield descriptor
    except OSError as error:
        raise WorldError("TE201", path=path.name, why=error.strerror, place=str(path)) from None
    finally:
        os.close(descriptor)


def read_release(path: Path, keyring: Keyring | None, expected_manifest: str | None) -> Facts:
    """Read a release folder; `WorldError` TE201 where it cannot be opened."""
    real = path.resolve()
    with folder(real) as root:
        release_id = _release_id(root, real.name)
        stands = tree.walk(root, lambda parent, name: layout.is_name(parent, name, release_id))
        prefix = f"{layout.geode_folder(release_id)}/"
        facts = _facts(root, release_id, prefix, stands, expected_manifest)
    facts.folder = real.name
    facts.keyring = keyring
    facts.release = _json(facts.seen.get(layout.RELEASE), layout.RELEASE, layout.SCHEMA)
    record, disclosure = facts.seen.get(layout.REVIEW_RECORD), facts.seen.get(layout.DISCLOSURE)
    facts.record = _json(record, layout.REVIEW_RECORD, layout.RECORD_SCHEMA)
    facts.disclosure = _json(disclosure, layout.DISCLOSURE, layout.DISCLOSURE_SCHEMA)
    published_at = facts.release.value["published_at"] if facts.release.value else None
    sums = facts.seen.get(layout.SUMS)
    if sums is not None and sums.data is not None:
        facts.sums, facts.sums_fault = _sums(sums.data)
        facts.signatures = read_signatures(facts.seen, sums.data, keyring, published_at)
    stated = facts.seen.get(layout.REVIEW_STATEMENT)
    facts.stated = read_statement(stated, facts.signatures, keyring, published_at)
    return facts


def read_geode(path: Path, expected_manifest: str | None) -> Facts:
    """Read a bare GEODE release folder, in which any name may stand; `WorldError` TE201 as above."""
    real = path.resolve()
    with folder(real) as root:
        stands = tree.walk(root, lambda _parent, _name: True)
        return _facts(root, real.name, "", stands, expected_manifest)


def _release_id(root: int, name: str) -> str:
    """Return the id by which to look at a release: its folder's name, or where it was renamed what it says.

    The id that release.json gives counts where the GEODE folder has that name. It is looked at once more with
    all else; here it only says which names to expect.
    """
    if _is_folder(root, layout.geode_folder(name)):
        return name
    try:
        with tree.opened(root, layout.RELEASE) as descriptor, os.fdopen(os.dup(descriptor), "rb") as stream:
            plain = stat.S_ISREG(os.fstat(descriptor).st_mode)  # what else stands there may never end
            value = reading.loads(stream.read(limits.MAX_LIST)) if plain else None
    except (OSError, DataError):
        return name
    given = value.get("release_id") if isinstance(value, dict) else None
    known = isinstance(given, str) and is_release_name(given)
    return str(given) if known and _is_folder(root, layout.geode_folder(str(given))) else name


def _is_folder(root: int, path: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(path, dir_fd=root, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _facts(root: int, name: str, prefix: str, stands: tree.Tree, expected: str | None) -> Facts:
    seen = {path: _see(root, path, status, prefix) for path, status in stands.files.items()}
    manifest = _json(seen.get(prefix + layout.MANIFEST), layout.MANIFEST, MANIFEST_SCHEMA)
    return Facts(name, prefix, stands, seen, manifest, expected)


def _see(root: int, path: str, stood: os.stat_result, prefix: str) -> Seen:
    bound = _bound(path, prefix)
    if bound is not None and stood.st_size > bound:
        return Seen(fault=f"it is larger than {bound} bytes")
    try:
        with tree.opened(root, path) as descriptor:
            now = os.fstat(descriptor)
            if (now.st_dev, now.st_ino, now.st_size) != (stood.st_dev, stood.st_ino, stood.st_size):
                return Seen(fault="it changed while it was looked at")
            return _read(descriptor, path, stood.st_size, keep=bound is not None, prefix=prefix)
    except OSError as error:
        return Seen(fault=error.strerror or "it cannot be read")


def _bound(path: str, prefix: str) -> int | None:
    """Return the size up to which a file is kept whole, None for one that is only streamed."""
    if layout.signature_role(path) is not None:
        return sshsig.MAX_ARMORED
    if path == layout.REVIEW_STATEMENT:
        return dsse.MAX_BYTES
    return limits.MAX_LIST if path in (*_LISTS, prefix + layout.MANIFEST) else None


def _read(descriptor: int, path: str, size: int, *, keep: bool, prefix: str) -> Seen:
    raw = Watched(descriptor)
    stream = io.BufferedReader(raw, _BUFFER)
    data: bytes | None = None
    verified: Verified | None = None
    if keep:
        data = stream.read(size + 1)
    elif path.startswith(prefix) and path.endswith(".json"):
        verified = verify_stream(stream, name=path.removeprefix(prefix), sha256="", size=size)
    stream.detach()
    raw.drain()
    if raw.size != size:
        return Seen(fault="it changed while it was looked at")
    if verified is not None:
        verified = replace(verified, sha256=raw.digest)
    return Seen(raw.size, raw.digest, raw.hits, data, verified)


def _json(seen: Seen | None, place: str, name: str) -> Json:
    if seen is None or seen.data is None:
        return Json()
    try:
        value = reading.loads(seen.data, place=place)
    except DataError as error:
        return Json(fault=error)
    problems = schema.problems(name, value)
    return Json(problems=problems) if problems else Json(value)


def _sums(data: bytes) -> tuple[list[tuple[str, str]] | None, str | None]:
    """Return the (sha256, path) lines of SHA256SUMS, or what is wrong with it."""
    lines: list[tuple[str, str]] = []
    at = 0
    while at < len(data):
        match = _SUMS_LINE.match(data, at)
        if match is None:
            return None, f"line {len(lines) + 1} is not a digest, two spaces and a name"
        try:
            lines.append((match[1].decode(), match[2].decode()))
        except UnicodeDecodeError:
            return None, f"line {len(lines) + 1} is not UTF-8"
        at = match.end()
    paths = [path for _, path in lines]
    if paths != sorted(set(paths)):
        return None, "its names are not sorted, each once"
    return lines, None
