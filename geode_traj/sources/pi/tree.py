"""A first look at a whole file: which entries lie on the branch that went on, and which were abandoned.

While looking, an id and about 20 bytes an entry are kept, afterwards 9 bytes.
"""

from __future__ import annotations

from array import array
from typing import Any, BinaryIO, Final

from geode_traj.sources.lines import LineFlags, glances
from geode_traj.sources.pi.known import is_header

ACTIVE: Final = 1
ABANDONED: Final = 2
LEAF: Final = 4
DANGLING: Final = 8
KEPT_LOST: Final = 16
_MESSAGE: Final = 32
_PLACED: Final = 64
_ON_PATH: Final = 128


def survey(stream: BinaryIO, size: int) -> LineFlags:
    """Look at the entries of a file's first `size` bytes; damaged lines are left out."""
    looking = _Looking()
    for number, row in glances(stream, size):
        looking.row(number, row)
    looking.settle()
    return looking.tree


class _Looking:
    """Feeds on rows in file order; the head of another session begins another tree."""

    def __init__(self) -> None:
        self.tree = LineFlags()
        self._parents = array("q")
        self._index: dict[str, int] = {}
        self._start = 0
        self._session = ""

    def row(self, number: int, row: dict[str, Any]) -> None:
        if is_header(row):
            if row["id"] != self._session:
                self.settle()
            self._session = row["id"]
            return
        own = row.get("id")
        if not isinstance(own, str) or own in self._index:  # the same entry once more: no second branch
            return
        count, above = len(self._parents), -1
        parent = row.get("parentId")
        flags = _PLACED if "parentId" in row else 0
        if isinstance(parent, str):
            above = self._index.get(parent, -2)
        if above == -2:
            flags |= DANGLING
        if (above == -2 or not flags & _PLACED) and count > self._start:
            above = count - 1  # what it hangs on is lost, or untold: the entry before it stands for that
        if row.get("type") == "message":
            flags |= _MESSAGE
        kept = row.get("firstKeptEntryId")
        if row.get("type") == "compaction" and isinstance(kept, str) and kept not in self._index:
            flags |= KEPT_LOST
        self._index[own] = count
        self._parents.append(max(above, -1))
        self.tree.numbers.append(number)
        self.tree.flags.append(flags)

    def settle(self) -> None:
        """Tell the branches of the tree so far apart: the path to its last entry is the one that went on.

        What only hangs beside that path, no message in it, was not abandoned.
        """
        flags, parents, start, end = self.tree.flags, self._parents, self._start, len(self._parents)
        self._start = end
        self._index.clear()
        leaf = next((i for i in range(end - 1, start - 1, -1) if flags[i] & _PLACED), -1)
        at = leaf
        while at >= start:
            flags[at] |= _ON_PATH
            at = parents[at]
        for i in range(end - 1, start - 1, -1):  # a branch talks when anything on it does
            if flags[i] & _MESSAGE and not flags[i] & _ON_PATH and parents[i] >= 0:
                flags[parents[i]] |= _MESSAGE
        branched = False
        for i in range(start, end):
            beside = not flags[i] & _ON_PATH
            above = flags[parents[i]] if parents[i] >= 0 else 0
            if beside and leaf >= 0 and (flags[i] & _MESSAGE or above & ABANDONED):
                flags[i] |= ABANDONED
                branched = True
        for i in range(start, end):
            own = flags[i] & (ABANDONED | DANGLING | KEPT_LOST)
            if branched and flags[i] & _ON_PATH:
                own |= ACTIVE | (LEAF if i == leaf else 0)
            flags[i] = own
