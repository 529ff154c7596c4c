"""The journal of a review: decisions as they were made, each chained to the one before, each on disk.

`decisions.jsonl` holds one entry a line. Its `mac` is a keyed digest over the entry and the mac of the one
before: what is forged, cut out, moved or repeated no longer fits. `decisions.head` says how far the journal
had come, under the same key, so that a journal that lost its end is found, too. Whoever restores both files
together from a copy goes back in time unseen, until the sign-off names the journal's digest.

An entry is acknowledged when it is on disk, and the head after it. A last line without its end was never
acknowledged: readers leave it out, the next writer removes it.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import read_bounded, reading, write_new
from geode_traj.codec.reading import loads
from geode_traj.contract import review_folder
from geode_traj.errors import DataError, TrajError, WorldError

MAX_ENTRY: Final = 1 << 20
MAX_JOURNAL: Final = 1 << 30
_FIRST: Final = "0" * 64
_MEMBERS: Final = frozenset({"seq", "at", "kind", "body", "mac"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: its number from 1, its time (UTC, to the second), its kind, and what it says."""

    seq: int
    at: str
    kind: str
    body: Mapping[str, Any]


class Journal:
    """The journal in a review folder; `key` is the review's private key.

    Several people may have it open at once: whoever appends takes the lock, reads what the others wrote, and
    goes on from there. `torn` is the length of a last line that was never acknowledged, in bytes.
    """

    def __init__(self, folder: Path, key: bytes) -> None:
        """Read the journal; raise `DataError` TE404 where it does not hold, saying why."""
        self._folder: Final = folder
        self._path: Final = folder / review_folder.JOURNAL
        self._key: Final = _mac_key(key)
        self.entries: Final[list[Entry]] = []
        self.torn = 0
        self._last = _FIRST
        self._end = 0
        self.refresh()

    @classmethod
    def create(cls, folder: Path, key: bytes, at: str, body: Mapping[str, Any]) -> Journal:
        """Begin the journal of a new folder with an entry of kind `started`."""
        write_new(folder / review_folder.JOURNAL, [], mode=0o600)
        write_new(folder / review_folder.HEAD, [_head(_mac_key(key), 0, _FIRST)], mode=0o600)
        journal = cls(folder, key)
        journal.append(at, [("started", body)])
        return journal

    def refresh(self) -> None:
        """Read what was appended since; raise `DataError` TE404 where it does not hold."""
        # The head first: an entry that is appended in between is then newer than the head, never older.
        seq, mac = self._read_head()
        with reading(self._path) as stream:
            if os.fstat(stream.fileno()).st_size > MAX_JOURNAL:
                raise _broken("it is larger than any review needs", self._path)
            stream.seek(self._end)
            data = stream.read()
        whole = data[: data.rfind(b"\n") + 1]
        self.torn = len(data) - len(whole)
        macs = {0: _FIRST, len(self.entries): self._last}
        for line in whole.splitlines(keepends=True):
            self._take(line)
            macs[len(self.entries)] = self._last
        if seq > len(self.entries):
            why = f"it ends with entry {len(self.entries)}, and entry {seq} was written"
            raise _broken(why, self._path)
        if seq in macs and macs[seq] != mac:
            raise _broken(f"entry {seq} is not the one that was written", self._path)

    def append(self, at: str, entries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Entry]:
        """Append entries (kind, what it says), all or none, and return them once they are on disk.

        Raises `DataError` TE404 where the journal does not hold any more, TE203 for an entry over `MAX_ENTRY`
        bytes, `WorldError` TE602 where the disk refuses.
        """
        with self._locked() as descriptor:
            self.refresh()
            start, last, lines = len(self.entries), self._last, []
            for seq, (kind, body) in enumerate(entries, start=start + 1):
                said = {"seq": seq, "at": at, "kind": kind, "body": body}
                last = _mac(self._key, last, said)
                lines.append(dumps({**said, "mac": last}) + b"\n")
                if len(lines[-1]) > MAX_ENTRY:
                    raise DataError("TE203", limit=MAX_ENTRY, place=review_folder.JOURNAL)
            os.ftruncate(descriptor, self._end)
            _write(descriptor, b"".join(lines), self._end)
            self._write_head(start + len(lines), last)
            self.refresh()
            return self.entries[start:]

    def _take(self, line: bytes) -> None:
        seq = len(self.entries) + 1
        where = f"line {seq}"
        try:
            said = loads(line, place=where)
        except TrajError as error:
            raise _broken(f"{where}: {error.message}", self._path) from None
        if not isinstance(said, dict) or said.keys() != _MEMBERS or dumps(said) + b"\n" != line:
            raise _broken(f"{where} is no entry", self._path)
        mac = said.pop("mac")
        if said["seq"] != seq:
            raise _broken(f"{where} holds entry {said['seq']}, not {seq}", self._path)
        if not isinstance(mac, str) or not hmac.compare_digest(
            mac.encode("utf-8", "surrogatepass"), _mac(self._key, self._last, said).encode()
        ):
            raise _broken(f"entry {seq} was not written by this review after entry {seq - 1}", self._path)
        self.entries.append(Entry(seq, said["at"], said["kind"], said["body"]))
        self._last = mac
        self._end += len(line)

    def _read_head(self) -> tuple[int, str]:
        path = self._folder / review_folder.HEAD
        data = read_bounded(path, len(_head(b"", 0, _FIRST)))
        seq, _, rest = data.partition(b" ")
        mac = rest[:64].decode("ascii", "replace")
        if not seq.isdigit() or not hmac.compare_digest(data, _head(self._key, int(seq), mac)):
            raise _broken(f"{review_folder.HEAD} was not written by this review", path)
        return int(seq), mac

    def _write_head(self, seq: int, mac: str) -> None:
        path = self._folder / review_folder.HEAD
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        except OSError as error:
            raise WorldError("TE602", path=path.name, why=error.strerror, place=str(path)) from None
        try:
            _write(descriptor, _head(self._key, seq, mac), 0)
        finally:
            os.close(descriptor)

    @contextmanager
    def _locked(self) -> Iterator[int]:
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            why = error.strerror
            raise WorldError("TE602", path=self._path.name, why=why, place=str(self._path)) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield descriptor
        finally:
            os.close(descriptor)


def _mac_key(key: bytes) -> bytes:
    # A key of its own, so that nothing here meets what else the review's key is used for.
    return hmac.digest(key, b"geode-traj journal 1", hashlib.sha256)


def _mac(key: bytes, before: str, said: Mapping[str, Any]) -> str:
    return hmac.digest(key, before.encode() + dumps(dict(said)), hashlib.sha256).hex()


def _head(key: bytes, seq: int, mac: str) -> bytes:
    """Return the head file: always of one length, so that it is written over in one piece."""
    said = f"{seq:012d} {mac}"
    proof = hmac.digest(key, b"head " + said.encode("ascii", "replace"), hashlib.sha256).hex()
    return f"{said} {proof}\n".encode("ascii", "replace")


def _write(descriptor: int, data: bytes, offset: int) -> None:
    """Write at a place and wait for the disk; raise `WorldError` TE602 where it refuses."""
    view = memoryview(data)
    try:
        while view:
            written = os.pwrite(descriptor, view, offset)
            view, offset = view[written:], offset + written
        os.fsync(descriptor)
    except OSError as error:
        raise WorldError("TE602", path="the journal", why=error.strerror) from None


def _broken(why: str, path: Path) -> DataError:
    return DataError("TE404", why=why, place=str(path))
