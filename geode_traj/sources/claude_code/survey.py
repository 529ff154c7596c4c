"""A first look at a whole file, for what a row cannot tell by itself.

That is: whether the conversation was rewound past it, whether more lines of its response follow, and which
sub-agent a call started. While looking, about 100 bytes a row are kept, afterwards about 6.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

from geode_traj.sources.claude_code.sessions import Sessions
from geode_traj.sources.claude_code.spawns import Spawns
from geode_traj.sources.lines import LineFlags, glances

PROMPT: Final = 1
ASSISTANT: Final = 2
MESSAGE: Final = 4
ON_PATH: Final = 8
ABANDONED: Final = 16
LEAF: Final = 32
LAST: Final = 64
DANGLING: Final = 128
# Once the tree is known, these say what the first three said while it was not.
ACTIVE: Final = 1
REPEATED: Final = 2


def is_prompt(row: dict[str, Any]) -> bool:
    """Tell whether a user row is what a person said: no tool's result, no text of the harness, no summary."""
    if row.get("isMeta") is True or row.get("isCompactSummary") or row.get("isVisibleInTranscriptOnly"):
        return False
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        return not any(isinstance(block, dict) and block.get("type") == "tool_result" for block in content)
    return True


def reply_key(message: Any, row: dict[str, Any]) -> str:
    """Return what the lines of one model response share: message id and request id; "" where it has none."""
    own = message.get("id") if isinstance(message, dict) else None
    if not isinstance(own, str) or not own:
        return ""
    request = row.get("requestId")
    return f"{own}:{request}" if isinstance(request, str) and request else own


@dataclass(slots=True)
class Survey(LineFlags):
    """What `survey` found; `at` is asked for each row in file order."""

    first_session: str = ""
    spawns: Spawns = field(default_factory=Spawns)
    has_main: bool = False


def look(stream: BinaryIO, size: int, default_session: str) -> Looking:
    """Look at the rows of a file's first `size` bytes; damaged lines are left out."""
    looking = Looking(default_session)
    for number, row in glances(stream, size):
        looking.row(number, row)
    return looking


class Looking:
    """Feeds on rows in file order; ids are kept as their hashes."""

    def __init__(self, default_session: str) -> None:
        self._found = Survey()
        self._sessions = Sessions(default_session)
        self._index: dict[int, int] = {}
        self._parents = array("i")
        self._replies = array("q")

    def row(self, number: int, row: dict[str, Any]) -> None:
        """Take the next row."""
        found, kind = self._found, row.get("type")
        session = self._sessions.of(row)
        if not found.first_session and row.get("sessionId") == self._sessions.main:
            found.first_session = self._sessions.main
        message = row.get("message")
        flags = 0
        if kind == "assistant":
            flags = ASSISTANT | MESSAGE
        elif kind == "user":
            flags = MESSAGE | (PROMPT if is_prompt(row) else 0)
        if flags:
            found.spawns.row(session, self._sessions.main, row, message)
            found.has_main |= session == self._sessions.main
        uuid = row.get("uuid")
        key = reply_key(message, row) if kind == "assistant" else ""
        if isinstance(uuid, str):
            self._place(number, row, uuid, flags, key)
        elif key:
            self._append(number, flags, -1, key)

    def _append(self, number: int, flags: int, parent: int, key: str) -> None:
        self._found.numbers.append(number)
        self._found.flags.append(flags)
        self._parents.append(parent)
        self._replies.append(hash(key) if key else 0)

    def _place(self, number: int, row: dict[str, Any], uuid: str, flags: int, key: str) -> None:
        """Put a row into the tree, below a row that stands before it; else it is a root."""
        parent = row.get("parentUuid")
        if parent is None and row.get("subtype") == "compact_boundary":
            parent = row.get("logicalParentUuid")
        above = -1
        if isinstance(parent, str):
            above = self._index.get(hash(parent), -1)
            flags |= DANGLING if above < 0 else 0
        index, own = len(self._parents), hash(uuid)
        if own in self._index:  # the same record once more: no second branch
            self._append(number, 0, -2 - self._index[own], key)
            return
        self._index[own] = index
        self._append(number, flags, above, key)

    @property
    def first_session(self) -> str:
        """The first session that a row names, "" for none."""
        return self._found.first_session

    def done(self, started: Callable[[], dict[str, str]] = dict) -> Survey:
        """Return what was found, the tree made out; for `started` see `Spawns.settle`."""
        self._index.clear()
        self._last_lines()
        self._walk()
        self._found.spawns.settle(started)
        return self._found

    def _last_lines(self) -> None:
        """Mark the last line of each response."""
        seen: set[int] = set()
        flags = self._found.flags
        for i in range(len(flags) - 1, -1, -1):
            reply = self._replies[i]
            if reply and reply not in seen:
                seen.add(reply)
                flags[i] |= LAST

    def _walk(self) -> None:
        """Tell branches apart: of each tree, the path to its last message is the one that went on.

        A row beside that path was abandoned when a person's message or another response starts there, or
        stands above it. Others (results of parallel calls, attachments) only hang beside the path.
        """
        flags, parents, replies = self._found.flags, self._parents, self._replies
        count = len(parents)
        roots = array("i", bytes(4 * count))
        for i, parent in enumerate(parents):
            roots[i] = i if parent < 0 else roots[parent]
        ended = bytearray(count)
        for i in range(count - 1, -1, -1):
            if flags[i] & MESSAGE and not ended[roots[i]]:
                ended[roots[i]] = 1
                flags[i] |= LEAF | ON_PATH
            if flags[i] & ON_PATH and parents[i] >= 0:
                flags[parents[i]] |= ON_PATH
        rewound = bytearray(count)
        for i, parent in enumerate(parents):
            if parent < 0 or flags[i] & ON_PATH:
                continue
            if (
                flags[parent] & ABANDONED
                or flags[i] & PROMPT
                or (flags[i] & ASSISTANT and replies[i] != replies[parent] and not flags[parent] & ASSISTANT)
            ):
                flags[i] |= ABANDONED
                rewound[roots[i]] = 1
        for i, parent in enumerate(parents):
            own = flags[i] & (ABANDONED | LEAF | LAST | DANGLING)
            if parent <= -2:
                first = -2 - parent
                own = (flags[first] & (ACTIVE | ABANDONED)) | (flags[i] & LAST) | REPEATED
            elif not rewound[roots[i]]:
                own &= ~LEAF
            elif not own & ABANDONED:
                own |= ACTIVE
            else:
                own &= ~LEAF
            flags[i] = own
