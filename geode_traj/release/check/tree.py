"""What stands in a folder, without following or opening anything but folders.

Every name is judged before it is used, and every folder is opened below an open one with `O_NOFOLLOW`, so a
link put in place meanwhile leads nowhere.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from geode_traj.release.check import limits

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A FIFO that took a file's place would block without O_NONBLOCK.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_KINDS: Final = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)

Names = Callable[[str, str], bool]
"""Whether (folder path, name) may stand there."""


@dataclass(slots=True)
class Tree:
    """One folder as it stood: paths relative to it, `/` between names.

    `files` holds the regular files whose names are allowed; `misnamed` was not opened; `special` says what
    else than a file or folder stands there. `excess` names the bound that was passed, where the walk ended.
    """

    files: dict[str, os.stat_result] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    misnamed: list[str] = field(default_factory=list)
    special: dict[str, str] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)
    excess: str | None = None

    def holds(self, path: str) -> bool:
        """Tell whether anything stands at `path`, whatever it is."""
        return path in self.files or path in self.special or path in self.unreadable


class _Excess(Exception):
    """A bound was passed: the walk ends."""


def walk(root: int, allowed: Names) -> Tree:
    """Return what stands below the open folder `root`, in the order of names."""
    tree = Tree()
    try:
        _Walk(tree, allowed).folder(root, "", 0)
    except _Excess as error:
        tree.excess = str(error)
    return tree


class _Walk:
    """One walk: what was seen, and how much of it."""

    def __init__(self, tree: Tree, allowed: Names) -> None:
        self._tree = tree
        self._allowed = allowed
        self._entries = 0
        self._total = 0

    def folder(self, descriptor: int, path: str, depth: int) -> None:
        if depth > limits.MAX_DEPTH:
            raise _Excess(f"folders stand deeper than {limits.MAX_DEPTH}")
        names = self._names(descriptor)
        if not names and path:
            self._tree.empty.append(path)
        for name in names:
            below = f"{path}/{name}" if path else name
            if self._allowed(path, name):
                self._entry(descriptor, name, below, depth)
            else:
                self._tree.misnamed.append(below)

    def _names(self, descriptor: int) -> list[str]:
        names = []
        with os.scandir(descriptor) as entries:
            for entry in entries:
                self._entries += 1
                if self._entries > limits.MAX_ENTRIES:
                    raise _Excess(f"more than {limits.MAX_ENTRIES} files and folders")
                names.append(entry.name)
        return sorted(names)

    def _entry(self, descriptor: int, name: str, path: str, depth: int) -> None:
        try:
            status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                self._file(path, status)
            elif stat.S_ISDIR(status.st_mode):
                self._tree.folders.append(path)
                below = os.open(name, _FOLDER, dir_fd=descriptor)
                try:
                    self.folder(below, path, depth + 1)
                finally:
                    os.close(below)
            else:
                known = (text for is_kind, text in _KINDS if is_kind(status.st_mode))
                self._tree.special[path] = next(known, "neither a file nor a folder")
        except OSError as error:
            self._tree.unreadable[path] = error.strerror or "it cannot be read"

    def _file(self, path: str, status: os.stat_result) -> None:
        self._total += status.st_size
        if self._total > limits.MAX_TOTAL:
            raise _Excess(f"more than {limits.MAX_TOTAL} bytes")
        self._tree.files[path] = status


@contextmanager
def opened(root: int, path: str) -> Iterator[int]:
    """Open a regular file below `root`, no link on the way followed; raise `OSError` where that fails."""
    *folders, name = path.split("/")
    at = os.dup(root)
    try:
        for folder in folders:
            below = os.open(folder, _FOLDER, dir_fd=at)
            os.close(at)
            at = below
        descriptor = os.open(name, _FILE, dir_fd=at)
    finally:
        os.close(at)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
