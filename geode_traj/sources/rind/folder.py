"""The files of a Rind session folder: which there are, their digest, where their rows stand."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import reading, sha256_bytes, sha256_file
from geode_traj.codec.jsonl import MAX_LINE, Line, lines
from geode_traj.codec.reading import Tolerated, tolerant
from geode_traj.errors import DataError, TrajError
from geode_traj.model.event import Item
from geode_traj.sources.base import HEAD_BYTES, Input, Probe, file_text
from geode_traj.sources.lines import JsonLines
from geode_traj.sources.values import iso_time

META: Final = "meta.json"
PLAN: Final = "plan.json"
MESSAGES: Final = "messages.jsonl"
JOURNALS: Final = (MESSAGES, "tool_calls.jsonl", "compactions.jsonl", "tasks.jsonl")
ATTACHMENTS: Final = "attachments"
OUTPUTS: Final = "tool-output"
TRACES: Final = "_llm_trace"
_VERSION: Final = "2.0"
_PICTURE: Final = re.compile(r"[0-9a-f]{64}\.(?:png|jpg)", re.ASCII)

Take = Callable[[Line, str, Tolerated], Iterable[Item]]


def is_session(folder: Path) -> bool:
    """Tell by content whether a folder is a session of Rind's.

    Where `meta.json` is damaged the messages decide: the rest must not be lost with it.
    """
    try:
        if not (folder / META).is_file() or not (folder / MESSAGES).is_file():
            return False
        meta = document(folder / META)
        if meta is not None:
            return isinstance(meta.value, dict) and meta.value.get("schema_version") == _VERSION
        with reading(folder / MESSAGES) as stream:
            rows = list(Probe(stream.read(HEAD_BYTES), b"").objects(4))
    except (OSError, TrajError):
        return False
    return bool(rows) and all({"id", "ts", "role", "content"} <= row.keys() for row in rows)


def document(path: Path) -> Tolerated | None:
    """Read a JSON file of at most one line's limit; None where it is none."""
    with reading(path) as stream:
        data = stream.read(MAX_LINE + 1)
    try:
        return tolerant(data.removeprefix(b"\xef\xbb\xbf")) if len(data) <= MAX_LINE else None
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class Folder:
    """One session folder; names of its files are relative, with `/`."""

    path: Path
    session_id: str

    @classmethod
    def open(cls, path: Path) -> Folder:
        """Return the folder under the id its head gives, else under its own name."""
        read = document(path / META)
        meta = read.value if read else None
        own = meta.get("session_id") if isinstance(meta, dict) else None
        return cls(path, own if isinstance(own, str) and own else file_text(path.absolute().name))

    def has(self, name: str) -> bool:
        """Tell whether the folder has that regular file."""
        return (self.path / name).is_file()

    def count(self) -> int:
        """Count the session's records: lines of its journals, and its documents."""
        documents = sum(self.has(name) for name in (META, PLAN))
        return documents + sum(self.lines(name) for name in JOURNALS if self.has(name))

    def lines(self, name: str) -> int:
        """Count the physical lines of a file, a last one without line end included."""
        with reading(self.path / name) as stream:
            return sum(1 for _ in lines(stream))

    def first_time(self) -> float | None:
        """Return when the session was created, else the first readable time of its messages."""
        read = document(self.path / META)
        created = iso_time(read.value.get("created_at"))[0] if read and isinstance(read.value, dict) else None
        if created is not None:
            return created
        with reading(self.path / MESSAGES) as stream:
            for row in Probe(stream.read(HEAD_BYTES), b"").objects():
                seconds = iso_time(row.get("ts"))[0]
                if seconds is not None:
                    return seconds
        return None

    def digest(self) -> str:
        """Return the digest of the session: of its files' digests, outputs that expire left out."""
        names = [name for name in (META, PLAN, *JOURNALS) if self.has(name)]
        names += [f"{ATTACHMENTS}/{name}" for name in self.pictures()]
        files = {name: sha256_file(self.path / name)[0] for name in names}
        return sha256_bytes(dumps({"session": self.session_id, "files": files}))

    def part_digest(self, name: str) -> str:
        """Return the digest of one file as a part of this session."""
        return sha256_bytes(dumps([self.session_id, name, sha256_file(self.path / name)[0]]))

    def pictures(self) -> list[str]:
        """Return the names of attached images."""
        return sorted(name for name in self._names(ATTACHMENTS) if _PICTURE.fullmatch(name))

    def outputs(self) -> list[str]:
        """Return the files that hold long outputs."""
        return [f"{OUTPUTS}/{name}" for name in self._names(OUTPUTS)]

    def traces(self) -> list[str]:
        """Return the raw traces of model calls."""
        return [f"{TRACES}/{name}" for name in self._names(TRACES) if name.endswith(".jsonl")]

    def is_trace(self, part: str) -> bool:
        """Tell a raw trace from an output."""
        return part.startswith(f"{TRACES}/")

    def unit(self, part: str) -> str:
        """Return the unit key of a part: it can be no other session's id, which holds no slash."""
        return f"{self.session_id}/{part}"

    def part(self, unit: str) -> str | None:
        """Return the file that a unit key names, None for the session itself."""
        if unit == self.session_id:
            return None
        for name in (*self.outputs(), *self.traces()):
            if unit == self.unit(name):
                return name
        raise DataError("TE207", place=str(self.path))

    def _names(self, below: str) -> list[str]:
        """Return the regular files below a folder, links not followed, lock files left out."""
        found = []
        for where, folders, names in os.walk(self.path / below):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            inside = Path(where).relative_to(self.path / below)
            for name in names:
                path = Path(where, name)
                if not name.endswith(".lock") and path.is_file() and not path.is_symlink():
                    found.append((inside / name).as_posix())
        return sorted(found, key=os.fsencode)


class _Rows(JsonLines):
    """Lines of one journal, each row handed to a function."""

    def __init__(self, take: Take) -> None:
        self._take = take

    def time_of(self, row: dict[str, Any]) -> float | None:
        return None

    def reader(self, given: Input) -> _Rows:
        return self

    def rows(self, line: Line, sha256: str, read: Tolerated) -> Iterable[Item]:
        return self._take(line, sha256, read)

    def end(self) -> Iterable[Item]:
        return ()


def rows(given: Input, stream: BinaryIO, take: Take) -> Iterator[Item]:
    """Yield what each line of a journal gives: `take` is asked for rows, damage and blanks are themselves."""
    size = os.fstat(stream.fileno()).st_size
    return _Rows(take).read(replace(given, size=size), stream)
