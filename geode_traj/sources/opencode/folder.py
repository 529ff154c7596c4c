"""The folders of JSON files in which earlier versions kept sessions, in both of their layouts.

`session/<project>/<session>.json`, `message/<session>/<message>.json`, `part/<message>/<part>.json`; before
that `session/info/<session>.json`, `session/message/…` and `session/part/<session>/<message>/<part>.json`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from geode_traj.codec.files import reading
from geode_traj.codec.jsonl import MAX_LINE
from geode_traj.codec.reading import Tolerated, tolerant
from geode_traj.errors import TrajError
from geode_traj.sources.base import file_text
from geode_traj.sources.opencode.reader import first_time
from geode_traj.sources.opencode.record import Record, damaged, joined, object_of

_LOOKED_AT: Final = 8


@dataclass(frozen=True, slots=True)
class Folder:
    """One storage folder: where it keeps what."""

    root: Path
    heads: Path
    messages: Path
    parts: Path
    nested: bool

    @classmethod
    def open(cls, root: Path) -> Folder | None:
        """Return a folder that holds sessions, None for any other, told by what its first messages are."""
        new = cls(root, root / "session", root / "message", root / "part", False)
        old = cls(root, root / "session/info", root / "session/message", root / "session/part", True)
        for folder in (new, old):
            below = folder.heads.is_dir() or folder.parts.is_dir()
            if below and folder.messages.is_dir() and folder._is_told():
                return folder
        return None

    def sessions(self) -> dict[str, Path | None]:
        """Return the file that each session has of its own, None where only messages are left."""
        found: dict[str, Path | None] = {file_text(one.name): None for one in _folders(self.messages)}
        for folder in [self.heads] if self.nested else _folders(self.heads):
            found |= {file_text(path.stem): path for path in _files(folder)}
        return dict(sorted(found.items()))

    def records(self, key: str, index: Index) -> Iterator[Record]:
        """Yield a session's records: itself, its messages in order, what stands beside them."""
        path = index.files.get(key)
        if path is not None:
            read = object_of(_bytes(path))
            if isinstance(read, str):
                yield damaged(key, read, _bytes(path))
            else:
                children = index.children.get(key, [])
                yield Record("session", key, joined_head(read), {"children": children} if children else {})
        for path in self._ordered(self.messages / key):
            yield from self._message(key, path)
        for kind in ("todo", "session_diff"):
            path = self.root / kind / f"{key}.json"
            if path.is_file():
                yield _document(kind, key, path)

    def _message(self, session: str, path: Path) -> Iterator[Record]:
        key = file_text(path.stem)
        below = self.parts / session / path.stem if self.nested else self.parts / path.stem
        parts, broken = [], []
        for one in _files(below):
            data = _bytes(one)
            read = object_of(data)
            if isinstance(read, str):
                broken.append(damaged(file_text(one.stem), read, data))
            else:
                parts.append(read)
        data = _bytes(path)
        read = object_of(data)
        if isinstance(read, str):
            yield damaged(key, read, data)
            if parts:
                yield Record("parts", key, joined(Tolerated({"id": key}), parts))
        else:
            yield Record("message", key, joined(read, parts))
        yield from broken

    def _ordered(self, folder: Path) -> list[Path]:
        """Return messages by their time, then by name; those without a readable time by name alone."""
        return sorted(_files(folder), key=lambda path: (_began(path), path.name))

    def _is_told(self) -> bool:
        seen = 0
        for folder in _folders(self.messages):
            for path in _files(folder)[:_LOOKED_AT]:
                seen += 1
                try:
                    read = object_of(_bytes(path))
                except TrajError:
                    read = ""
                if not isinstance(read, str) and {"id", "role"} <= read.value.keys():
                    return "sessionID" in read.value or "metadata" in read.value or "time" in read.value
                if seen >= _LOOKED_AT:
                    return False
        return False


@dataclass(frozen=True, slots=True)
class Index:
    """What a folder holds: the file of each session, and of each the sessions that name it as theirs."""

    files: dict[str, Path | None]
    children: dict[str, list[dict[str, Any]]]


def index(folder: Folder) -> Index:
    """Look through a folder once for all its sessions."""
    files = folder.sessions()
    children: dict[str, list[dict[str, Any]]] = {}
    for key, path in files.items():
        read = object_of(_bytes(path)) if path is not None else ""
        parent = None if isinstance(read, str) else read.value.get("parentID")
        if isinstance(parent, str) and not isinstance(read, str):
            child = {"id": key, "title": read.value.get("title"), "time_created": _created(read.value)}
            children.setdefault(parent, []).append(child)
    return Index(files, children)


def joined_head(read: Tolerated) -> Tolerated:
    """Return the head of a session as a record's value."""
    return Tolerated(
        {"info": read.value},
        [f"/info{one}" for one in read.escaped],
        [f"/info{one}" for one in read.nonfinite],
        {f"/info{one}": old for one, old in read.duplicates.items()},
    )


def _document(kind: str, key: str, path: Path) -> Record:
    """Return a file that holds any JSON value."""
    data = _bytes(path)
    try:
        return Record(kind, key, joined_head(tolerant(data)))
    except (ValueError, RecursionError):
        return damaged(key, "not_json", data)


def _began(path: Path) -> float:
    read = object_of(_bytes(path))
    time = None if isinstance(read, str) else first_time(read.value)
    return time if time is not None else float("inf")


def _created(head: dict[str, Any]) -> Any:
    return head["time"].get("created") if isinstance(head.get("time"), dict) else None


def _bytes(path: Path) -> bytes:
    with reading(path) as stream:
        return stream.read(MAX_LINE + 1)


def _folders(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(one for one in folder.iterdir() if one.is_dir() and not one.is_symlink())


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir() or folder.is_symlink():
        return []
    found = (one for one in folder.iterdir() if one.suffix == ".json")
    return sorted(one for one in found if one.is_file() and not one.is_symlink())
