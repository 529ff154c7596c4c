"""What Hermes exports of its store: session rows with their messages, as JSON lines or one document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final

from geode_traj.codec.files import reading, sha256_bytes
from geode_traj.codec.jsonl import Line, lines
from geode_traj.codec.reading import Tolerated, tolerant
from geode_traj.errors import DataError
from geode_traj.model.event import Damaged, Item, Loss, Skipped
from geode_traj.sources.base import MAX_PROBED, Input, Probe, Source, Unit
from geode_traj.sources.document import load
from geode_traj.sources.hermes.reader import Reader
from geode_traj.sources.hermes.store import Store
from geode_traj.sources.tables import TableRow, digest

_OPENING: Final = re.compile(
    rb'\{\s{0,16}(?:"session"\s{0,16}:\s{0,16}\{\s{0,16})?"id"\s{0,16}:\s{0,16}"[^"\\]{1,256}"\s{0,16},'
)
_MISSING: Final = "no list of messages with a session's id, source and started_at"


class HermesExport(Source):
    """Reads `sessions export` (JSON lines), one session as `{session, messages}`, or a list of messages."""

    name = "hermes-export"
    mutable = True
    family = "hermes"
    reads = "Hermes session exports: rows of sessions with their messages, JSON or JSONL"
    gives_not = ("turn ids", "usage of a single response", "usage by model", "delegations in the background")

    def detect(self, probe: Probe) -> bool:
        """Match session rows that hold their messages, or message rows as the store has them."""
        head = probe.start.lstrip()
        if head[:1] == b"[":
            return all(word in head for word in (b'"session_id"', b'"role"', b'"observed"', b'"active"'))
        rows = list(probe.objects())
        matched = sum(map(_is_session, rows))
        if matched or next(probe.objects(1), None) is not None:
            return matched * 2 > len(rows)
        words = (b'"messages"', b'"started_at"', b'"source"')
        return _OPENING.match(head) is not None and all(word in head or word in probe.tail for word in words)

    def units(self, given: Input) -> Iterator[Unit]:
        """Yield one unit a session, and one without a key for lines that cannot be read."""
        damaged: list[str] = []
        blank = 0
        for line, read in _entries(given):
            if read is None:
                damaged.append(sha256_bytes(line.data or line.sha256.encode()))
                blank += _is_blank(line)
                continue
            store = _Exported(read)
            for key in store.sessions():
                state = store.state(key)
                yield Unit(key, digest(state.digests), state.total, state.first_time, -1)
        if damaged:
            yield Unit("", digest(["damaged", *damaged]), len(damaged), None)

    def items(self, given: Input) -> Iterator[Item]:
        """Yield one session's records, or the lines that cannot be read."""
        if not given.unit:
            yield from _damaged(given)
            return
        offset, length = _offsets(given.path, given.file_sha256).get(given.unit, (0, 0))
        with reading(given.path) as stream:
            stream.seek(offset)
            data = stream.read(length).removeprefix(b"\xef\xbb\xbf")
        try:
            store = _Exported(_parsed(data))
        except (ValueError, RecursionError):
            raise DataError("TE207", place=given.name) from None
        if data.startswith(b"\0"):
            yield Loss("nul_block")
        reader = Reader(store, given)
        yield from reader.items()
        if digest(reader.digests) != given.sha256:
            raise DataError("TE207", place=given.name)


def _is_session(row: Any) -> bool:
    if not isinstance(row, dict) or not isinstance(row.get("messages"), list):
        return False
    session = row.get("session", row)
    return isinstance(session, dict) and {"id", "source", "started_at"} <= session.keys()


def _session_id(row: dict[str, Any]) -> str:
    return _named(row["session"]["id"] if isinstance(row.get("session"), dict) else row["id"])


def _named(value: Any) -> str:
    """Return the name of a session; one that has none is a session all the same."""
    return "unnamed" if value is None or value == "" else str(value)


def _entries(given: Input) -> Iterator[tuple[Line, Tolerated | None]]:
    """Yield the lines of a file with what they hold, or the one document that it is.

    A line that repeats an earlier one's session is no session of its own: it comes without what it holds.
    """
    seen: set[str] = set()
    with reading(given.path) as stream:
        if not _is_lines(stream):
            stream.seek(0)
            read = load(stream, given.size, given.name)
            if not (isinstance(read.value, list) or _is_session(read.value)):
                raise DataError("TE208", name=SOURCE.name, why=_MISSING, place=given.name)
            yield Line(1, 0, given.size, b"", True), read
            return
        stream.seek(0)
        for line in lines(stream, size=given.size):
            try:
                read = _parsed(line.data or b"")
            except (ValueError, RecursionError):
                yield line, None
                continue
            own = _session_id(read.value) if _is_session(read.value) else None
            yield line, read if own is not None and own not in seen else None
            if own is not None:
                seen.add(own)


def _is_lines(stream: BinaryIO) -> bool:
    """Tell whether one of the first lines is a session: the very first may be damaged."""
    for line in islice(lines(stream), MAX_PROBED):
        with suppress(ValueError, RecursionError):
            if _is_session(_parsed(line.data or b"").value):
                return True
    return False


def _parsed(data: bytes) -> Tolerated:
    """Read a line, behind a block of NULs too, which a power loss leaves where a write should be."""
    return tolerant(data.lstrip(b"\0"))


@lru_cache(maxsize=1)
def _offsets(path: Path, sha256: str) -> dict[str, tuple[int, int]]:
    """Return where in a file of that digest each session stands: (offset, length)."""
    given = Input(path, str(path), sha256, path.stat().st_size)
    return {
        key: (line.offset, line.length)
        for line, read in _entries(given)
        if read is not None
        for key in _Exported(read).sessions()
    }


def _is_blank(line: Line) -> bool:
    return line.data is not None and not line.data.strip()


def _damaged(given: Input) -> Iterator[Item]:
    for line, read in _entries(given):
        if read is None and _is_blank(line):
            yield Skipped("blank")
        elif read is None:
            sha256 = line.sha256 or sha256_bytes(line.data or b"")
            yield Damaged(line.number, line.offset, line.length, sha256, _reason(line), line.data)


def _reason(line: Line) -> str:
    if line.data is None:
        return "line_too_long"
    try:
        value = _parsed(line.data).value
    except RecursionError:
        return "too_deep"
    except ValueError:
        if not line.data.strip(b"\0 \t\r"):
            return "nul_block"
        return "not_json" if line.ended else "torn_tail"
    return "repeated_session" if _is_session(value) else "not_a_session"


class _Exported(Store):
    """The sessions of one exported value."""

    def __init__(self, read: Tolerated) -> None:
        self._heads: dict[str, TableRow] = {}
        self._messages: dict[str, list[TableRow]] = {}
        value = read.value
        if isinstance(value, list):
            self._add("", value, read)
            return
        inside = isinstance(value.get("session"), dict)
        head = value["session"] if inside else {key: value[key] for key in value if key != "messages"}
        extra = {key: value[key] for key in value if inside and key not in ("session", "messages")}
        row = _row("sessions", {**head, **extra}, read, "/session" if inside else "")
        self._heads[_session_id(value)] = row
        self._add("/messages", value["messages"], read, _session_id(value))

    def _add(self, pointer: str, messages: list[Any], read: Tolerated, session_id: str = "") -> None:
        for place, message in enumerate(messages):
            values = message if isinstance(message, dict) else {"value": message}
            key = session_id or _named(values.get("session_id"))
            row = _row("messages", values, read, f"{pointer}/{place}")
            row.place = place
            self._messages.setdefault(key, []).append(row)
        if not session_id:  # a bare list may stand in any order; a session's own ids tell it
            for rows in self._messages.values():
                if all(isinstance(row.values.get("id"), int) for row in rows):
                    rows.sort(key=lambda row: row.values["id"])

    def sessions(self) -> list[str]:
        """Return the sessions of this value."""
        return sorted({*self._heads, *self._messages})

    def head(self, key: str) -> Iterator[TableRow]:
        """Yield the session's row, if it was exported."""
        if key in self._heads:
            yield self._heads[key]

    def children(self, key: str) -> Iterator[TableRow]:
        """Yield nothing: a session is exported without those it delegated to."""
        return iter(())

    def messages(self, key: str) -> Iterator[TableRow]:
        """Yield the session's messages in the order of their ids."""
        return iter(self._messages.get(key, ()))


def _row(table: str, values: dict[str, Any], read: Tolerated, pointer: str) -> TableRow:
    """Return a row with the part of what the read met that concerns it."""
    start = f"{pointer}/"
    return TableRow(
        table,
        {key: value for key, value in values.items() if value is not None},
        [one.removeprefix(start) for one in read.escaped if one.startswith(start)],
        [one.removeprefix(start) for one in read.nonfinite if one.startswith(start)],
        {
            one.removeprefix(pointer): earlier
            for one, earlier in read.duplicates.items()
            if one.startswith(start)
        },
    )


SOURCE = HermesExport()
